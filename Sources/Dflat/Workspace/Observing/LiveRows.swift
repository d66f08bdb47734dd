// LiveRows: the objects of one type that a program holds as `Live`, one for each row.
//
// The map refers to them weakly, and they refer to the map, which follows the type as long as there
// is one of them. Not generic, so that it is compiled once. Invariants:
//
//  - a row has at most one object, and the entry of a row is removed with its object;
//  - an entry has the newest row that is known. Its version is the number of delivered
//    transactions whose changes the row contains, or of committed ones if it was fetched. So a
//    delivery never replaces a newer row by an older one;
//  - an entry whose version is −1 may have a row that is out of date, or that a transaction has not
//    committed yet. A job at the delivery position of the call that made it reads the row, and no
//    other job does;
//  - objects show changes in jobs of the queue, in the order of the changes.

import Dispatch
import Platform

/// An object that shows a row.
protocol LiveObject: AnyObject, Sendable {
  /// Shows a row, and whether it was deleted. Values with a lower number than the last are ignored.
  func show(_ row: Row, isDeleted: Bool, _ number: Int)
}

final class LiveRows: Sendable {
  /// Used under the lock.
  private final class Entry {
    weak var object: (any LiveObject)?
    var latest: Row
    var version: Int

    init(_ object: any LiveObject, _ latest: Row, _ version: Int) {
      self.object = object
      self.latest = latest
      self.version = version
    }
  }

  /// What an object is to show.
  private struct RowEvent: Sendable {
    let object: any LiveObject
    let row: Row
    let isDeleted: Bool
    let number: Int
  }

  private struct State {
    var entries: [Int64: Entry] = [:]
    /// What the queue has not shown yet, the newest for each object.
    var events: [ObjectIdentifier: RowEvent] = [:]
    /// The number of the last event.
    var number = 0
    var observer: HeldRowsObserver?
    var subscription: (any WorkspaceSubscription)?
  }

  private let type: TypeObservers
  private let queue: DispatchQueue?
  private let state = Mutex(State())

  init(_ type: TypeObservers, _ queue: DispatchQueue?) {
    self.type = type
    self.queue = queue
    let observer = HeldRowsObserver(type, held: { [weak self] in self?.certainIDs ?? [] }) {
      [weak self] event in self?.take(event)
    }
    state.withLock { $0.observer = observer }
  }

  /// Begins to follow the type. Called once.
  func follow(in core: WorkspaceCore) {
    guard let observer = state.withLock({ $0.observer }) else { return }
    // What was fetched until the observer is registered is read again then.
    let subscription = core.register(observer, readAt: -1)
    state.withLock { $0.subscription = subscription }
  }

  /// The number of objects.
  var count: Int { state.withLock { $0.entries.count } }

  private var certainIDs: [Int64] {
    state.withLock { $0.entries.filter { $0.value.version >= 0 }.map(\.key) }
  }

  // MARK: Objects

  /// The objects of stored rows.
  ///
  /// A retain of an object that is also referred to weakly is slow, so objects are passed on
  /// without one where possible.
  /// - Parameters:
  ///   - rows: Rows with ids.
  ///   - memory: Receives the objects, which its owner releases.
  ///   - make: Makes an object that shows a row.
  func objects(
    _ rows: ContiguousArray<Row>, to memory: UnsafeMutablePointer<Unmanaged<AnyObject>>,
    in core: WorkspaceCore, _ make: (Row) -> any LiveObject
  ) {
    // In this order; see `committedCount`.
    let version = type.committedCount
    let lastChange = type.lastChange
    var uncertain: [Int64] = []
    var events: [RowEvent] = []
    state.withLock { state in
      for (place, row) in rows.enumerated() {
        let isCurrent = row.timestamp >= lastChange && row.mark.reading == core.reading
        if let entry = state.entries[row.id], let object = entry.object {
          (memory + place).initialize(to: .passRetained(object))
          if isCurrent, entry.version <= version {
            Self.replace(entry, with: row, version, &state, &events)
          }
        } else {
          let object = make(row)
          (memory + place).initialize(to: .passRetained(object))
          state.entries[row.id] = Entry(object, row, isCurrent ? version : -1)
          if !isCurrent { uncertain.append(row.id) }
        }
      }
    }
    deliver(events)
    if !uncertain.isEmpty { read(uncertain, in: core) }
  }

  /// Reads rows at the delivery position of this call.
  private func read(_ ids: [Int64], in core: WorkspaceCore) {
    _ = core.atDelivery(of: [type.schema]) { [weak self] workspace in
      self?.state.withLock { $0.observer }?.read(ids, in: workspace)
    }
  }

  /// Called when an object is deinitialised.
  func remove(_ id: Int64) {
    // Neither an entry nor an object may end under the lock, which the end of an object needs.
    let kept = state.withLock { state -> (Entry?, (any LiveObject)?) in
      // A new object may have taken its place.
      guard let entry = state.entries[id] else { return (nil, nil) }
      if let object = entry.object { return (nil, object) }
      return (state.entries.removeValue(forKey: id), nil)
    }
    withExtendedLifetime(kept) {}
  }

  // MARK: Changes

  private func take(_ event: RowsObserver.Event) {
    guard case .changed(let left, let entered) = event else { return }
    let version = type.deliveredCount
    var events: [RowEvent] = []
    state.withLock { state in
      if state.entries.isEmpty { return }
      var gone = Set<Int64>()
      // A row that was fetched later than this is stored again, or for the first time.
      for row in left {
        if let entry = state.entries[row.id], entry.version <= version { gone.insert(row.id) }
      }
      for row in entered {
        gone.remove(row.id)
        if let entry = state.entries[row.id], entry.version <= version {
          Self.replace(entry, with: row, version, &state, &events)
        }
      }
      for id in gone {
        if let entry = state.entries.removeValue(forKey: id) {
          Self.add(entry, isDeleted: true, &state, &events)
        }
      }
    }
    deliver(events)
  }

  /// Makes a row the newest one of an entry.
  private static func replace(
    _ entry: Entry, with row: Row, _ version: Int, _ state: inout State, _ events: inout [RowEvent]
  ) {
    entry.version = version
    if row.withBytes({ new in entry.latest.withBytes { equalBytes(new, $0) } }) { return }
    entry.latest = row
    add(entry, isDeleted: false, &state, &events)
  }

  private static func add(
    _ entry: Entry, isDeleted: Bool, _ state: inout State, _ events: inout [RowEvent]
  ) {
    // The events keep the object until the lock is released: its end needs the lock.
    guard let object = entry.object else { return }
    state.number += 1
    events.append(
      RowEvent(object: object, row: entry.latest, isDeleted: isDeleted, number: state.number))
  }

  private func deliver(_ events: [RowEvent]) {
    if events.isEmpty { return }
    guard let queue else { return Self.show(events) }
    let isFirst = state.withLock { state in
      let isFirst = state.events.isEmpty
      for event in events { state.events[ObjectIdentifier(event.object)] = event }
      return isFirst
    }
    // A job that is already queued shows these, too.
    if isFirst { queue.async { self.showQueued() } }
  }

  private func showQueued() {
    Self.show(
      state.withLock { state in
        defer { state.events = [:] }
        return state.events.values.sorted { $0.number < $1.number }
      })
  }

  private static func show(_ events: [RowEvent]) {
    for event in events { event.object.show(event.row, isDeleted: event.isDeleted, event.number) }
  }
}

/// The live rows of a workspace, by type and queue.
final class LiveRowsByType: Sendable {
  private struct Key: Hashable {
    let schema: ObjectIdentifier
    let queue: ObjectIdentifier?
  }

  private struct Weak {
    weak var rows: LiveRows?
  }

  private let maps = Mutex<[Key: Weak]>([:])

  /// The live rows of a type, which show changes on a queue.
  func of(_ schema: EntitySchema, _ queue: DispatchQueue?, in core: WorkspaceCore) -> LiveRows {
    let key = Key(
      schema: ObjectIdentifier(schema), queue: queue.map { ObjectIdentifier($0) })
    let type = core.observers.of(schema)
    let (rows, isNew) = maps.withLock { maps in
      if let rows = maps[key]?.rows { return (rows, false) }
      let rows = LiveRows(type, queue)
      maps[key] = Weak(rows: rows)
      return (rows, true)
    }
    if isNew { rows.follow(in: core) }
    return rows
  }
}
