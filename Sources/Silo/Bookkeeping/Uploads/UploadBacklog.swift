// UploadBacklog: the waiting uploads of a queue in one domain, as far as they were looked at.
//
// Uploads are read from the store in the order of their ids, page by page, and only while more of
// them can be sent than are known. What is remembered of each is where it is: its id, idempotency
// key and ordering key. Invariants:
//
//  - Up to the last known upload, `end`, all uploads of the queue are known that wait.
//  - The ids of each ordering key are in ascending order. Only the first one may be sent.
//  - `free`, `pauses` and `others` have the keys in these states, each with its first id.
//
// An id is given to an upload only if it is greater than all that are stored. So while `end` is
// stored with its own idempotency key, no id up to it was given to another upload. A reader
// of uploads by ids that were known before reads `end`, too, in the same state of the store, and
// forgets the end if it has gone.

import Foundation

struct UploadBacklog {
  /// Where an upload is.
  struct Place: Sendable {
    let id: Int64
    let key: UUID
    let orderingKey: OrderingKey
  }

  private enum State: Equatable {
    /// The first upload may be sent, as far as is known.
    case free
    /// It is being sent.
    case claimed
    case pausing(until: Date)
    case parked
    /// Uploads with the same ordering key in another domain go first.
    case behindOthers
  }

  private struct Line {
    var ids: ArraySlice<Int64> = []
    var state = State.free
  }

  /// Including those that are done, until they are compacted.
  private var known: [Place] = []
  private var lines: [OrderingKey: Line] = [:]
  /// How many ids the lines have.
  private var count = 0
  private var free = SortedArray<Head>()
  private var pauses = SortedArray<Pause>()
  private var others: Set<OrderingKey> = []

  private struct Head: Comparable {
    let id: Int64
    let orderingKey: OrderingKey
    static func < (left: Head, right: Head) -> Bool { left.id < right.id }
  }

  private struct Pause: Comparable {
    let end: Date
    let head: Head
    static func < (left: Pause, right: Pause) -> Bool {
      (left.end, left.head.id) < (right.end, right.head.id)
    }
  }

  /// The last known upload.
  var end: Place? { known.last }
  /// When the next pause ends.
  var nextAttempt: Date? { pauses.first?.end }

  /// The oldest uploads of their ordering keys that may be sent, as far as is known.
  func candidates(_ count: Int) -> [Int64] { free.prefix(count).map { $0.id } }

  /// The last known uploads.
  func places(atEnd count: Int) -> [Place] { known.suffix(count) }

  // MARK: Looking

  /// Adds the uploads behind the end, in the order of their ids.
  mutating func add(_ uploads: some Sequence<StoredUpload>) {
    for upload in uploads {
      known.append(
        Place(id: upload.id, key: upload.key, orderingKey: upload.ordering))
      count += 1
      if lines[upload.ordering]?.ids.isEmpty == false {
        lines[upload.ordering]?.ids.append(upload.id)
      } else {
        change(upload.ordering) { $0.ids.append(upload.id) }
      }
    }
  }

  /// Forgets the last known uploads: they have gone.
  mutating func forget(atEnd count: Int) {
    for _ in 0..<count {
      let place = known.removeLast()
      guard lines[place.orderingKey]?.ids.last == place.id else { continue }
      self.count -= 1
      change(place.orderingKey) { $0.ids.removeLast() }
    }
  }

  /// Decides about a candidate.
  /// - Parameters:
  ///   - id: Its id.
  ///   - stored: The upload, as it is stored; nil if it has gone.
  ///   - isBehindOthers: Whether uploads in other domains go first.
  ///   - now: The time of day.
  ///   - longest: The longest pause, in seconds.
  /// - Returns: Whether it is to be sent now; it is claimed then.
  mutating func settle(
    _ id: Int64, _ stored: StoredUpload?, isBehindOthers: Bool, at now: Date,
    longest: TimeInterval
  ) -> Bool {
    guard let place = place(of: id), let line = lines[place.orderingKey], line.state == .free,
      line.ids.first == id
    else { return false }
    guard let stored, stored.ordering == place.orderingKey else {
      remove(id)
      return false
    }
    let state: State
    if stored.isParked {
      state = .parked
    } else if let time = stored.endOfPause(at: now, longest: longest) {
      state = .pausing(until: time)
    } else {
      state = isBehindOthers ? .behindOthers : .claimed
    }
    change(place.orderingKey) { $0.state = state }
    return state == .claimed
  }

  /// Looks at those again whose pause is over, or that others went before.
  /// - Parameters:
  ///   - now: The time of day.
  ///   - longest: The longest pause, in seconds. The clock was set back if more of one is left.
  mutating func reconsider(at now: Date, longest: TimeInterval) {
    while let pause = pauses.first, !pause.end.isPending(at: now, longest: longest) {
      reconsider(pause.head.orderingKey)
    }
    while let pause = pauses.last, !pause.end.isPending(at: now, longest: longest) {
      reconsider(pause.head.orderingKey)
    }
    for key in others { reconsider(key) }
  }

  /// Looks at some uploads again, which may have been changed.
  mutating func reconsider(_ ids: some Sequence<Int64>) {
    for id in ids {
      guard let place = place(of: id), lines[place.orderingKey]?.ids.first == id else { continue }
      reconsider(place.orderingKey)
    }
  }

  /// Looks at all uploads again.
  mutating func reconsiderAll() { for key in Array(lines.keys) { reconsider(key) } }

  private mutating func reconsider(_ orderingKey: OrderingKey) {
    guard let state = lines[orderingKey]?.state, state != .free, state != .claimed else { return }
    change(orderingKey) { $0.state = .free }
  }

  // MARK: Sending

  /// Ends a claim.
  mutating func release(_ orderingKey: OrderingKey) {
    if lines[orderingKey]?.state == .claimed { change(orderingKey) { $0.state = .free } }
  }

  /// Forgets an upload that was removed, if it is the first one of its ordering key.
  mutating func remove(_ id: Int64) {
    guard let place = place(of: id), lines[place.orderingKey]?.ids.first == id else { return }
    count -= 1
    change(place.orderingKey) { $0.ids.removeFirst() }
    while let last = known.last, lines[last.orderingKey]?.ids.last != last.id { known.removeLast() }
    if known.count > 2 * count + 1000 {
      known.removeAll { place in (lines[place.orderingKey]?.ids.first ?? .max) > place.id }
    }
  }

  // MARK: Keeping the order

  private func place(of id: Int64) -> Place? {
    let index = known.partitioningIndex { $0.id >= id }
    return index < known.count && known[index].id == id ? known[index] : nil
  }

  /// Changes a line, and where it is listed.
  private mutating func change(_ orderingKey: OrderingKey, _ body: (inout Line) -> Void) {
    var line = lines.removeValue(forKey: orderingKey) ?? Line()
    list(line, orderingKey, isListed: false)
    body(&line)
    if line.ids.isEmpty, line.state != .claimed { return }
    list(line, orderingKey, isListed: true)
    lines[orderingKey] = line
  }

  private mutating func list(_ line: Line, _ orderingKey: OrderingKey, isListed: Bool) {
    guard let id = line.ids.first else { return }
    let head = Head(id: id, orderingKey: orderingKey)
    switch line.state {
    case .free: free.set(head, isListed)
    case .pausing(let end): pauses.set(Pause(end: end, head: head), isListed)
    case .behindOthers where isListed: others.insert(orderingKey)
    case .behindOthers: others.remove(orderingKey)
    case .claimed, .parked: break
    }
  }
}

/// Elements in ascending order. They are in parts of bounded size, none of them empty, so that a
/// change moves few of them.
private struct SortedArray<Element: Comparable> {
  private var parts: [[Element]] = []
  private static var longest: Int { 512 }

  var first: Element? { parts.first?.first }
  var last: Element? { parts.last?.last }

  func prefix(_ count: Int) -> some Sequence<Element> { parts.lazy.joined().prefix(count) }

  /// Inserts an element that is not there, or removes one that is.
  mutating func set(_ element: Element, _ isThere: Bool) {
    // The last part that begins at or before the element.
    let part = max(0, parts.partitioningIndex { $0[0] > element } - 1)
    if parts.isEmpty { return parts.append([element]) }
    let index = parts[part].partitioningIndex { $0 >= element }
    if !isThere {
      parts[part].remove(at: index)
      if parts[part].isEmpty { parts.remove(at: part) }
      return
    }
    parts[part].insert(element, at: index)
    if parts[part].count > Self.longest {
      let half = Array(parts[part][(Self.longest / 2)...])
      parts[part].removeSubrange((Self.longest / 2)...)
      parts.insert(half, at: part + 1)
    }
  }
}

extension Array {
  /// The index of the first element that belongs to the second part, in an array of two parts.
  fileprivate func partitioningIndex(_ belongsToSecond: (Element) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if belongsToSecond(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
