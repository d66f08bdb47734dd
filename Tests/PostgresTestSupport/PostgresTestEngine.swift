// The engine over a server, for tests that run on every engine.

public import DflatTestSupport
import Foundation
public import PostgresDflat

/// Finds the engine by its name; see `TestEngineProvider`.
public final class PostgresTestEngine: TestEngineProvider {
  /// A PostgreSQL schema of its own for each workspace.
  public static let engine: TestEngine = .onServer("PostgreSQL", PostgresTestEngine.self) { _ in }
}

/// Finds the engine by its name; see `TestEngineProvider`.
public final class SharingPostgresTestEngine: TestEngineProvider {
  /// The same, where transactions share commits.
  public static let engine: TestEngine = .onServer(
    "PostgreSQL, shared commits", SharingPostgresTestEngine.self
  ) { $0.sharesCommits = true }
}

extension TestEngine {
  /// Engines without a server, and those over one: all that engine-neutral tests run on. To add an
  /// engine, add it here.
  ///
  /// `DFLAT_ENGINE=PostgreSQL` in the environment leaves out all but the engines with this name.
  /// The server with shared commits is tested if it is named, and in long runs.
  public static func withServers(_ embedded: [TestEngine]) -> [TestEngine] {
    let engines = embedded + [.postgres]
    guard let name = ProcessInfo.processInfo.environment["DFLAT_ENGINE"] else {
      return engines + (isLongRun ? [.postgresSharingCommits] : [])
    }
    return (engines + [.postgresSharingCommits]).filter { $0.testDescription == name }
  }

  /// A PostgreSQL server.
  public static let postgres = PostgresTestEngine.engine

  /// A PostgreSQL server, where transactions share commits.
  public static let postgresSharingCommits = SharingPostgresTestEngine.engine

  fileprivate static func onServer(
    _ name: String, _ provider: any TestEngineProvider.Type,
    _ configure: @escaping @Sendable (inout PostgresWorkspace.Configuration) -> Void
  ) -> TestEngine {
    TestEngine(
      testDescription: name, writesInTasks: false, provider: NSStringFromClass(provider)
    ) { directory, settings in
      let schema = "test_" + (directory.split(separator: "/").last.map(String.init) ?? "")
      @Sendable func make() -> PostgresWorkspace {
        postgresWorkspace(schema: schema) {
          $0.targetQueue = settings.targetQueue
          $0.writeConcurrency = settings.isSerial ? .serial : .concurrent
          configure(&$0)
        }
      }
      return TestEngine.Made(workspace: make(), another: { make() })
    }
  }
}

/// A workspace on the tests' server.
/// - Parameters:
///   - schema: The PostgreSQL schema of its tables.
///   - proxy: The proxy that it connects through; nil for none.
///   - application: The name of its sessions on the server.
///   - configure: Changes the settings.
public func postgresWorkspace(
  schema: String, through proxy: ServerProxy? = nil, application: String = "dflat",
  _ configure: (inout PostgresWorkspace.Configuration) -> Void = { _ in }
) -> PostgresWorkspace {
  var configuration = PostgresWorkspace.Configuration()
  configuration.schema = schema
  configure(&configuration)
  do {
    let url = try proxy?.url ?? TestCluster.shared().url
    return PostgresWorkspace(
      url.setting("application_name", to: application), configuration: configuration)
  } catch {
    fatalError("\(error)")
  }
}
