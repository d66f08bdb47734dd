// Which uploads are sent next: the oldest of each ordering key, unless it pauses or is parked.
//
// See `UploadBacklog` for what is remembered, and why the last known upload is read with the
// others.

import Dflat
import Foundation

/// An upload that is to be sent, and where it is stored.
struct WaitingUpload: Sendable {
  let stored: StoredUpload
  let domain: any StoreDomain
  /// How often the lease of the domain had been lost.
  let losses: Int
}

extension UploadQueue {
  /// The greatest number of uploads that are read at once.
  private static var pageSize: Int { 1000 }

  /// Claims uploads that may be sent now.
  /// - Returns: The uploads, and when the next pause ends, if there is one.
  func pick(
    _ count: Int, in domains: [any StoreDomain]
  ) async throws -> (ready: [WaitingUpload], next: Date?) {
    await runs.turn.enterAlone()
    defer { runs.turn.leaveAlone() }
    // Uploads are not moved meanwhile.
    let gate = silos[StoredUpload.self].state.gate
    await gate.enter()
    defer { gate.leave() }
    runs.beginLooking(in: domains)
    var ready: [WaitingUpload] = []
    do {
      for domain in domains {
        try await pick(count, in: domain, besides: domains.filter { $0 !== domain }, into: &ready)
      }
    } catch {
      for upload in ready { runs.release(upload.stored.ordering) }
      throw error
    }
    return (ready, runs.nextAttempt)
  }

  private func pick(
    _ count: Int, in domain: any StoreDomain, besides others: [any StoreDomain],
    into ready: inout [WaitingUpload]
  ) async throws {
    let store = domain.store(of: StoredUpload.self)
    let losses = runs.losses(in: domain)
    // What was just read need not be read again.
    var read: [Int64: StoredUpload] = [:]
    var page = count
    var isComplete = false
    while ready.count < count {
      let rest = count - ready.count
      let (ids, end) = runs.withBacklog(in: domain) { ($0.candidates(rest), $0.end) }
      if ids.isEmpty {
        if isComplete { return }
        read.forget(runs.beginReading())
        let uploads = try await uploads(after: end, page, in: store)
        guard let uploads else {
          try await forgetEnd(in: domain)
          continue
        }
        isComplete = uploads.count < page
        page = min(page * 2, Self.pageSize)
        for upload in uploads { read[upload.id] = upload }
        runs.withBacklog(in: domain) { $0.add(uploads) }
        continue
      }
      read.forget(runs.beginReading())
      let unread = ids.filter { read[$0] == nil }
      if !unread.isEmpty, let end {
        for upload in try await store.load(unread.contains(end.id) ? unread : unread + [end.id]) {
          read[upload.id] = upload
        }
        guard read[end.id]?.key == end.key else {
          read = [:]
          try await forgetEnd(in: domain)
          continue
        }
      }
      for id in ids {
        let upload = read.removeValue(forKey: id)
        let isBehindOthers = try await upload.isBehind(others)
        let isReady = runs.settle(id, upload, isBehindOthers: isBehindOthers, in: domain)
        if isReady == true, let upload {
          ready.append(WaitingUpload(stored: upload, domain: domain, losses: losses))
        }
      }
    }
  }

  /// The uploads behind the last known one; nil if that has gone.
  private func uploads(
    after end: UploadBacklog.Place?, _ count: Int, in store: any ValueStore<StoredUpload>
  ) async throws -> ArraySlice<StoredUpload>? {
    let order = [StoredUpload.id.ascending]
    guard let end else {
      return try await store.values(
        ValueQuery(where: StoredUpload.queue == U.queueName, orderBy: order, limit: count))[...]
    }
    let uploads = try await store.values(
      ValueQuery(
        where: StoredUpload.queue == U.queueName && StoredUpload.id >= end.id, orderBy: order,
        limit: count + 1))
    guard uploads.first?.key == end.key else { return nil }
    return uploads.dropFirst()
  }

  /// Forgets the last known uploads that have gone.
  private func forgetEnd(in domain: any StoreDomain) async throws {
    let store = domain.store(of: StoredUpload.self)
    var count = 8
    while true {
      let wanted = count
      let places = runs.withBacklog(in: domain) { $0.places(atEnd: wanted) }
      if places.isEmpty { return }
      let stored = Set(try await store.load(places.map(\.id)).map(\.key))
      let last = places.lastIndex { stored.contains($0.key) }
      runs.withBacklog(in: domain) { backlog in
        // Uploads that are done are forgotten meanwhile.
        guard backlog.end?.key == places.last?.key else { return }
        backlog.forget(atEnd: last.map { places.endIndex - 1 - $0 } ?? places.count)
      }
      if last != nil { return }
      count = min(count * 2, Self.pageSize)
    }
  }
}

extension [Int64: StoredUpload] {
  /// Removes the uploads with some ordering keys.
  fileprivate mutating func forget(_ orderingKeys: Set<OrderingKey>) {
    if orderingKeys.isEmpty { return }
    self = filter { !orderingKeys.contains($0.value.ordering) }
  }
}

extension StoredUpload? {
  /// Whether one of some other domains has an older upload with the same ordering key.
  fileprivate func isBehind(_ domains: [any StoreDomain]) async throws -> Bool {
    guard let upload = self else { return false }
    let older = ValueQuery<StoredUpload>(
      where: StoredUpload.queue == upload.queue
        && StoredUpload.orderingKey == upload.orderingKey && StoredUpload.id < upload.id,
      orderBy: [StoredUpload.id.ascending], limit: 1)
    for domain in domains {
      if try await !domain.store(of: StoredUpload.self).values(older).isEmpty { return true }
    }
    return false
  }
}
