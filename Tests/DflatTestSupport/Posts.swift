// Shorthands to store posts.

public import Dflat
import Dispatch
import Testing

/// A post of a blog.
public typealias Post = Blog.Post

/// A post of the site "s".
public func post(
  _ number: Int32, likes: Int32 = 0, photo: String? = nil, link: String? = nil
) -> Post {
  Post(
    site: "s", number: number, likes: likes,
    attachment: photo.map { .photo(Blog.Photo(path: $0)) }
      ?? link.map { .link(Blog.Link(url: $0)) })
}

extension TestWorkspace {
  /// Stores new posts and returns them with their row ids. Throws if the transaction is not
  /// committed.
  @discardableResult
  public func store(_ posts: [Post]) throws -> [Post] {
    let outcome = try write([Post.self]) { txn in
      try posts.map { try txn.insert(Blog.PostChangeRequest.creationRequest($0)) }
    }
    guard let stored = outcome.result, outcome.isCommitted else {
      throw NotCommitted(errors: takeErrors())
    }
    return stored
  }

  /// Changes one stored post.
  @discardableResult
  public func change(
    _ number: Int32, _ body: @escaping (Blog.PostChangeRequest) -> Void
  ) throws -> UpdatedObject<Post>? {
    try write([Post.self]) { txn in
      guard let request = Blog.PostChangeRequest.changeRequest(post(number)) else { return nil }
      body(request)
      return try txn.submit(request)
    }.result ?? nil
  }

  /// Removes stored posts.
  public func remove(_ numbers: [Int32]) throws {
    try write([Post.self]) { txn in
      for number in numbers {
        if let request = Blog.PostChangeRequest.deletionRequest(post(number)) {
          try txn.submit(request)
        }
      }
    }
  }

  /// Enqueues transactions without waiting for each other, while their queue is blocked, so that
  /// they run as one group.
  public func together(
    _ count: Int, of types: [Any.Type] = [Post.self],
    _ handler: @escaping @Sendable (Int, any TransactionContext) -> Void,
    _ completion: @escaping @Sendable (Int, Bool) -> Void = { _, _ in }
  ) {
    let gate = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    workspace.performChanges(types, changesHandler: { _ in gate.wait() })
    for number in 0..<count {
      workspace.performChanges(
        types, changesHandler: { handler(number, $0) },
        completionHandler: {
          completion(number, $0)
          if number == count - 1 { done.signal() }
        })
    }
    gate.signal()
    done.expect("the last completion")
  }

  /// A query for posts.
  public var posts: QueryBuilder<Post> { workspace.fetch(for: Post.self) }
}

extension TemporaryWorkspace {
  /// The faults of the stored posts.
  public func faults() throws -> [String] { try faults(of: Post._schema) }
}

extension TemporaryFile {
  /// The faults of the file with regard to posts.
  public func faults(complete: Bool = true) throws -> [String] {
    try unsoundness(of: Post._schema, foreignConnection(), complete: complete)
  }
}
