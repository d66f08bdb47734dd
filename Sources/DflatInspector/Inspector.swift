// Inspector: the page that shows a file or a database, from its start to its end.

import Dflat
public import DflatTools
import Foundation
import Platform
public import SQLiteDflat

/// Shows a file, or a database on a server, in a browser: types, objects, queries, what is
/// committed as it happens, and its health.
///
///     let inspector = try Inspector.start(workspace)
///     print(inspector.address)
///
/// It listens on this machine only, on a port that the system chooses. The address opens the page
/// once; the page is worth one session of one browser. `dflat serve FILE` does the same without a
/// program of your own.
///
/// Nothing can be changed unless it is started with `allowsChanges`. Then the page stores an object
/// after it has shown what differs, in a transaction that the program's observers see.
///
/// It answers on threads of its own. It may be used from any thread.
public final class Inspector: Sendable {
  /// The address of the page, with the token that opens it once.
  public let address: String
  /// The port on this machine.
  public let port: UInt16
  /// What it shows: the path of the file, or the address of the database without its password.
  public var path: String { store.path }
  private let store: any DataStore
  private let answers: Answers
  private let server: HTTPServer
  private let isStopped = Mutex(false)

  /// Shows the file of a workspace, which is read and changed by the workspace.
  ///
  /// - Parameters:
  ///   - workspace: The workspace. Stop the inspector before it is shut down.
  ///   - allowsChanges: Whether the page can change objects.
  ///   - schemas: Paths of `.fbs` files, for types whose schema the file does not keep.
  /// - Throws: `ToolError` if the file cannot be read, a schema has errors, changes are allowed and
  ///   the workspace was opened for reading only, or the system refuses a port.
  public static func start(
    _ workspace: SQLiteWorkspace, allowsChanges: Bool = false, schemas: [String] = []
  ) throws -> Inspector {
    try Inspector(DataFile(of: workspace, schemas: schemas), allowsChanges: allowsChanges)
  }

  /// Shows a file. Programs may use it at the same time. Unless changes are allowed, reading leaves
  /// no trace.
  ///
  /// - Parameters:
  ///   - path: The file. It must exist.
  ///   - allowsChanges: Whether the page can change objects.
  ///   - schemas: Paths of `.fbs` files, for types whose schema the file does not keep.
  /// - Throws: `ToolError` if there is no such file, it cannot be read, a schema has errors, or the
  ///   system refuses a port.
  public static func start(
    file path: String, allowsChanges: Bool = false, schemas: [String] = []
  ) throws -> Inspector {
    try start(
      allowsChanges
        ? DataFile.openForChanges(path, schemas: schemas)
        : DataFile.open(path, schemas: schemas, readerLimit: 4),
      allowsChanges: allowsChanges)
  }

  /// Shows a file, or a database on a server, that is open already.
  ///
  /// - Parameters:
  ///   - store: The file or the database. It is closed when the inspector stops, and also if this
  ///     throws.
  ///   - allowsChanges: Whether the page can change objects.
  /// - Throws: `ToolError` if changes are allowed and it was opened for reading only, or the system
  ///   refuses a port.
  public static func start(_ store: any DataStore, allowsChanges: Bool = false) throws -> Inspector
  {
    do { return try Inspector(store, allowsChanges: allowsChanges) } catch {
      store.close()
      throw error
    }
  }

  init(
    _ store: any DataStore, allowsChanges: Bool, limits: HTTPLimits = HTTPLimits()
  ) throws {
    if allowsChanges, !store.isWritable {
      throw ToolError(
        .usage, "\(store.path) was opened for reading only",
        advice: "start the inspector without changes, or open it for writing")
    }
    self.store = store
    answers = Answers(store, allowsChanges: allowsChanges)
    server = HTTPServer(answers, limits: limits)
    guard let port = server.start() else {
      throw ToolError(.storage, "the system refuses a port on this machine")
    }
    self.port = port
    answers.gate.setPort(port)
    address = "http://127.0.0.1:\(port)/?token=\(answers.gate.token)"
  }

  /// Ends it: changes that have begun are committed, questions that are being answered are given
  /// up, and no other is answered. Calling it again has no effect.
  public func stop() {
    let isFirst = isStopped.withLock { isStopped -> Bool in
      defer { isStopped = true }
      return !isStopped
    }
    if !isFirst { return }
    answers.stop()
    server.stop()
    store.close()
  }

  deinit { stop() }
}
