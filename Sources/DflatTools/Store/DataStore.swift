// DataStore: objects that tools look at, in a file or in a database of a server.
//
//  - What a kind of store must know is small: its types, what it has of them, a workspace that
//    reads it, how it is checked, and whether anything was committed. Questions, changes, export,
//    comparison and watching are written once, over that.
//  - Questions are answered as in programs: a type has the same entity schema as generated code.

public import Dflat

/// Objects that tools look at: those of a ``DataFile``, or of a database on a server.
public protocol DataStore: Sendable {
  /// The path of the file, or the address of the database without its password.
  var path: String { get }
  /// The types with a table, in the order of their names, as they were when the store was opened,
  /// or at the last ``refresh()``.
  var types: [StoredType] { get }
  /// Finds the types that programs have begun to store since it was opened.
  /// - Throws: ``ToolError`` if it cannot be read.
  func refresh() throws
  /// Closes it. Waits for calls on other threads.
  func close()
  /// Whether objects can be changed; see ``commit(_:replacing:)``.
  var isWritable: Bool { get }

  /// What it could not read since it was opened, and has left out of answers: damaged objects, each
  /// once, the first hundred. Empty for a program's workspace, which reports to its own error hook.
  var problems: [String] { get }

  /// What ``information(countingAll:)`` gives.
  associatedtype Information: StoreInformation
  /// What it has.
  /// - Parameter countingAll: Whether to count the objects of large tables, too.
  /// - Throws: ``ToolError`` if it cannot be read.
  func information(countingAll: Bool) throws -> Information
  /// Checks it without changing anything, beside running programs.
  /// - Parameters:
  ///   - limit: How many findings are reported at most.
  ///   - stop: Ends it soon, with an error; nil for nothing.
  ///   - progress: Called now and then with how far it is.
  /// - Throws: ``ToolError`` if it cannot be read.
  func check(
    limit: Int, until stop: StopSignal?, _ progress: (@Sendable (CheckProgress) -> Void)?
  ) throws -> CheckReport

  /// For this library: whether it is there; the file of a workspace appears with its first
  /// transaction.
  var _isThere: Bool { get }
  /// For this library: the workspace that reads it.
  var _workspace: any Workspace { get }
  /// For this library: rows of a type of which nothing is known but the bytes, in the order of
  /// their ids; those with a key, if one is given.
  func _objectsWithoutSchema(
    of type: StoredType, key: [String]?, after id: Int64?, limit: Int
  ) throws -> [StoredObject]
  /// For this library: tells whether anything was committed. It is used by one thread.
  func _commitMarks() -> StoreCommits
}

/// What a store has, whatever it is: a file (``FileInformation``), or a database on a server.
///
/// It is encoded with the names of its properties.
public protocol StoreInformation: Sendable, Encodable {
  /// The types with a table, in the order of their names.
  var types: [TypeInformation] { get }
}

/// For ``DataStore``: tells whether anything was committed since the last look.
public struct StoreCommits {
  let mark: () throws -> AnyHashable?
  let close: () -> Void

  /// - Parameters:
  ///   - mark: Differs from an earlier one if anything was committed in between; nil if that is not
  ///     known.
  ///   - close: Gives up what it needs.
  package init(mark: @escaping () throws -> AnyHashable?, close: @escaping () -> Void = {}) {
    self.mark = mark
    self.close = close
  }
}

extension DataStore {
  var core: WorkspaceCore { _workspace._core }

  /// The type with a name: `Post`, `Blog.Post`, or the name of its table.
  /// - Throws: ``ToolError`` if there is none, or several.
  public func type(named name: String) throws -> StoredType {
    try StoredType.named(name, among: types, of: path)
  }
}
