// WorkspaceError: a workspace was used incorrectly.
//
// A function that can throw throws such an error; any other stops the program.

package import StandardConformances

/// A call that a workspace refuses regardless of the stored data.
public enum WorkspaceError: AdvisedError, Sendable, Equatable {
  /// The workspace was shut down before the call.
  case shutDown
  /// A transaction named no entity type and used no dictionary.
  case noTypes
  /// A transaction used a type, given here, that is not in its list.
  case undeclaredType(String)
  /// A context was used after its closure had returned.
  case escapedContext
  /// A request was submitted again after it had succeeded.
  case spentRequest
  /// A transaction would wait for itself.
  ///
  /// It was called inside a running transaction that names one of its types. Or it is synchronous
  /// and was called in a transaction, callback or completion handler of the workspace, or on its
  /// `targetQueue`.
  case nestedWrite
  /// A ``Function`` of a query used a workspace.
  case calledByFunction

  package var problem: String {
    switch self {
    case .shutDown: "the workspace was shut down before this call"
    case .noTypes: "write(_:) was called without an entity type, and its closure used no dictionary"
    case .undeclaredType(let name):
      "\(name) was used in a transaction that does not name it in its list of types"
    case .escapedContext: "a transaction's context was used after its closure had returned"
    case .spentRequest: "a change request was submitted again after it had succeeded"
    case .calledByFunction: "a function of a query used a workspace while the query ran"
    case .nestedWrite:
      "write(_:) was called where it would wait for itself: in another transaction, in a callback, or "
        + "on the targetQueue of the workspace"
    }
  }

  package var advice: String? {
    switch self {
    case .shutDown: "call it before shutdown(), or make another workspace"
    case .noTypes: "name the types that it fetches or changes: write(Post.self) { … }"
    case .undeclaredType(let name): "add \(name).self to the list: write(\(name).self, …) { … }"
    case .escapedContext: "use it inside the closure only"
    case .spentRequest: "make a request for each change"
    case .calledByFunction:
      "fetch what the function needs before the query, and let its closure capture it"
    case .nestedWrite: "use the current context, or call it later"
    }
  }
}
