// WorkspaceError: a workspace was used in a way that cannot work.
//
// Where a function can throw, such a mistake is thrown; where it cannot, it stops the program.

/// A call that a workspace refuses, whatever is stored.
public enum WorkspaceError: Error, Sendable, Equatable, CustomStringConvertible {
  /// The workspace was shut down before the call.
  case shutDown
  /// A transaction was to be run without any type.
  case noTypes
  /// A transaction used a type, named here, that is not in its list.
  case undeclaredType(String)
  /// A context was used after its closure had returned.
  case escapedContext
  /// A transaction would wait for itself.
  ///
  /// It was called from within one that is still running and has one of its types. Or it is a
  /// synchronous one, and was called in any transaction, callback or completion handler of the
  /// workspace, or on its `targetQueue`.
  case nestedWrite

  /// What is wrong, and what to do.
  public var description: String {
    switch self {
    case .shutDown: "the workspace was shut down before this call"
    case .noTypes: "a transaction names at least one entity type: write(Post.self) { … }"
    case .undeclaredType(let name):
      "\(name) is not in the transaction's list of types: add \(name).self to it"
    case .escapedContext:
      "a context was used after its closure had returned: use it inside the closure only"
    case .nestedWrite:
      "a transaction was called where it would wait for itself, in another one or in a callback: "
        + "use the context that is there, or call it later"
    }
  }
}
