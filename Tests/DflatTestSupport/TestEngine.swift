// The engines that every engine-neutral test runs on. To add one is to add a line to `all`.

public import Dflat
public import Dispatch
import MemoryDflat
import SQLiteDflat

/// A storage engine under test.
public struct TestEngine: Sendable, CustomTestStringConvertible {
  /// Its name in the results of tests.
  public let testDescription: String
  /// Makes a workspace.
  let make: @Sendable (_ directory: String, _ targetQueue: DispatchQueue?) -> Made

  /// A workspace, and what only its engine knows of it.
  struct Made {
    let workspace: any Workspace
    /// Sets where errors go.
    let report: (@escaping @Sendable (any Error) -> Void) -> Void
    /// Another workspace on the same data; nil where there can be none.
    var another: (@Sendable () -> any Workspace)?
    /// What is wrong with what is stored for a type, one line each.
    var faults: @Sendable (EntitySchema) throws -> [String] = { _ in [] }
  }

  /// All engines, and some of them with less than they can do.
  public static let all: [TestEngine] = [.sqlite, .memory, .restrictedMemory]

  /// A file of SQLite.
  public static let sqlite = TestEngine(testDescription: "SQLite") { directory, queue in
    let file = TemporaryFile(path: directory + "/test.db") { $0.targetQueue = queue }
    return Made(
      workspace: file.dflat, report: { file.dflat.errorHandler = $0 },
      another: { file.secondWorkspace(targetQueue: queue).dflat },
      faults: { try unsoundness(of: $0, file.foreignConnection(), complete: true) })
  }

  /// Memory.
  public static let memory = TestEngine(testDescription: "memory") { _, queue in
    let workspace = MemoryWorkspace(targetQueue: queue)
    return Made(workspace: workspace, report: { workspace.errorHandler = $0 })
  }

  /// Memory that says it can do little: Dflat does the rest.
  public static let restrictedMemory = TestEngine(testDescription: "restricted memory") {
    _, queue in
    let workspace = MemoryWorkspace(
      capabilities: EngineCapabilities(
        excludesOtherWriters: false, canNest: false,
        queries: QueryCapabilities(
          maximumPredicateSize: 1, maximumPredicateDepth: 0, isExact: false, canOrder: false)),
      targetQueue: queue)
    return Made(workspace: workspace, report: { workspace.errorHandler = $0 })
  }
}
