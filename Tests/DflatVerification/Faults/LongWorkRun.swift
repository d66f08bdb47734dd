// LongWorkRun: work that runs beside transactions, on a failing disk: a dictionary, a live result,
// an index build, and a migration that begins when its type is used.
//
// Each time another call of the storage fails. Everything completes. When the storage works again,
// all work finishes by itself or with the next use; no object is lost or duplicated, no key has
// another value than in memory, and the live result equals a fetch.

public import CFaultVFS
public import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import SQLiteAccess
import SQLiteDflat

/// Failing calls, one for each run.
public struct LongWorkRun: Sendable {
  /// The keys of the initial cells.
  public static let cells: Range<Int64> = 0..<120
  private let directory: String
  private let template: String

  /// Creates the file that every run begins with.
  /// - Parameter directory: An empty directory.
  public init(in directory: String) throws {
    self.directory = directory
    template = "\(directory)/template.db"
    let store = WorkspaceStore(path: template, isShared: false)
    try Self.fill(store.dflat)
    store.close()
    let connection = try Connection(path: template)
    try connection.execute("DELETE FROM verify__red__f6 WHERE rowid > 20")
    try connection.close()
  }

  /// Stores red cells, and blue ones to be migrated.
  public static func fill(
    _ dflat: any Workspace, _ cells: Range<Int64> = LongWorkRun.cells
  ) throws {
    let (isCommitted, _) = waitForCompletion { completion in
      dflat.performChanges(
        [Verify.Red.self, Verify.Blue.self],
        changesHandler: { txn in
          for key in cells {
            txn.try(
              submit: Verify.RedChangeRequest.creationRequest(
                Verify.Red(key: key, group: key % 5, values: [key])))
            txn.try(
              submit: Verify.BlueChangeRequest.creationRequest(
                Verify.Blue(key: key, group: key % 5, values: [key], label: "\(key)")))
          }
        }, completionHandler: completion)
    }
    if !isCommitted { throw StorageError(.other, message: "the file could not be filled") }
  }

  /// Migrates blue cells to white ones.
  public static let migration = Migration(from: Verify.Blue.self, to: Verify.White.self) { blue in
    Verify.White(
      key: blue.key, group: blue.group, values: blue.values + [-1], label: blue.label)
  }

  /// How calls fail.
  public static let modes = [FAULTVFS_ONCE, FAULTVFS_PERSISTENT, FAULTVFS_FULL]

  /// The result of one run.
  public struct Result: Sendable {
    /// The call that failed; nil if there were fewer calls.
    public var failure: String?
    /// The violations.
    public var faults: [String] = []
  }

  /// Runs everything and makes a call fail.
  /// - Parameters:
  ///   - number: Which call fails, from 1.
  ///   - mode: Whether later calls fail, too.
  public func fail(_ number: Int, _ mode: faultvfs_mode) throws -> Result {
    let place = "\(directory)/\(mode.rawValue)-\(number)"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: place) }
    let path = "\(place)/test.db"
    try FileManager.default.copyItem(atPath: template, toPath: path)
    let disk = try FaultDisk(place)
    disk.arm(Int(FAULTVFS_ALL), number: number, mode)
    var result = Result()

    let work = Work(path)
    work.goOn(1, &result.faults)
    disk.disarm()
    _ = work.store.takeStorageErrors()
    work.goOn(2, &result.faults)
    work.finish(&result.faults)
    // Steps that were retried after a pause may be reported late.
    _ = work.store.takeStorageErrors()
    work.close()
    result.failure = disk.failures > 0 ? disk.firstFailure : nil

    let other = Work(path)
    other.finish(&result.faults)
    if other.store.dflat.dictionary["count", Int.self] != 2 {
      result.faults.append("the dictionary is not what memory was")
    }
    other.close()
    result.faults += other.store.takeErrors().map { "a new workspace: \($0)" }
    result.faults += try fileFaults(path)
    return result
  }

  /// A workspace with observers.
  private final class Work: Sendable {
    let store: WorkspaceStore
    private var dflat: any Workspace { store.dflat }
    private let shown = Mutex<[Int64]?>(nil)
    private let subscription = Mutex<(any WorkspaceSubscription)?>(nil)

    init(_ path: String) {
      store = WorkspaceStore(path: path, isShared: false, synchronous: .full)
      store.dflat._core.fullDiskPause = .milliseconds(2)
      store.dflat.migrateWhenUsed(LongWorkRun.migration)
      let greens = store.dflat.fetch(for: Verify.Green.self).where(Verify.Green.group == 1)
      let subscription = store.dflat.subscribe(fetchedResult: greens) { [weak self] greens in
        self?.shown.withLock { $0 = greens.map(\.key) }
      }
      self.subscription.withLock { $0 = subscription }
    }

    func close() {
      subscription.withLock { $0 = nil }
      store.close()
    }

    /// Runs a transaction and waits for it.
    private func write(
      _ types: [Any.Type], _ faults: inout [String],
      _ body: @escaping @Sendable (any TransactionContext) -> Void
    ) -> Bool {
      let (isCommitted, isInTime) = waitForCompletion {
        dflat.performChanges(types, changesHandler: body, completionHandler: $0)
      }
      if !isInTime { faults.append("a transaction never completed") }
      return isCommitted
    }

    /// A bit of each kind of work. Parts of it may fail.
    func goOn(_ round: Int, _ faults: inout [String]) {
      var dictionary = dflat.dictionary
      for value in 1...3 { dictionary["key \(value)"] = value * round }
      dictionary["count"] = round
      dictionary.synchronize()
      // Starts the index build.
      _ = dflat.fetch(for: Verify.Red.self).where(Verify.Red.group == 1)
      for key in 0..<6 as Range<Int64> {
        _ = write([Verify.Green.self], &faults) { txn in
          txn.try(
            submit: Verify.GreenChangeRequest.upsertRequest(
              Verify.Green(key: Int64(round) * 100 + key, group: key % 2)))
        }
      }
      // Reads blue cells as white ones, which starts their migration.
      let whites = dflat.fetch(for: Verify.White.self).all()
      if store.takeStorageErrors().isEmpty, whites.count != LongWorkRun.cells.count {
        faults.append("round \(round): \(whites.count) white cells were fetched")
      }
      _ = write([Verify.White.self], &faults) { [dflat] txn in
        for white in dflat.fetch(for: Verify.White.self).where(Verify.White.key < 3) {
          if let request = Verify.WhiteChangeRequest.changeRequest(white) {
            request.values = [Int64(round)]
            txn.try(submit: request)
          }
        }
      }
    }

    /// The storage works again: all work must finish.
    func finish(_ faults: inout [String]) {
      if !write([Verify.White.self], &faults, { _ in }) {
        faults.append("the migration does not come to its end: \(store.takeErrors())")
      }
      let whites = dflat.fetch(for: Verify.White.self).all()
      if whites.map(\.key).sorted() != Array(LongWorkRun.cells) {
        faults.append("white cells are \(whites.count)")
      }
      for white in whites {
        let wanted = white.key < 3 ? [2] : [white.key, -1]
        if white.values != wanted { faults.append("white cell \(white.key): \(white.values)") }
      }
      if !dflat.fetch(for: Verify.Blue.self).all().isEmpty { faults.append("blue cells are left") }

      let reds = dflat.fetch(for: Verify.Red.self)
      for _ in 0..<10_000 {
        let found = reds.where(Verify.Red.group == 1).count
        if found != LongWorkRun.cells.count(where: { $0 % 5 == 1 }) {
          return faults.append("\(found) red cells of a group")
        }
        if (try? reds.explain(where: Verify.Red.group == 1).indexes.isEmpty) == false { break }
        _ = write([Verify.Red.self], &faults) { _ in }
      }
      if (try? reds.explain(where: Verify.Red.group == 1).indexes.isEmpty) != false {
        faults.append("the index is not built")
      }

      _ = write([Verify.Green.self], &faults) { txn in
        if let request = Verify.GreenChangeRequest.deletionRequest(Verify.Green(key: 201)) {
          txn.try(submit: request)
        }
      }
      let greens = dflat.fetch(for: Verify.Green.self).where(Verify.Green.group == 1).map(\.key)
      let shown = shown.withLock { $0 }
      if let shown, shown != greens { faults.append("\(shown) is shown, \(greens) is stored") }
      dflat.dictionary.synchronize()
    }
  }
}
