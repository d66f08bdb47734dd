// Short ways to store posts.

import Dflat
import DflatTestSupport
import Dispatch
import SQLiteDflat
import Testing

typealias Post = Blog.Post

/// A post under the site "s".
func post(
  _ number: Int32, likes: Int32 = 0, photo: String? = nil, link: String? = nil
) -> Post {
  Post(
    site: "s", number: number, likes: likes,
    attachment: photo.map { .photo(Blog.Photo(path: $0)) }
      ?? link.map { .link(Blog.Link(url: $0)) })
}

extension TemporaryWorkspace {
  /// Stores new posts; they come back with their row ids. Throws if the transaction is not committed.
  @discardableResult
  func store(_ posts: [Post]) throws -> [Post] {
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
  func change(
    _ number: Int32, _ body: @escaping (Blog.PostChangeRequest) -> Void
  ) throws -> UpdatedObject<Post>? {
    try write([Post.self]) { txn in
      guard let request = Blog.PostChangeRequest.changeRequest(post(number)) else { return nil }
      body(request)
      return try txn.submit(request)
    }.result ?? nil
  }

  func remove(_ numbers: [Int32]) throws {
    try write([Post.self]) { txn in
      for number in numbers {
        if let request = Blog.PostChangeRequest.deletionRequest(post(number)) {
          try txn.submit(request)
        }
      }
    }
  }

  /// Issues transactions without waiting for one another, while the line is held up, so that they run together.
  func together(
    _ count: Int, of types: [Any.Type] = [Post.self],
    _ handler: @escaping @Sendable (Int, any TransactionContext) -> Void,
    _ completion: @escaping @Sendable (Int, Bool) -> Void = { _, _ in }
  ) {
    let gate = DispatchSemaphore(value: 0)
    let done = DispatchSemaphore(value: 0)
    dflat.performChanges(types, changesHandler: { _ in gate.wait() })
    for number in 0..<count {
      dflat.performChanges(
        types, changesHandler: { handler(number, $0) },
        completionHandler: {
          completion(number, $0)
          if number == count - 1 { done.signal() }
        })
    }
    gate.signal()
    done.expect("the last completion")
  }

  var posts: QueryBuilder<Post> { dflat.fetch(for: Post.self) }

  /// What is wrong with the file, as far as posts are concerned.
  func faults(complete: Bool = true) throws -> [String] {
    try unsoundness(of: Post._schema, foreignConnection(), complete: complete)
  }
}

/// Runs `body` on another thread and waits for it.
func onAnotherThread(_ body: @escaping @Sendable () -> Void) {
  let done = DispatchSemaphore(value: 0)
  DispatchQueue.global().async {
    body()
    done.signal()
  }
  done.expect("the end of what runs on another thread")
}
