// What a queue writes about its uploads: that they are sent, have failed, are done or are
// coalesced.
//
// An upload may have been moved to another domain since it was picked. It is changed wherever it
// is.

import Dflat
import Foundation

extension UploadQueue {
  /// Runs a transaction over the uploads of a domain that is not cancelled with this task.
  private func write<R: Sendable>(
    in domain: any StoreDomain, _ body: @escaping @Sendable (any StoreTransaction) throws -> R
  ) async throws -> R {
    // Uploads are not moved meanwhile.
    let gate = silos[StoredUpload.self].state.gate
    return try await Task.detached {
      await gate.enter()
      defer { gate.leave() }
      return try await domain.write([StoredUpload.self, StoredLease.self], body)
    }.value
  }

  /// The domains in which an upload may be, the one first where it was seen.
  private func domains(_ first: (any StoreDomain)?) -> [any StoreDomain] {
    [first].compactMap(\.self) + silos.domains.filter { $0 !== first }
  }

  /// Changes an upload, unless it was removed in the meantime.
  /// - Returns: What it is then; nil if it has gone.
  @discardableResult
  func update(
    _ name: UploadName, in domain: (any StoreDomain)?,
    _ change: @escaping @Sendable (inout StoredUpload) -> Void
  ) async throws -> StoredUpload? {
    for domain in domains(domain) {
      let changed = try await write(in: domain) { transaction -> StoredUpload? in
        guard var upload = try transaction.upload(name) else { return nil }
        change(&upload)
        try transaction.save([upload])
        return upload
      }
      if let changed { return changed }
    }
    return nil
  }

  /// Notes that an upload is sent now, and coalesces those of its key that were never sent.
  /// - Returns: The oldest upload of the key; nil if it has gone or is parked.
  /// - Throws: `LostLease`; the errors of the storage.
  func begin(_ first: WaitingUpload) async throws -> StoredUpload? {
    if first.stored.wasSent, !first.domain.isShared { return first.stored }
    if let coalesce, !first.stored.wasSent { return try await coalesced(first, coalesce) }
    for domain in domains(first.domain) {
      let losses = domain === first.domain ? first.losses : runs.lease.losses(of: domain)
      let check = runs.lease.check(U.queueName, in: domain, losses: losses)
      let begun = try await write(in: domain) { transaction -> StoredUpload?? in
        guard let upload = try transaction.upload(first.stored.name) else { return nil }
        try check(transaction)
        return .some(try Self.begun(upload, in: transaction))
      }
      if let begun { return begun }
    }
    return nil
  }

  /// Removes an upload. A crash while it was moved may have left it in several domains.
  /// - Returns: Whether it was there.
  func remove(_ name: UploadName, from first: (any StoreDomain)?) async throws -> Bool {
    var all: [StoredUpload] = []
    for domain in domains(first) {
      if domain !== first, try await !domain.store(of: StoredUpload.self).has(name) { continue }
      let removed = try await write(in: domain) { transaction -> StoredUpload? in
        guard let upload = try transaction.upload(name) else { return nil }
        try transaction.removeUploads([upload])
        return upload
      }
      guard let removed else { continue }
      all.append(removed)
      runs.withBacklog(in: domain) { $0.remove(removed.id) }
    }
    try await removeHolds(of: all)
    return !all.isEmpty
  }

  /// Removes the holds that uploads had in other domains; see `StoredHold`.
  private func removeHolds(of uploads: [StoredUpload]) async throws {
    let domains = silos.domains
    if uploads.isEmpty || domains.count == 1 { return }
    let holds = uploads.flatMap(\.ownHolds)
    for domain in domains {
      if try await domain.store(of: StoredHold.self).load(holds).isEmpty { continue }
      try await write(in: domain) { _ = try $0.remove(StoredHold.self, holds) }
    }
  }

  // MARK: Coalescing

  /// Replaces the uploads of a key that were never sent by fewer ones, and notes that the first of
  /// them is sent now.
  /// - Returns: The oldest upload of the key; nil if there is none any more.
  private func coalesced(
    _ first: WaitingUpload, _ coalesce: @escaping @Sendable ([U]) -> [U]
  ) async throws -> StoredUpload? {
    let key = first.stored.orderingKey
    let check = runs.lease.check(U.queueName, in: first.domain, losses: first.losses)
    let (begun, removed) = try await write(in: first.domain) { transaction in
      try check(transaction)
      return try Self.coalesced(key, coalesce, in: transaction)
    }
    try await removeHolds(of: removed)
    return begun
  }

  /// Notes that an upload is sent now. A server that has got an upload knows its key, also if its
  /// answer was never read.
  private static func begun(
    _ upload: StoredUpload?, in transaction: any StoreTransaction
  ) throws -> StoredUpload? {
    guard var upload, !upload.isParked else { return nil }
    if upload.wasSent { return upload }
    upload.wasSent = true
    try transaction.save([upload])
    return upload
  }

  /// - Returns: The oldest upload of the key, and those in whose place no other one has come.
  private static func coalesced(
    _ orderingKey: String, _ coalesce: ([U]) -> [U], in transaction: any StoreTransaction
  ) throws -> (begun: StoredUpload?, removed: [StoredUpload]) {
    let all = try transaction.values(
      ValueQuery<StoredUpload>(
        where: StoredUpload.queue == U.queueName && StoredUpload.orderingKey == orderingKey,
        orderBy: [StoredUpload.id.ascending]))
    let waiting = Array(all.prefix { !$0.wasSent && !$0.isParked })
    let uploads = waiting.compactMap { try? JSONDecoder().decode(U.self, from: $0.payload) }
    func unchanged() throws -> (StoredUpload?, [StoredUpload]) {
      (try begun(all.first, in: transaction), [])
    }
    if waiting.count < 2 || uploads.count < waiting.count { return try unchanged() }
    let fewer = coalesce(uploads)
    guard fewer.count < uploads.count else { return try unchanged() }
    if fewer.isEmpty {
      try transaction.removeUploads(waiting)
      return (try begun(all.dropFirst(waiting.count).first, in: transaction), waiting)
    }
    _ = try transaction.remove(StoredUpload.self, waiting.map { $0.id })
    // What the replaced ones were about is done when all of the new ones are.
    let subjects = Set(waiting.flatMap(\.subjects).map(Subject.init)).map(\.text)
    let holds = Array(Set(waiting.flatMap(\.holds)))
    var saved: [StoredUpload] = []
    for (old, upload) in zip(waiting, fewer) {
      var new = old
      new.key = UUID()
      new.payload = try JSONEncoder().encode(upload)
      (new.subjects, new.holds, new.replaced) = (subjects, holds, [])
      saved.append(new)
    }
    saved[saved.count - 1].replaced = waiting.flatMap(\.ownHolds)
    try transaction.save(saved)
    try transaction.updateHolds(removing: waiting, adding: saved)
    return (try begun(saved[0], in: transaction), [])
  }
}

/// Which upload is meant: there may be another one with the id later.
struct UploadName: Sendable {
  /// nil if only the idempotency key is known.
  var id: Int64?
  let key: UUID
}

extension StoredUpload {
  var name: UploadName { UploadName(id: id, key: key) }
}

extension UploadName {
  fileprivate var query: ValueQuery<StoredUpload> {
    ValueQuery(where: StoredUpload.key == key, limit: 1)
  }
}

extension StoreTransaction {
  fileprivate func upload(_ name: UploadName) throws -> StoredUpload? {
    guard let id = name.id else { return try values(name.query).first }
    return try load(StoredUpload.self, [id]).first { $0.key == name.key }
  }
}

extension ValueStore<StoredUpload> {
  fileprivate func has(_ name: UploadName) async throws -> Bool {
    guard let id = name.id else { return try await !values(name.query).isEmpty }
    return try await load([id]).first?.key == name.key
  }
}
