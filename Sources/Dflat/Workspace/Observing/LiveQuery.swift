// LiveQuery: a result that is always up to date.

public import Dispatch

/// A result that follows the data, and notifies Swift's Observation when it has changed.
///
///     struct Popular: View {
///       @State var posts = LiveQuery(
///         dflat.fetch(for: Post.self).where(Post.likes > 100), in: dflat)
///       var body: some View { List(posts.result) { Text($0.title) } }
///     }
public typealias LiveQuery<Element: Atom & Equatable> = LiveValue<FetchedResult<Element>>

extension LiveValue {
  /// Follows a result that was fetched.
  ///
  /// - Parameters:
  ///   - fetchedResult: The first result. It must come from a workspace: it is a programmer error
  ///     to pass a result that the program built itself.
  ///   - workspace: The workspace to observe. It is not kept alive.
  ///   - queue: The queue on which `result` changes, as for a request.
  public convenience init<Element: Atom & Equatable>(
    _ fetchedResult: FetchedResult<Element>, in workspace: some Workspace,
    on queue: DispatchQueue? = .main
  ) where Value == FetchedResult<Element> {
    self.init(fetchedResult, on: queue) { handler in
      workspace.subscribe(fetchedResult: fetchedResult, changeHandler: handler)
    }
  }

  /// The objects as they are now: the same as `value`.
  public var result: Value { value }
}
