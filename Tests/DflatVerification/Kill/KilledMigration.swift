// KilledMigration: what is migrated by processes that are killed.

import Dflat
import DflatTestSupport
import SQLiteDflat

/// A migration that another process can go on with at any time.
public protocol KilledMigration: Sendable {
  /// How a worker is told which one it is.
  static var name: String { get }
  /// Makes a file with old objects.
  /// - Parameter count: How large it is.
  /// - Returns: How many there are.
  func fill(_ path: String, _ count: Int64) throws -> Int64
  /// Migrates all of them.
  func migrate(_ path: String, step: Int) throws
  /// Checks that every object exists once, old or new, and changes nothing.
  /// - Returns: How many are not migrated.
  func check(_ path: String, _ count: Int64, _ faults: inout [String]) throws -> Int64
}

/// All of them.
public let killedMigrations: [any KilledMigration] = [EntityMigration(), SiloMigration()]

/// The migration of entities; each new one is the function's result for the old one.
public struct EntityMigration: KilledMigration {
  /// Its name.
  public static let name = "entities"

  /// The migration.
  public init() {}

  /// Cells.
  public func fill(_ path: String, _ count: Int64) throws -> Int64 {
    let store = WorkspaceStore(path: path, isShared: false)
    try LongWorkRun.fill(store.dflat, 0..<count)
    store.close()
    return count
  }

  /// Migrates all of them.
  public func migrate(_ path: String, step: Int) throws {
    let store = WorkspaceStore(path: path, isShared: false)
    try waitForTask { try await store.dflat.migrate(LongWorkRun.migration, step: step) }
    store.close()
  }

  /// Reads both tables.
  public func check(_ path: String, _ count: Int64, _ faults: inout [String]) throws -> Int64 {
    let store = WorkspaceStore(path: path, isShared: false)
    let (blues, whites) = store.dflat.fetchWithinASnapshot {
      (
        store.dflat.fetch(for: Verify.Blue.self).all(),
        store.dflat.fetch(for: Verify.White.self).all()
      )
    }
    if blues.count + whites.count != count
      || Set(blues.map(\.key) + whites.map(\.key)) != Set(0..<count)
    {
      faults.append("\(blues.count) old objects and \(whites.count) new ones, of \(count)")
    }
    for white in whites where white.values != [white.key, -1] || white.label != "\(white.key)" {
      faults.append("object \(white.key) became \(white)")
    }
    store.close()
    faults += store.takeErrors()
    faults += try fileFaults(path)
    return Int64(blues.count)
  }
}
