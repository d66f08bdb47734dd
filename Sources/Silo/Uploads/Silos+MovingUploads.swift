// Moving uploads, and what keeps values managed whose uploads are in another domain.
//
// An upload that is stored in another domain than some of its values has a hold beside these. It is
// written before the upload and its values are taken apart, and removed after the upload. A hold
// that a crash has left without its upload is removed by the next run or move.

import Dflat
import Foundation

extension Silos {
  /// Moves the uploads that wait to one place, wherever they are.
  ///
  /// Uploads are sent from wherever they were enqueued, so this is necessary only before a store is
  /// given up. The values that they are about stay managed, whether they are moved, too, or not. If
  /// the process is killed in between, uploads may be sent from both places, each with its own
  /// idempotency key both times.
  ///
  /// - Parameter domain: The stores beside whose values the uploads are to be.
  /// - Throws: `SiloError.storeIsNotEmpty` if other uploads there have the same ids; the errors of
  ///   the storage.
  public func moveUploads(to domain: any StoreDomain) async throws {
    let state = self[StoredUpload.self].state
    await state.gate.enterAlone()
    defer {
      // What was moved may be older than what waited there.
      for runs in uploadRuns { runs.forget(domain) }
      state.gate.leaveAlone()
      wakeUploads()
    }
    for old in domains where old !== domain { try await moveUploads(from: old, to: domain) }
    await state.exchange(for: domain.store(of: StoredUpload.self))
  }

  private func moveUploads(
    from old: any StoreDomain, to domain: any StoreDomain
  ) async throws {
    let (rows, holds) = try await old.readAtOnce([StoredUpload.self]) {
      (try $0.storedForms(of: StoredUpload.self), try $0.storedForms(of: StoredHold.self))
    }
    if rows.isEmpty { return }
    let uploads = try rows.map { try $0.value() }
    let forms = try holds.filter { try $0.value().uploads > 0 }
    let shared = try forms.map { try $0.value() }
    let left = uploads.holds(shared)
    try await domain.write([StoredUpload.self, StoredLease.self]) { transaction in
      let keys = Set(uploads.map(\.key))
      let taken = try transaction.load(StoredUpload.self, uploads.map { $0.id })
      guard taken.allSatisfy({ keys.contains($0.key) }) else {
        throw SiloError.storeIsNotEmpty("\(StoredUpload.self)")
      }
      try transaction.save(storedForms: rows)
      try transaction.add(storedForms: forms)
      // Other processes look at all uploads again when they have taken their leases again.
      let leases = try transaction.values(ValueQuery<StoredLease>())
      _ = try transaction.remove(StoredLease.self, leases.map { $0.id })
    }
    try await old.write([StoredUpload.self]) { transaction in
      _ = try transaction.remove(StoredUpload.self, uploads.map { $0.id })
      _ = try transaction.remove(StoredHold.self, shared.map { $0.id })
      try transaction.add(left)
    }
  }

  /// Removes the holds of uploads that are in no domain any more, and forgets the domains that
  /// silos have left and in which no upload waits.
  func removeOrphanedHolds() async throws {
    if domains.count == 1 { return }
    // Uploads are not moved meanwhile.
    let gate = self[StoredUpload.self].state.gate
    await gate.enter()
    defer { gate.leave() }
    let domains = domains
    for domain in domains {
      let holds = try await domain.store(of: StoredHold.self).values(ValueQuery())
      var orphans = Set(holds.lazy.filter { $0.uploads == 0 }.map { $0.id })
      for other in domains where !orphans.isEmpty {
        let uploads = other.store(of: StoredUpload.self)
        let named = try await uploads.values(ValueQuery(where: StoredUpload.key.in(orphans)))
        orphans.subtract(named.map(\.key))
        if orphans.isEmpty { break }
        let replacing = try await uploads.values(
          ValueQuery(where: StoredUpload.replaced.any { $0.in(orphans) }))
        orphans.subtract(replacing.flatMap(\.replaced))
      }
      if orphans.isEmpty { continue }
      let gone = Array(orphans)
      try await domain.write([StoredUpload.self]) { _ = try $0.remove(StoredHold.self, gone) }
    }
    try await forgetLeftDomains()
  }
}

extension StoreTransaction {
  /// The holds that a type's values need in another domain than the uploads about them.
  func holds<V: Persistable>(about type: V.Type) throws -> [StoredHold] {
    let all = try values(ValueQuery<StoredHold>())
    let uploads = try values(ValueQuery<StoredUpload>())
    let holds = uploads.holds(all.filter { $0.uploads > 0 }) + all.filter { $0.uploads == 0 }
    let table = Array("\(V._canonical.name)/".utf8)
    return holds.compactMap { hold in
      var hold = hold
      // By bytes: a slash and a mark behind it are one character.
      hold.subjects.removeAll { !$0.utf8.starts(with: table) }
      return hold.subjects.isEmpty ? nil : hold
    }
  }
}

extension [StoredUpload] {
  /// A hold for each upload, with all values that it is about.
  /// - Parameter shared: The holds that the uploads name.
  fileprivate func holds(_ shared: [StoredHold]) -> [StoredHold] {
    let byID = Dictionary(shared.map { ($0.id, $0.subjects) }) { first, _ in first }
    return compactMap { upload in
      let subjects = upload.subjects + upload.holds.flatMap { byID[$0] ?? [] }
      return subjects.isEmpty ? nil : StoredHold(id: upload.key, subjects: subjects, uploads: 0)
    }
  }
}

extension StoreTransaction {
  /// The same for holds in their stored form, which have what only a newer release knows.
  fileprivate func add(storedForms holds: [Canonical<StoredHold>]) throws {
    let known = Set(try load(StoredHold.self, holds.map { try $0.value().id }).map { $0.id })
    try save(storedForms: try holds.filter { !known.contains(try $0.value().id) })
    try add(try holds.map { try $0.value() }.filter { known.contains($0.id) })
  }

  /// Saves holds, together with what those of the same ids have already.
  func add(_ holds: [StoredHold]) throws {
    if holds.isEmpty { return }
    var known: [UUID: StoredHold] = [:]
    for hold in try load(StoredHold.self, holds.map { $0.id }) { known[hold.id] = hold }
    try save(
      holds.map { hold in
        guard let old = known[hold.id] else { return hold }
        let subjects = Set((old.subjects + hold.subjects).map(Subject.init)).map(\.text)
        return StoredHold(
          id: hold.id, subjects: subjects, uploads: Swift.max(old.uploads, hold.uploads))
      })
  }
}
