// Fetched: a property of a SwiftUI view that follows a request.
//
// On Linux only the tests build this folder, as a module of its own and against a stand-in for
// SwiftUI (Tests/SwiftUI).

#if canImport(SwiftUI)
  public import SwiftUI
  #if os(Linux)
    public import Dflat
  #endif

  /// The answer to a request, as a property of a view. The view is rendered again when the answer
  /// has changed.
  ///
  ///     struct Popular: View {
  ///       @Fetched(Post.self, where: Post.likes > 100, orderBy: [Post.likes.descending]) var posts
  ///       @Fetched({ $0.query(Post.self).computing(.count) }) var number = 0
  ///
  ///       var body: some View {
  ///         List(posts) { Text($0.title) }
  ///         Text("of \(number)")
  ///       }
  ///     }
  ///
  ///     Popular().environment(\.dflat, workspace)
  ///
  /// The workspace comes from the environment. A request whose constants come from the view is made
  /// in the view's initializer: `_posts = Fetched(Post.self, where: Post.feed == feed)`; when they
  /// have changed, the property follows the new request.
  @propertyWrapper
  @MainActor
  public struct Fetched<Value: Sendable>: DynamicProperty {
    @Environment(\.dflat) private var workspace
    @State private var source = FetchedSource<Value>()
    private let initial: Value
    private let question: FetchedQuestion<Value>

    /// Follows a request.
    ///
    /// - Parameters:
    ///   - wrappedValue: What the property is as long as it has no answer: without a workspace in
    ///     the environment, or after an error.
    ///   - request: Makes the request.
    ///   - id: Tells requests apart. If the view is made with another one, the property follows the
    ///     request that `request` makes then.
    public init<R: Request>(
      wrappedValue: Value, _ request: @escaping @Sendable (any Workspace) -> R,
      id: some Hashable & Sendable = 0
    ) where R.Answer == Value {
      initial = wrappedValue
      question = FetchedQuestion(id: { _ in AnyHashable(id) }) { try LiveValue(request($0)) }
    }

    /// Follows the objects that match a condition.
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - condition: Objects for which it is unknown are left out.
    ///   - limit: At most this many, the first ones in `orderBy`.
    ///   - orderBy: Keys from most to least significant; ties are in order of insertion.
    public init<Element: Atom, C: QueryExpression<Bool, Element>>(
      _ type: Element.Type, where condition: C, limit: Int? = nil, orderBy: [OrderBy<Element>] = []
    ) where Value == FetchedResult<Element> {
      self.init(limit: limit, orderBy: orderBy) { $0.query(type).where(condition) }
    }

    /// Follows all objects of a type.
    ///
    /// - Parameters:
    ///   - type: The type of the objects.
    ///   - limit: At most this many, the first ones in `orderBy`.
    ///   - orderBy: Keys from most to least significant; ties are in order of insertion.
    public init<Element: Atom>(
      _ type: Element.Type, limit: Int? = nil, orderBy: [OrderBy<Element>] = []
    ) where Value == FetchedResult<Element> {
      self.init(limit: limit, orderBy: orderBy) { $0.query(type) }
    }

    private init<Element: Atom>(
      limit: Int?, orderBy: [OrderBy<Element>],
      _ query: @escaping @Sendable (any Workspace) -> ObjectQuery<Element>
    ) where Value == FetchedResult<Element> {
      @Sendable func request(_ workspace: any Workspace) -> ObjectQuery<Element> {
        let ordered = query(workspace).orderBy(orderBy)
        return limit.map { ordered.limit($0) } ?? ordered
      }
      initial = FetchedResult([])
      question = FetchedQuestion(id: { AnyHashable(request($0).identity) }) {
        try LiveValue(request($0))
      }
    }

    /// The answer as it is now.
    public var wrappedValue: Value { source.live?.value ?? initial }

    /// The property itself, for its ``error``: `$posts.error`.
    public var projectedValue: Fetched { self }

    /// Why there is no answer; nil if there is one.
    public var error: (any Error)? { source.error }

    /// Called by SwiftUI before it renders the view.
    public nonisolated mutating func update() {
      let property = self
      MainActor.assumeIsolated { property.source.follow(property.question, in: property.workspace) }
    }
  }

  /// How a property makes its request.
  struct FetchedQuestion<Value: Sendable>: Sendable {
    let id: @Sendable (any Workspace) -> AnyHashable
    let live: @Sendable (any Workspace) throws -> LiveValue<Value>
  }

  /// What a property follows, as long as the view exists.
  @MainActor
  final class FetchedSource<Value: Sendable> {
    private(set) var live: LiveValue<Value>?
    private(set) var error: (any Error)?
    private var followed: (workspace: ObjectIdentifier, id: AnyHashable)?

    nonisolated init() {}

    /// Follows a request, unless it is followed already. One that has failed is tried again.
    func follow(_ question: FetchedQuestion<Value>, in workspace: (any Workspace)?) {
      guard let workspace else {
        (live, error, followed) = (nil, nil, nil)
        return
      }
      let wanted = (workspace: workspace.identity, id: question.id(workspace))
      if let followed, followed == wanted { return }
      do { (live, error, followed) = (try question.live(workspace), nil, wanted) } catch {
        (live, self.error, followed) = (nil, error, nil)
      }
    }
  }

  extension EnvironmentValues {
    /// The workspace that ``Fetched`` properties ask.
    public var dflat: (any Workspace)? {
      get { self[WorkspaceKey.self] }
      set { self[WorkspaceKey.self] = newValue }
    }
  }

  private struct WorkspaceKey: EnvironmentKey {
    static var defaultValue: (any Workspace)? { nil }
  }
#endif
