// Begins and ends the storage's transactions.
//
// The writing connection is used by the thread that holds the write lease. A lock guards its state.
// Maintenance turns take that lock, too, so a transaction that begins waits for such a turn, or
// gives up if it must not wait.

import Dflat
import SQLiteAccess
import Platform

extension SQLiteEngine {
  func beginWriting() throws -> any StorageWriter {
    try withStorageErrors {
      try writer.withLock { state in
        if let connection = state.connection { checkpointIfDue(&state, connection) }
        return try begin(&state)
      }
    }
  }

  func beginWritingAtOnce() throws -> (any StorageWriter)? {
    try withStorageErrors {
      let writer = try writer.withLockIfAvailable { state -> (any StorageWriter)? in
        guard let connection = state.connection, state.maintenance?.isDue(connection) == false
        else {
          return nil
        }
        return try connection.withoutWaiting {
          do { return try begin(&state) } catch let error as SQLiteError where error.isBusy {
            return nil
          }
        }
      }
      return writer ?? nil
    }
  }

  var canWriteAtOnce: Bool { isPrepared.load(ordering: .acquiring) && !needsMaintenance }

  private func begin(_ state: inout WriterState) throws -> any StorageWriter {
    guard let connection = state.connection else { throw missingFile }
    externalChanges.writerChanges()
    do {
      try connection.begin(.immediate)
      state.tables.begin(at: try externalChanges.writerBegan())
      state.isWriting = true
    } catch {
      if connection.isInTransaction { try connection.rollback() }
      externalChanges.writerEnded()
      throw error
    }
    return SQLiteWriter(self, connection, state.tables)
  }

  /// Ends the transaction that `beginWriting` began. A commit that fails is rolled back.
  /// - Returns: The generation after it.
  func endWriting(committing: Bool) throws -> Int {
    try withStorageErrors {
      try writer.withLock { state in
        var generation = state.tables.generation
        guard let connection = state.connection else { return generation }
        externalChanges.writerChanges()
        state.isWriting = false
        // Runs last: from then on other threads may ask the writer's connection about external
        // changes.
        defer { externalChanges.writerEnded() }
        do {
          if committing {
            try connection.commit()
            generation = state.tables.beginGenerationIfDue(self)
            committed(&state, connection)
          } else {
            state.tables.forget()
            // After some errors SQLite has rolled back already.
            if connection.isInTransaction { try connection.rollback() }
          }
        } catch {
          state.tables.forget()
          if connection.isInTransaction { try connection.rollback() }
          throw error
        }
        return generation
      }
    }
  }
}
