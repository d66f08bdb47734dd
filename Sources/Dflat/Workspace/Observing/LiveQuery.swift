// LiveQuery: a result that is always up to date, for SwiftUI and for Swift's Observation framework.

public import Dispatch
public import Observation

/// A result that follows the data, and notifies Swift's Observation when it has changed.
///
///     struct Popular: View {
///       @State var posts = LiveQuery(
///         dflat.fetch(for: Post.self).where(Post.likes > 100), in: dflat)
///       var body: some View { List(posts.result) { Text($0.title) } }
///     }
///
/// Other programs use `withObservationTracking` to learn of the next change. The query is observed
/// as long as the object exists.
public final class LiveQuery<Element: Atom & Equatable>: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let shown: ShownValue<FetchedResult<Element>>

  /// Follows a result.
  ///
  /// - Parameters:
  ///   - fetchedResult: The first result. It must come from a workspace: it is a programmer error
  ///     to pass a result that the program built itself.
  ///   - workspace: The workspace to observe. It is not kept alive.
  ///   - queue: The queue on which `result` changes. It must be serial; the default is the main
  ///     queue, for views. With nil, `result` changes where callbacks run, and so before the
  ///     completion handler of the transaction that has changed it.
  public init(
    _ fetchedResult: FetchedResult<Element>, in workspace: some Workspace,
    on queue: DispatchQueue? = .main
  ) {
    shown = ShownValue(fetchedResult, on: queue)
    let subscription = workspace.subscribe(fetchedResult: fetchedResult) { [weak self] result in
      self?.take(result)
    }
    shown.keep(subscription)
  }

  /// The objects as they are now.
  public var result: FetchedResult<Element> {
    registrar.access(self, keyPath: \.result)
    return shown.value
  }

  private func take(_ result: FetchedResult<Element>) {
    shown.take(result) { [weak self] in self?.show() }
  }

  private func show() {
    registrar.withMutation(of: self, keyPath: \.result) { shown.advance() }
  }
}
