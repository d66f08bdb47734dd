// WriteSessions: the connections of a workspace that write.
//
// A write transaction takes one when it begins, and returns it at its end. The write coordinator
// never has more transactions than there are sessions. The first one that is free is taken, so a
// program whose transactions never run at the same time has one connection.

import Platform

final class WriteSessions: Sendable {
  private let all: [WriteSession]
  private let taken: Mutex<[Bool]>

  init(
    _ count: Int, _ connector: Connector, _ system: SystemSQL, _ notifier: ChangeNotifier,
    _ events: EventRecorder, _ standbys: StandbyReads?, workspace: String, _ own: OwnEntries,
    logLength: Int
  ) {
    all = (0..<count).map {
      WriteSession(
        connector, system, notifier, events, standbys, workspace: workspace, own,
        number: $0, logLength: logLength)
    }
    taken = Mutex(Array(repeating: false, count: count))
  }

  /// Takes a session for a transaction that begins now. No earlier one can be committed later.
  /// - Throws: `StorageError`, if that cannot be made sure of.
  func take() throws -> WriteSession {
    try withStorageErrors(isWriting: true) { for session in all { try session.resolve() } }
    guard let session = take(where: { _ in true }) else {
      preconditionFailure("more write transactions than the engine has announced")
    }
    return session
  }

  /// Takes a session for a transaction that has begun already: one that has committed nothing
  /// since.
  func take(after commits: LastCommits) -> WriteSession? {
    if all.contains(where: \.isUnresolved) { return nil }
    return take { commits.numbers[$0] != nil && commits.numbers[$0] == all[$0].lastCommit }
  }

  private func take(where isWanted: (Int) -> Bool) -> WriteSession? {
    taken.withLock { taken in
      guard let number = taken.indices.first(where: { !taken[$0] && isWanted($0) }) else {
        return nil
      }
      taken[number] = true
      return all[number]
    }
  }

  /// Returns a session at the end of its transaction.
  func putBack(_ session: WriteSession) { taken.withLock { $0[session.number] = false } }

  /// What the sessions have committed last; nil if none of them is known to have committed
  /// anything.
  var lastCommits: LastCommits? {
    let numbers = all.map(\.lastCommit)
    return numbers.contains { ($0 ?? 0) > 0 } ? LastCommits(numbers: numbers) : nil
  }

  func close() {
    for session in all { session.close() }
  }
}

/// The number of the last commit of each session, 0 for none; nil where it is not known.
struct LastCommits {
  fileprivate let numbers: [Int64?]
}
