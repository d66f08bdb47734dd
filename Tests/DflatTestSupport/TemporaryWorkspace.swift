// TemporaryWorkspace: a workspace of any engine, for one test.

public import Dflat
public import Foundation
public import Testing

/// A workspace of some engine.
public final class TemporaryWorkspace: TestWorkspace {
  /// The workspace.
  public let workspace: any Workspace
  /// What it has reported.
  public let errors = ReportedErrors()
  private let another: (@Sendable () -> any Workspace)?
  private let findFaults: @Sendable (EntitySchema) throws -> [String]
  private let disturb: @Sendable (EntitySchema, inout SeededGenerator) throws -> Void

  /// The workspace.
  public var dflat: any Workspace { workspace }

  fileprivate init(_ made: TestEngine.Made) {
    workspace = made.workspace
    another = made.another
    findFaults = made.faults
    disturb = made.disturb
    workspace.errorHandler = { [errors] in errors.add($0) }
  }

  private init(_ workspace: any Workspace, _ original: TemporaryWorkspace) {
    self.workspace = workspace
    another = original.another
    findFaults = original.findFaults
    disturb = original.disturb
    workspace.errorHandler = { [errors] in errors.add($0) }
  }

  /// The same data in a new workspace, if the engine supports two; otherwise this workspace.
  public func reopened() -> TemporaryWorkspace {
    another.map { TemporaryWorkspace($0(), self) } ?? self
  }

  /// The faults in the stored data of a type, one line each; empty if everything is sound and the
  /// indexes are complete.
  public func faults(of schema: EntitySchema) throws -> [String] { try findFaults(schema) }

  /// Puts the indexes of a type into the state that is tested with this engine.
  public func disturbIndexes(
    of schema: EntitySchema, using random: inout SeededGenerator
  ) throws {
    try disturb(schema, &random)
  }
}

/// Runs `body` with an empty workspace.
public func withTemporaryWorkspace<R>(
  _ engine: TestEngine = .sqlite, settings: TestSettings = TestSettings(),
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (TemporaryWorkspace) throws -> R
) throws -> R {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let workspace = TemporaryWorkspace(engine.make(directory, settings))
  defer { workspace.finish(sourceLocation) }
  return try body(workspace)
}

/// Runs `body` with an empty workspace.
public func withTemporaryWorkspace<R>(
  _ engine: TestEngine = .sqlite, settings: TestSettings = TestSettings(),
  sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (TemporaryWorkspace) async throws -> R
) async throws -> R {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  let workspace = TemporaryWorkspace(engine.make(directory, settings))
  defer { workspace.finish(sourceLocation) }
  return try await body(workspace)
}

/// Creates a new empty directory.
public func makeTemporaryDirectory() throws -> String {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent(
    "dflat-\(UInt64.random(in: 0...UInt64.max))")
  try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  return url.path
}

/// Calls `body` with the place of a file that does not exist.
public func withTemporaryPath(_ body: (URL) throws -> Void) throws {
  let directory = try makeTemporaryDirectory()
  defer { try? FileManager.default.removeItem(atPath: directory) }
  try body(URL(fileURLWithPath: directory + "/result"))
}
