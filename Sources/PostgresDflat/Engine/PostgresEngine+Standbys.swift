// Reading from standbys: see `StandbyReads`.

import Dflat
import Platform

extension PostgresEngine {
  /// Called after a state was read, before a caller knows of it. A transaction that follows must
  /// not see an older one, so it joins none that has begun before; and no standby may show one.
  func noteShownState() {
    shown.add(1, ordering: .sequentiallyConsistent)
    standbys?.notePrimary()
  }

  /// Calls `body` with a view of a standby.
  /// - Returns: nil if no standby can answer.
  func onStandby<R: ~Copyable>(_ body: (PostgresView) throws -> R) throws -> R? {
    guard let standbys, standbys.mayAsk else { return nil }
    var hasGivenRows = false
    do {
      return try withStorageErrors { () throws -> R? in
        try standbys.pool.withConnection(beyondLimit: false) { connection -> R? in
          guard try standbys.admits(connection) else {
            standbys.noteFailure()
            return nil
          }
          let view = PostgresView(self, connection)
          defer { hasGivenRows = view.hasGivenRows }
          let result = try body(view)
          noteStandbyRead()
          return result
        }
      }
    } catch {
      try standbyFailed(error, hasGivenRows)
      return nil
    }
  }

  /// Takes a connection to a standby for a snapshot.
  /// - Returns: nil if no standby can answer.
  func takeStandby() throws -> Connection? {
    guard let standbys, standbys.mayAsk else { return nil }
    do {
      return try withStorageErrors { () throws -> Connection? in
        let connection = try standbys.pool.take()
        do {
          if try standbys.admits(connection) { return connection }
          standbys.noteFailure()
        } catch {
          standbys.pool.putBack(connection)
          throw error
        }
        standbys.pool.putBack(connection)
        return nil
      }
    } catch {
      try standbyFailed(error, false)
      return nil
    }
  }

  /// Notes a query that a standby has answered.
  func noteStandbyRead() {
    shown.add(1, ordering: .sequentiallyConsistent)
    standbyReads.add(1, ordering: .relaxed)
  }

  /// Throws an error of a standby again, unless the primary may answer instead.
  func standbyFailed(_ error: any Error, _ hasGivenRows: Bool) throws {
    if hasGivenRows { throw error }
    if error is StorageClosed {
      throw StorageError(.closed, message: "the workspace was shut down")
    }
    guard let storageError = error as? StorageError else { throw error }
    let cause = storageError.underlying as? PostgresError
    let isGone = storageError.cause == .cannotOpen || cause?.isConnectionLost == true
    // An object of the layout may not have arrived, or the server has ended the query for the sake
    // of what it applies.
    let isBehind = cause?.isConflict == true || ["42P01", "3F000", "42703"].contains(cause?.state)
    guard isGone || isBehind else { throw error }
    standbys?.noteFailure()
    if isGone { standbys?.pool.closeIdle() }
  }
}
