// Uploads in transactions: enqueuing them, and the values that wait for them.

public import Foundation

extension SilosTransaction {
  /// Enqueues an upload: it is sent if this transaction is committed, and only then.
  ///
  ///     try await silos.write { txn in
  ///       try txn[Task.self].save(task)
  ///       try txn.enqueue(TaskUpload.update(task.id))
  ///     }
  ///
  /// It is stored beside the values that the transaction reads or changes, wherever these are.
  ///
  /// - Returns: The idempotency key.
  /// - Throws: The errors of the encoding and of the storage.
  @discardableResult
  public func enqueue<U: Upload>(_ upload: U) throws -> UUID {
    _ = silos.uploadRuns(of: U.self)
    let stored = StoredUpload(
      id: 0, queue: U.queueName, orderingKey: upload.orderingKey, key: UUID(),
      payload: try JSONEncoder().encode(upload))
    _ = try access(StoredUpload.self)
    pendingUploads.append(stored)
    return stored.key
  }

  /// Stores the uploads of the transaction, with the values that it has changed.
  func storeUploads() throws {
    guard !pendingUploads.isEmpty else { return }
    let store = try access(StoredUpload.self)
    var id = try silos.uploadIDs.last(in: store)
    for index in pendingUploads.indices {
      let (next, isOver) = id.addingReportingOverflow(1)
      if isOver {
        throw StorageError(
          .invalidValue, table: Canonical<StoredUpload>._schema.table,
          message: "no id is left for an upload, because the last one has the greatest id",
          advice: "remove that upload")
      }
      id = next
      pendingUploads[index].id = id
    }
    silos.uploadIDs.use(id)
    let subjects = changedSubjects()
    if pendingUploads.count == 1 {
      pendingUploads[0].subjects = subjects
    } else if !subjects.isEmpty {
      let hold = StoredHold(id: UUID(), subjects: subjects, uploads: pendingUploads.count)
      try store.save([hold])
      for index in pendingUploads.indices { pendingUploads[index].holds = [hold.id] }
    }
    try store.save(pendingUploads)
    for deletion in deletions { try deletion(store) }
  }

  /// Those of some ids that uploads wait for.
  func waiting<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> IDSet<V> {
    if ids.isEmpty { return IDSet() }
    _ = try access(type)
    let store = try access(StoredUpload.self)
    let texts = ids.map { Subject(type, $0).text }
    let uploads = try store.values(
      ValueQuery<StoredUpload>(where: StoredUpload.subjects.any { $0.in(texts) }))
    let holds = try store.values(
      ValueQuery<StoredHold>(where: StoredHold.subjects.any { $0.in(texts) }))
    let found = Set((uploads.flatMap(\.subjects) + holds.flatMap(\.subjects)).map(Subject.init))
    return IDSet(ids.filter { found.contains(Subject(type, $0)) })
  }
}

extension SilosTransaction {
  /// All values that uploads wait for, beside the values of a type.
  func allWaiting<V: Persistable>(beside type: V.Type) throws -> Set<Subject> {
    _ = try access(type)
    let store = try access(StoredUpload.self)
    let uploads = try store.values(ValueQuery<StoredUpload>())
    let holds = try store.values(ValueQuery<StoredHold>())
    return Set((uploads.flatMap(\.subjects) + holds.flatMap(\.subjects)).map(Subject.init))
  }
}

extension StoreTransaction {
  /// Removes uploads, and the holds that no other upload has.
  func removeUploads(_ uploads: [StoredUpload]) throws {
    _ = try remove(StoredUpload.self, uploads.map { $0.id })
    _ = try remove(StoredHold.self, uploads.flatMap(\.ownHolds))
    try updateHolds(removing: uploads, adding: [])
  }

  /// Changes the counts of holds, and removes those that no upload has any more.
  func updateHolds(removing removed: [StoredUpload], adding added: [StoredUpload]) throws {
    var changes: [UUID: Int] = [:]
    for hold in removed.flatMap(\.holds) { changes[hold, default: 0] -= 1 }
    for hold in added.flatMap(\.holds) { changes[hold, default: 0] += 1 }
    let holds = try load(StoredHold.self, changes.filter { $0.value != 0 }.map(\.key)).map { hold in
      var hold = hold
      hold.uploads = max(0, hold.uploads + (changes[hold.id] ?? 0))
      return hold
    }
    try save(holds.filter { $0.uploads > 0 })
    _ = try remove(StoredHold.self, holds.filter { $0.uploads == 0 }.map { $0.id })
  }
}
