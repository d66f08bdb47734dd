// The engines that every engine-neutral test runs on. To add an engine, add a line to `all`.

import Dflat
public import Dispatch
import MemoryDflat
import SQLiteDflat
public import Testing

/// Settings that workspaces of all engines have.
public struct TestSettings: Sendable {
  /// The queue on which handlers run.
  public var targetQueue: DispatchQueue?
  /// Whether transactions run one after another.
  public var isSerial: Bool

  /// Creates settings; the defaults are those of a workspace.
  public init(targetQueue: DispatchQueue? = nil, isSerial: Bool = false) {
    self.targetQueue = targetQueue
    self.isSerial = isSerial
  }
}

/// A storage engine under test.
public struct TestEngine: Sendable, CustomTestStringConvertible {
  /// The name in test results.
  public let testDescription: String
  /// Whether other programs modify the indexes; see `TemporaryWorkspace.disturbIndexes`.
  public var disturbsIndexes = false
  /// Creates a workspace.
  let make: @Sendable (_ directory: String, _ settings: TestSettings) -> Made

  /// A workspace, and what is specific to its engine.
  struct Made {
    let workspace: any Workspace
    /// Creates another workspace on the same data; nil if that is impossible.
    var another: (@Sendable () -> any Workspace)?
    /// The faults in the stored data of a type, one line each.
    var faults: @Sendable (EntitySchema) throws -> [String] = { _ in [] }
    /// Puts the indexes of a type into the state that is tested with this engine.
    var disturb: @Sendable (EntitySchema, inout SeededGenerator) throws -> Void = { _, _ in }
  }

  /// All engines, including one with restricted capabilities.
  public static let all: [TestEngine] = [.sqlite, .memory, .restrictedMemory]

  /// All engines. Those whose indexes other programs can change appear once for each state of the
  /// indexes.
  public static let inEveryIndexState = IndexState.allCases.map { sqlite($0) } + all.dropFirst()

  /// An SQLite file.
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

  /// An engine in memory.
  public static let memory = TestEngine(testDescription: "memory") { _, settings in
    let workspace = MemoryWorkspace(
      writeConcurrency: settings.isSerial ? .serial : .concurrent,
      targetQueue: settings.targetQueue)
    return Made(workspace: workspace)
  }

  /// An engine in memory that declares few capabilities, so that Dflat does the rest.
  public static let restrictedMemory = TestEngine(testDescription: "restricted memory") {
    _, settings in
    let workspace = MemoryWorkspace(
      capabilities: EngineCapabilities(
        excludesOtherWriters: false, canNest: false,
        queries: QueryCapabilities(
          maximumPredicateSize: 1, maximumPredicateDepth: 0, isExact: false, canOrder: false,
          usesCompoundIndexes: false)),
      targetQueue: settings.targetQueue)
    return Made(workspace: workspace)
  }
}

// For tests in separate processes.
extension TestEngine: Codable {
  /// The engine with the name that was encoded.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let name = try container.decode(String.self)
    guard let engine = Self.inEveryIndexState.first(where: { $0.testDescription == name }) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "there is no engine \(name)")
    }
    self = engine
  }

  /// Encodes the name.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(testDescription)
  }
}
