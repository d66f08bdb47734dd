// LiveQuery: a result that is always up to date, for SwiftUI and for Swift's Observation framework.

public import Dispatch
public import Observation
import Platform

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
  private struct State {
    var shown: FetchedResult<Element>
    /// The result to show, once the queue runs the update.
    var newest: FetchedResult<Element>?
    var subscription: (any WorkspaceSubscription)?
  }

  private let registrar = ObservationRegistrar()
  private let state: Mutex<State>
  private let queue: DispatchQueue?

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
    self.queue = queue
    state = Mutex(State(shown: fetchedResult))
    let subscription = workspace.subscribe(fetchedResult: fetchedResult) { [weak self] result in
      self?.take(result)
    }
    state.withLock { $0.subscription = subscription }
  }

  /// The objects as they are now.
  public var result: FetchedResult<Element> {
    registrar.access(self, keyPath: \.result)
    return state.withLock { $0.shown }
  }

  private func take(_ result: FetchedResult<Element>) {
    let isFirst = state.withLock { state in
      defer { state.newest = result }
      return state.newest == nil
    }
    // An update that is already queued shows the newest result.
    guard isFirst else { return }
    guard let queue else { return show() }
    queue.async { [weak self] in self?.show() }
  }

  private func show() {
    registrar.withMutation(of: self, keyPath: \.result) {
      state.withLock { state in
        if let newest = state.newest.take() { state.shown = newest }
      }
    }
  }
}
