// StoredUpload: an upload as it waits in a store, beside the values that it is about.
//
// Its id is greater than those of all uploads that were enqueued before and are still there, so the
// order of ids is the order of transactions.

public import Foundation

@Persistable(
  version: 1, table: "silo_uploads",
  shape:
    "id:I64 queue:S orderingKey:S key:U payload:X attempts:I=0 nextAttempt:D? isParked:B=false lastError:S? wasSent:B=false subjects:[S] holds:[U]"
)
struct StoredUpload: Identifiable, Sendable {
  var id: Int64
  @Indexed var queue: String
  @Indexed var orderingKey: String
  /// The idempotency key.
  @Unique var key: UUID
  /// The upload as JSON.
  var payload: Data
  var attempts = 0
  /// When it may be sent again; nil if it has not failed.
  var nextAttempt: Date?
  var isParked = false
  var lastError: String?
  /// Whether a server may have got it.
  var wasSent = false
  /// The values that its transaction has changed, if it was the transaction's only upload.
  var subjects: [String] = []
  /// The holds with the values that its transactions have changed besides.
  var holds: [UUID] = []
}

/// The values that a transaction with several uploads has changed. It is removed with the last one.
@Persistable(version: 1, table: "silo_holds", shape: "id:U subjects:[S]")
struct StoredHold: Identifiable, Sendable {
  var id: UUID
  var subjects: [String]
}

extension StoredUpload: Bookkeeping {}
extension StoredHold: Bookkeeping {}

extension SilosTransaction {
  /// Enqueues an upload: it is sent if this transaction is committed, and only then.
  ///
  ///     try await silos.write { txn in
  ///       try txn[Task.self].save(task)
  ///       try txn.enqueue(TaskUpload.update(task.id))
  ///     }
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
    let last = try store.values(
      ValueQuery<StoredUpload>(orderBy: [StoredUpload.id.descending], limit: 1)
    ).first
    var id = last?.id ?? 0
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
    let subjects = changedSubjects()
    if pendingUploads.count == 1 {
      pendingUploads[0].subjects = subjects
    } else if !subjects.isEmpty {
      let hold = StoredHold(id: UUID(), subjects: subjects)
      try store.save([hold])
      for index in pendingUploads.indices { pendingUploads[index].holds = [hold.id] }
    }
    try store.save(pendingUploads)
    for deletion in deletions { try deletion(store) }
  }

  /// Removes uploads, and the holds that no other upload has.
  func removeUploads(_ uploads: [StoredUpload]) throws {
    let store = try access(StoredUpload.self)
    _ = try store.remove(StoredUpload.self, uploads.map { $0.id })
    try releaseHolds(of: uploads)
  }

  /// Removes the holds of uploads that no upload has any more.
  func releaseHolds(of uploads: [StoredUpload]) throws {
    let store = try access(StoredUpload.self)
    for hold in Set(uploads.flatMap(\.holds)) {
      let others = ValueQuery<StoredUpload>(
        where: StoredUpload.holds.contains(hold), limit: 1)
      if try store.values(others).isEmpty { _ = try store.remove(StoredHold.self, [hold]) }
    }
  }

  /// Those of some ids that uploads wait for.
  func waiting<V: Persistable>(_ type: V.Type, _ ids: [V.ID]) throws -> IDSet<V> {
    if ids.isEmpty { return IDSet() }
    if !silos.canWriteTogether(type, StoredUpload.self) {
      // No upload about them is enqueued now; there may be some from before a move.
      let waiting = silos[type].state.waitingElsewhere
      return waiting.isEmpty ? IDSet() : IDSet(ids.filter { waiting.contains(Subject(type, $0)) })
    }
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
