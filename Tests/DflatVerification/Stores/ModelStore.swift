// ModelStore: an in-memory store with the same guarantees, and with known ways to break them.
//
// It is used to test the checker: a history of the sound store has no violation, and one of each
// broken variant has. Like the workspace, it has a queue of tickets for each space, a committed
// state, and a state that the members of a commit group have written and that waits for the commit.

import Dispatch
import Platform

/// A defect of a store.
public enum SchedulerFault: String, CaseIterable, Sendable {
  /// Places in several queues are taken one after another, not under one lock: two transactions may
  /// wait for each other.
  case tornTickets
  /// A transaction runs when it is at the head of one of its queues, not of all.
  case oneLineOnly
  /// A transaction reads the committed state, and not the writes of earlier group members.
  case staleGroupReads
  /// Transactions leave their queues in any order.
  case anyOrder
  /// A completion is delivered before the commit.
  case earlyCompletions
  /// A snapshot reads the state before the last commit.
  case staleSnapshots
  /// A snapshot reads each key in its current state.
  case tornSnapshots
  /// A single read of a key uses the state before the last commit.
  case staleLookUps
  /// The writes of an aborted transaction stay.
  case keptAborts
}

/// An in-memory store.
public final class ModelStore: TransactionalStore {
  /// How many spaces there are.
  public let spaces: Int
  private let fault: SchedulerFault?
  private let queue = DispatchQueue(label: "model", attributes: .concurrent)
  private let state: Mutex<State>

  private struct State {
    var committed: [Key: CellValue] = [:]
    /// The committed state before the last commit.
    var previous: [Key: CellValue] = [:]
    /// The state written by members of the group.
    var pending: [Key: CellValue] = [:]
    var members: [Ticket] = []
    var lines: [[Ticket]]
    var running = 0
  }

  /// A transaction in its queues. The state's lock guards everything that changes.
  private final class Ticket: @unchecked Sendable {
    let spaces: [Int]
    let body: @Sendable (any StoreAccess) throws -> Void
    let completion: @Sendable (Bool) -> Void
    var awaited: Int
    var isRunning = false
    var isGood = false

    init(
      _ spaces: [Int], _ body: @escaping @Sendable (any StoreAccess) throws -> Void,
      _ completion: @escaping @Sendable (Bool) -> Void
    ) {
      self.spaces = spaces
      self.body = body
      self.completion = completion
      awaited = spaces.count
    }
  }

  /// Creates a store, sound or broken.
  public init(spaces: Int, fault: SchedulerFault? = nil) {
    self.spaces = spaces
    self.fault = fault
    state = Mutex(State(lines: Array(repeating: [], count: spaces + 1)))
  }

  private static let mostMembers = 8

  /// Lets other threads run, so that defects show.
  private static func linger() {
    if UInt8.random(in: 0..<4) == 0 { sched_yield() }
  }

  /// Takes its places in the queues and returns.
  public func transact(
    _ spaces: [Int], _ body: @escaping @Sendable (any StoreAccess) throws -> Void,
    _ completion: @escaping @Sendable (Bool) -> Void
  ) {
    var seen: Set<Int> = []
    let distinct = spaces.filter { seen.insert($0).inserted }
    let ticket = Ticket(distinct, body, completion)
    if fault == .tornTickets {
      for space in distinct {
        state.withLock {
          $0.lines[space].append(ticket)
          ticket.awaited -= 1
        }
        Self.linger()
      }
    } else {
      state.withLock { state in
        for space in distinct { state.lines[space].append(ticket) }
        ticket.awaited = 0
      }
    }
    startReady()
  }

  private func startReady() {
    let ready = state.withLock { state in
      var ready: [Ticket] = []
      while let ticket = next(state) {
        ticket.isRunning = true
        state.running += 1
        ready.append(ticket)
      }
      return ready
    }
    for ticket in ready { queue.async { self.run(ticket) } }
  }

  /// A ticket that may run now.
  private func next(_ state: State) -> Ticket? {
    for space in 0...spaces {
      let line = state.lines[space]
      let candidates = fault == .anyOrder ? Array(line.shuffled()) : Array(line.prefix(1))
      for ticket in candidates where !ticket.isRunning && ticket.awaited == 0 {
        let isReady =
          switch fault {
          case .oneLineOnly: true
          case .anyOrder:
            ticket.spaces.allSatisfy { space in !state.lines[space].contains { $0.isRunning } }
          default: ticket.spaces.allSatisfy { state.lines[$0].first === ticket }
          }
        if isReady { return ticket }
      }
    }
    return nil
  }

  private func run(_ ticket: Ticket) {
    let access = Access(store: self)
    do {
      try ticket.body(access)
      ticket.isGood = true
    } catch {
      ticket.isGood = false
    }
    if fault == .earlyCompletions { ticket.completion(ticket.isGood) }
    Self.linger()
    let told = state.withLock { state in
      if ticket.isGood || fault == .keptAborts {
        state.pending.merge(access.written) { $1 }
      }
      state.members.append(ticket)
      for space in ticket.spaces { state.lines[space].removeAll { $0 === ticket } }
      state.running -= 1
      return state.running == 0 || state.members.count >= Self.mostMembers ? commit(&state) : []
    }
    if fault != .earlyCompletions { for ticket in told { ticket.completion(ticket.isGood) } }
    startReady()
  }

  private func commit(_ state: inout State) -> [Ticket] {
    state.previous = state.committed
    state.committed.merge(state.pending) { $1 }
    state.pending = [:]
    defer { state.members = [] }
    return state.members
  }

  /// Runs the body with one committed state.
  public func snapshot(_ body: (any StoreReader) throws -> Void) throws {
    let seen = state.withLock { fault == .staleSnapshots ? $0.previous : $0.committed }
    try body(Snapshot(seen: seen, live: fault == .tornSnapshots ? self : nil))
  }

  /// Reads the committed state.
  public func lookUp(_ key: Key) -> CellValue? {
    state.withLock { (fault == .staleLookUps ? $0.previous : $0.committed)[key] }
  }

  /// There are no errors.
  public func takeErrors() -> [String] { [] }

  /// There is nothing to close.
  public func close() {}

  private struct Snapshot: StoreReader {
    let seen: [Key: CellValue]
    let live: ModelStore?

    func read(_ key: Key) -> CellValue? {
      guard let live else { return seen[key] }
      linger()
      return live.state.withLock { $0.committed[key] }
    }

    func read(group: Int64, in space: Int) -> [Key: CellValue] {
      Key.keys(of: group, in: space).reduce(into: [:]) { $0[$1] = read($1) }
    }

    func read(family: Int64) -> CellValue {
      FamilyState(after: read(familyLog(family)) ?? [], of: family).encoded
    }
  }

  /// A transaction's view. Used on its thread only.
  private final class Access: StoreAccess {
    private let store: ModelStore
    private(set) var written: [Key: CellValue] = [:]

    init(store: ModelStore) {
      self.store = store
    }

    func read(_ key: Key) -> CellValue? {
      linger()
      if let value = written[key] { return value }
      return store.state.withLock { state in
        (store.fault == .staleGroupReads ? nil : state.pending[key]) ?? state.committed[key]
      }
    }

    func read(group: Int64, in space: Int) -> [Key: CellValue] {
      Key.keys(of: group, in: space).reduce(into: [:]) { $0[$1] = read($1) }
    }

    func write(_ key: Key, _ value: CellValue) {
      linger()
      written[key] = value
    }

    func append(_ key: Key, _ number: Int64) {
      write(key, (read(key) ?? []) + [number])
    }

    func read(family: Int64) -> CellValue {
      FamilyState(after: read(familyLog(family)) ?? [], of: family).encoded
    }

    func change(family: Int64, _ number: Int64) { append(familyLog(family), number) }
  }
}

/// The operations of a family, kept behind all spaces.
private func familyLog(_ family: Int64) -> Key { Key(.max, family) }
