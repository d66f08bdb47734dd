// Engines under test. Those that need no server are here; `EngineTests` has the list of all.

public import Dflat
public import Dispatch
import Foundation
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
  public let disturbsIndexes: Bool
  /// Whether a transaction may run on the thread of a task, since it waits for no server.
  public let writesInTasks: Bool
  /// The class that has the engine, if it is in another module; see `TestEngineProvider`.
  let provider: String?
  /// Creates a workspace.
  let make: @Sendable (_ directory: String, _ settings: TestSettings) -> Made

  /// Creates an engine.
  ///
  /// - Parameters:
  ///   - testDescription: The name in test results.
  ///   - disturbsIndexes: Whether other programs modify the indexes.
  ///   - writesInTasks: Whether a transaction may run on the thread of a task.
  ///   - provider: The class that has the engine; see `TestEngineProvider`.
  ///   - make: Creates a workspace whose data are bound to an empty directory or its name.
  public init(
    testDescription: String, disturbsIndexes: Bool = false, writesInTasks: Bool = true,
    provider: String? = nil,
    make: @escaping @Sendable (_ directory: String, _ settings: TestSettings) -> Made
  ) {
    self.testDescription = testDescription
    self.disturbsIndexes = disturbsIndexes
    self.writesInTasks = writesInTasks
    self.provider = provider
    self.make = make
  }

  /// A workspace, and what is specific to its engine.
  public struct Made {
    let workspace: any Workspace
    /// Creates another workspace on the same data; nil if that is impossible.
    var another: (@Sendable () -> any Workspace)?
    /// The faults in the stored data of a type, one line each.
    var faults: @Sendable (EntitySchema) throws -> [String]
    /// Puts the indexes of a type into the state that is tested with this engine.
    var disturb: @Sendable (EntitySchema, inout SeededGenerator) throws -> Void

    /// Describes a workspace that was made.
    ///
    /// - Parameters:
    ///   - workspace: The workspace.
    ///   - another: Creates another workspace on the same data; nil if that is impossible.
    ///   - faults: Finds the faults in the stored data of a type, one line each.
    ///   - disturb: Puts the indexes of a type into the state that is tested with this engine.
    public init(
      workspace: any Workspace, another: (@Sendable () -> any Workspace)? = nil,
      faults: @escaping @Sendable (EntitySchema) throws -> [String] = { _ in [] },
      disturb: @escaping @Sendable (EntitySchema, inout SeededGenerator) throws -> Void = {
        _, _ in
      }
    ) {
      self.workspace = workspace
      self.another = another
      self.faults = faults
      self.disturb = disturb
    }
  }

  /// The engines without a server, including one with restricted capabilities.
  public static let embedded: [TestEngine] = [.sqlite, .memory, .restrictedMemory]

  /// The engines without a server. Those whose indexes other programs can change appear once for
  /// each state of the indexes.
  public static let embeddedInEveryIndexState =
    IndexState.allCases.map { sqlite($0) } + embedded.dropFirst()

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

/// A class that has an engine under test, and is found by its name: a test in a process of its own
/// gets an engine as a name.
public protocol TestEngineProvider: AnyObject {
  /// The engine.
  static var engine: TestEngine { get }
}

// For tests in separate processes.
extension TestEngine: Codable {
  /// The engine with the name that was encoded.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let name = try container.decode(String.self)
    let embedded = Self.embeddedInEveryIndexState + [.boundMemory]
    if let engine = embedded.first(where: { $0.testDescription == name }) {
      self = engine
    } else if let provider = NSClassFromString(name) as? any TestEngineProvider.Type {
      self = provider.engine
    } else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "there is no engine \(name)")
    }
  }

  /// Encodes the name, or that of the class that has the engine.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(provider ?? testDescription)
  }
}
