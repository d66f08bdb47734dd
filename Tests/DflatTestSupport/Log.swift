// Log: records the events of handlers, for tests that wait for them.

public import Dflat
import Dispatch
import Platform
public import Testing

/// The events of handlers, in order.
public final class Log<Event: Sendable>: Sendable {
  private let state = Mutex<[Event]>([])
  private let told = DispatchSemaphore(value: 0)

  /// Creates an empty log.
  public init() {}

  /// Adds an event.
  public func add(_ event: Event) {
    state.withLock { $0.append(event) }
    told.signal()
  }

  /// The events so far.
  public var events: [Event] { state.withLock { $0 } }

  /// Waits for this many events beyond those that were waited for before.
  public func wait(_ count: Int = 1, sourceLocation: SourceLocation = #_sourceLocation) {
    for _ in 0..<count {
      if !told.expect("an event", sourceLocation: sourceLocation) { return }
    }
  }
}

extension TestWorkspace {
  /// Waits until all earlier changes of posts are delivered.
  public func settle() throws { try write([Post.self]) { _ in } }

  /// Logs the numbers of the posts in a result, after each change.
  public func watch(_ result: FetchedResult<Post>, _ log: Log<[Int32]>) -> any WorkspaceSubscription
  {
    workspace.subscribe(fetchedResult: result) { log.add($0.map(\.number)) }
  }

  /// Logs the likes of a post after each change, and nil when it is deleted.
  public func watch(_ post: Post, _ log: Log<Int32?>) -> any WorkspaceSubscription {
    workspace.subscribe(object: post) { event in
      if case .updated(let post) = event { log.add(post.likes) } else { log.add(nil) }
    }
  }
}
