// The engines that every engine-neutral test runs on. To add one is to add a line to `all`.

import Dflat
public import Dispatch
import MemoryDflat
import SQLiteDflat
public import Testing

/// What workspaces of all engines can be told.
public struct TestSettings: Sendable {
  /// Where handlers run.
  public var targetQueue: DispatchQueue?
  /// Whether transactions run one after another.
  public var isSerial: Bool

  /// Those that a workspace has if it is told nothing.
  public init(targetQueue: DispatchQueue? = nil, isSerial: Bool = false) {
    self.targetQueue = targetQueue
    self.isSerial = isSerial
  }
}

/// A storage engine under test.
public struct TestEngine: Sendable, CustomTestStringConvertible {
  /// Its name in the results of tests.
  public let testDescription: String
  /// Whether other programs change its indexes; see `TemporaryWorkspace.disturbIndexes`.
  public var disturbsIndexes = false
  /// Makes a workspace.
  let make: @Sendable (_ directory: String, _ settings: TestSettings) -> Made

  /// A workspace, and what only its engine knows of it.
  struct Made {
    let workspace: any Workspace
    /// Another workspace on the same data; nil where there can be none.
    var another: (@Sendable () -> any Workspace)?
    /// What is wrong with what is stored for a type, one line each.
    var faults: @Sendable (EntitySchema) throws -> [String] = { _ in [] }
    /// Brings the indexes of a type into the state that the engine is tested in.
    var disturb: @Sendable (EntitySchema, inout SeededGenerator) throws -> Void = { _, _ in }
  }

  /// All engines, and some of them with less than they can do.
  public static let all: [TestEngine] = [.sqlite, .memory, .restrictedMemory]

  /// The same, those whose indexes other programs can change in every state that they can leave behind.
  public static let inEveryIndexState = IndexState.allCases.map { sqlite($0) } + all.dropFirst()

  /// A file of SQLite.
  public static let sqlite = sqlite(.complete)

  private static func sqlite(_ state: IndexState) -> TestEngine {
    TestEngine(
      testDescription: state == .complete ? "SQLite" : "SQLite, indexes \(state)",
      disturbsIndexes: state != .complete
    ) {
      makeFile($0, $1, state)
    }
  }

  private static func makeFile(
    _ directory: String, _ settings: TestSettings, _ state: IndexState
  ) -> Made {
    let file = TemporaryFile(path: directory + "/test.db") {
      $0.targetQueue = settings.targetQueue
      $0.writeConcurrency = settings.isSerial ? .serial : .concurrent
    }
    return Made(
      workspace: file.dflat,
      another: { file.secondWorkspace(targetQueue: settings.targetQueue).dflat },
      faults: { try unsoundness(of: $0, file.foreignConnection(), complete: true) },
      disturb: { try state.impose(on: $0, file.foreignConnection(), using: &$1) })
  }

  /// Memory.
  public static let memory = TestEngine(testDescription: "memory") { _, settings in
    let workspace = MemoryWorkspace(
      writeConcurrency: settings.isSerial ? .serial : .concurrent,
      targetQueue: settings.targetQueue)
    return Made(workspace: workspace)
  }

  /// Memory that says it can do little: Dflat does the rest.
  public static let restrictedMemory = TestEngine(testDescription: "restricted memory") {
    _, settings in
    let workspace = MemoryWorkspace(
      capabilities: EngineCapabilities(
        excludesOtherWriters: false, canNest: false,
        queries: QueryCapabilities(
          maximumPredicateSize: 1, maximumPredicateDepth: 0, isExact: false, canOrder: false)),
      targetQueue: settings.targetQueue)
    return Made(workspace: workspace)
  }
}

// For tests in processes of their own.
extension TestEngine: Codable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let name = try container.decode(String.self)
    guard let engine = Self.inEveryIndexState.first(where: { $0.testDescription == name }) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "there is no engine \(name)")
    }
    self = engine
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(testDescription)
  }
}
