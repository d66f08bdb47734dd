// StoreTarget: a file or a database that a tool writes objects to, as programs do.
//
//  - Everything is an ordinary transaction of a workspace: key columns, indexes and marks are
//    written with the objects, and running programs see it.
//  - No `DataFile` of the same file is opened or closed while it is open: that would take the locks
//    of the workspace away.

import Dflat
import Foundation
import SQLiteDflat

/// A file, or a database on a server, that tools store objects in. It is created with the first
/// transaction if it is not there.
public struct StoreTarget: Sendable {
  /// The path of the file, or the address of the database without its password.
  public let path: String
  let isThere: Bool
  let isOnServer: Bool
  let openStore: @Sendable ([GivenSchema]) throws -> any DataStore
  let openWorkspace: @Sendable () -> any Workspace

  /// - Parameters:
  ///   - isThere: Whether it has objects, or can have.
  ///   - openStore: Opens it to be looked at.
  ///   - openWorkspace: Opens it to be written to.
  package init(
    path: String, isThere: Bool, isOnServer: Bool,
    openStore: @escaping @Sendable ([GivenSchema]) throws -> any DataStore,
    openWorkspace: @escaping @Sendable () -> any Workspace
  ) {
    self.path = path
    self.isThere = isThere
    self.isOnServer = isOnServer
    self.openStore = openStore
    self.openWorkspace = openWorkspace
  }

  /// A file.
  /// - Parameter path: Its path. It need not exist.
  public static func file(_ path: String) -> StoreTarget {
    StoreTarget(
      path: path, isThere: FileManager.default.fileExists(atPath: path), isOnServer: false,
      openStore: { try DataFile.open(path, given: $0) },
      openWorkspace: {
        var configuration = SQLiteWorkspace.Configuration()
        // A transaction that changes many objects writes each page once.
        configuration.writerCacheSize = 64 << 20
        configuration.walLimit = 16 << 20
        configuration.keepsUndoInMemory = true
        return SQLiteWorkspace(filePath: path, configuration: configuration)
      })
  }

  /// Removes a file without tables, which the first transaction has created and was rolled back.
  /// It stays if another program has it open by now.
  func removeIfEmpty() {
    guard !isOnServer, Self.isEmpty(path), let lock = try? ReplacementLock.cleared(path) else {
      return
    }
    defer { lock.release() }
    guard let moved = try? FileReplacement.exchange(path, by: nil, lock) else { return }
    if Self.isEmpty(moved) {
      for suffix in ["", "-wal", "-shm"] { unlink(moved + suffix) }
    } else if link(moved, path) == 0 {
      unlink(moved)
    }
  }

  private static func isEmpty(_ path: String) -> Bool {
    guard let file = try? DataFile.open(path) else { return false }
    defer { file.close() }
    let information = try? file.information(countingAll: false)
    return file.types.isEmpty && information?.otherTables.isEmpty == true
      && information?.dictionaryEntries == 0
  }

  /// The types that it has.
  func types(_ given: [GivenSchema] = []) throws -> [StoredType] {
    if !isThere { return [] }
    let store = try openStore(given)
    defer { store.close() }
    return store.types
  }
}

/// A target while it is written to.
struct OpenTarget {
  private let workspace: any Workspace
  /// On a server a transaction may be in conflict with those of other programs.
  private let attempts: Int?

  init(_ target: StoreTarget) {
    workspace = target.openWorkspace()
    attempts = target.isOnServer ? nil : 1
  }

  var core: WorkspaceCore { workspace._core }

  /// Closes it.
  func close() { workspace.shutdown() }

  /// Runs a transaction.
  /// - Parameter once: Whether `body` cannot run again after a conflict, which is thrown then.
  /// - Throws: `StorageError`; the errors of `body`.
  func write<R>(
    _ entities: [EntitySchema], once: Bool = false, _ body: (WriteContext) throws -> R
  ) throws -> R {
    try workspace.write(schemas: entities, attempts: once ? 1 : attempts) { context in
      // Nothing is read before the first change, so nothing has to be read again.
      try context.beginWriting()
      return try body(context)
    }
  }
}
