// LiveQuery: a result that is always up to date, for SwiftUI and for Swift's observation.

public import Dispatch
public import Observation
import Platform

/// A result that follows the data, and tells Swift's observation when it has changed.
///
///     struct Popular: View {
///       @State var posts = LiveQuery(dflat.fetch(for: Post.self).where(Post.likes > 100), in: dflat)
///       var body: some View { List(posts.result) { Text($0.title) } }
///     }
///
/// In other programs `withObservationTracking` tells of the next change. The query is watched as long as the object lives.
public final class LiveQuery<Element: Atom & Equatable>: Observable, Sendable {
  private struct State {
    var shown: FetchedResult<Element>
    /// What is to be shown, once the queue comes to it.
    var newest: FetchedResult<Element>?
    var subscription: (any WorkspaceSubscription)?
  }

  private let registrar = ObservationRegistrar()
  private let state: Mutex<State>
  private let queue: DispatchQueue?

  /// Follows a result.
  ///
  /// - Parameters:
  ///   - fetchedResult: What to begin with, a result of a workspace. One that was made by hand is a programmer error.
  ///   - workspace: Where it is watched. It is not kept alive.
  ///   - queue: Where `result` changes, a serial queue: the main one, for views, unless another is given. With nil it changes
  ///     where callbacks run, so before the completion handler of the transaction that has changed it.
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
    // One that waits already shows the newest.
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
