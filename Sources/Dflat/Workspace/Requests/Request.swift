// Request: a question to a workspace as a value.
//
// There are many kinds of questions, and some ways to ask each. Every kind is one type, or one
// function that returns `some Request`, and says in its form how it is read and how it follows the
// data. Every way is written once, over all kinds: `fetch` and `explain` here, handlers and streams
// in Workspace+Requests.swift, `LiveValue` for Swift's Observation, `Fetched` for SwiftUI, and
// `RequestPublisher` for Combine.

/// A question to a workspace, as a value: objects, a count, groups, objects with related ones.
///
///     let open = dflat.query(Issue.self).where(Issue.isOpen)       // objects
///     let number = open.computing(.count)                          // a number
///     let busy = open.grouped(by: Issue.owner, .count)             // groups
///     let owners = open.including(Issue.owner)                     // objects with related ones
///
/// The same can be done with all of them:
///
///     let now = try number.fetch()
///     print(try number.explain())
///     subscription = dflat.subscribe(number) { badge.show($0) }
///     subscription = dflat.subscribe(number, on: .main) { badge.text = "\($0)" }
///     for await number in dflat.values(of: number) { … }
///     let live = try LiveValue(number)                             // for Swift's Observation
///
/// A request that is followed gives the answer that it has at the subscription's position in the
/// order of transactions, and then each other one. ``explain()`` says how it follows the data; see
/// ``QueryExplanation/following``.
///
/// The queries of this library conform. Programs add no conformances.
public protocol Request<Answer>: Sendable {
  /// What the workspace answers.
  associatedtype Answer: Sendable
  /// The question as Dflat uses it.
  var _form: RequestForm<Answer> { get }
}

/// What Dflat does with a request. Programs cannot look inside.
public struct RequestForm<Answer: Sendable>: Sendable {
  typealias Handler = @Sendable (Answer) -> Void

  let core: WorkspaceCore
  /// Answers the question where the program is: in a transaction, in a snapshot, or outside.
  let fetch: @Sendable () throws -> Answer
  let explain: @Sendable () throws -> [QueryExplanation]
  /// Calls a handler with the current answer, and with each other one. It holds no workspace.
  let follow: @Sendable (WorkspaceCore, @escaping Handler) -> any WorkspaceSubscription

  /// The form; it is a programmer error to follow it in another workspace.
  func requireUse(in core: WorkspaceCore) -> Self {
    require(
      self.core === core,
      "a request of one workspace was followed in another: follow it in the one that made its query"
    )
    return self
  }

  /// The form of a request whose answer is made from this one's.
  func map<Other: Sendable>(
    _ transform: @escaping @Sendable (Answer) -> Other,
    fetch: @escaping @Sendable () throws -> Other
  ) -> RequestForm<Other> {
    let follow = follow
    return RequestForm<Other>(
      core: core, fetch: fetch, explain: explain,
      follow: { core, handler in derivedSubscription(transform, handler) { follow(core, $0) } })
  }
}

extension RequestForm {
  /// The form of a request that is asked again after each transaction over some types.
  /// - Parameters:
  ///   - types: The types that the answer depends on.
  ///   - reason: Why it is not maintained.
  ///   - read: Reads what the answer is made of, in a snapshot.
  ///   - isSame: Whether nothing has changed between two readings.
  ///   - answer: Makes the answer.
  init<Reading: Sendable>(
    askingAgain core: WorkspaceCore, about types: [EntitySchema], because reason: String,
    fetch: @escaping @Sendable () throws -> Answer,
    explain: @escaping @Sendable () throws -> [QueryExplanation],
    read: @escaping @Sendable (WorkspaceCore) throws -> Reading,
    isSame: @escaping @Sendable (Reading, Reading) -> Bool,
    answer: @escaping @Sendable (Reading) -> Answer
  ) {
    self.init(
      core: core, fetch: fetch,
      explain: { try explain().map { $0.askedAgain(because: reason) } },
      follow: { core, handler in
        derivedSubscription(answer, handler) { core.follow(types, read, isSame: isSame, $0) }
      })
  }
}

extension Request {
  /// Answers the request now.
  ///
  /// Inside a transaction it sees the transaction's own changes; inside a snapshot, the snapshot's
  /// state; otherwise everything committed when it begins.
  /// - Throws: `StorageError`; `WorkspaceError`; `FunctionError`; `QueryError` for a question that
  ///   has no answer; `CancellationError` in a `read` whose task was cancelled.
  public func fetch() throws -> Answer { try _form.fetch() }

  /// Explains how `fetch` would be executed now: one explanation for each query that it takes.
  ///
  ///     print(try open.grouped(by: Issue.owner, .count).explain())
  ///
  /// - Throws: The same errors as `fetch`.
  public func explain() throws -> [QueryExplanation] { try _form.explain() }
}

extension QueryExplanation {
  /// How an answer that is watched follows the data.
  public enum Following: Sendable {
    /// The answer is maintained from what each transaction has changed. It is delivered once for
    /// each transaction that changes it, before the transaction's completion handler.
    case maintained
    /// The question is asked again after each transaction that has changed one of its types: its
    /// answer depends on more than the changed objects. It is delivered soon after the completion
    /// handler, perhaps once for several transactions. ``reasonToAskAgain`` says why.
    case askedAgain
  }

  func askedAgain(because reason: String) -> Self {
    var explanation = self
    explanation.following = .askedAgain
    explanation.reasonToAskAgain = reason
    return explanation
  }
}

/// A request that is nothing but its form.
struct FormedRequest<Answer: Sendable>: Request {
  let _form: RequestForm<Answer>
}
