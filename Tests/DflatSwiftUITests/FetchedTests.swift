// The property wrapper for SwiftUI, in views that a stand-in renders.

import Dflat
import DflatSwiftUI
import DflatTestSupport
import Dispatch
import Platform
import SwiftUI
import Testing

@Suite("Properties of views")
struct FetchedTests {
  @MainActor private struct Popular: View {
    @Fetched private var posts: FetchedResult<Post>
    @Fetched({ $0.query(Post.self).computing(.count) }) private var number = -1
    @Fetched({ $0.query(Post.self).orderBy(Post.likes.descending).firstObject })
    private var best: Post? = nil

    init(above likes: Int32) {
      _posts = Fetched(
        Post.self, where: Post.likes > likes, limit: 3, orderBy: [Post.likes.descending])
    }

    var body: String {
      "\(posts.map(\.likes)) of \(number), best \(best?.likes ?? -1)"
    }
  }

  @MainActor private final class Shown {
    var texts: [String] = []
    var likes: Int32 = 1
  }

  /// Returns when the main queue has run what it had to.
  @MainActor private func settle() async {
    // A change of a live value, and the rendering that follows it.
    for _ in 0..<3 {
      await withCheckedContinuation { done in DispatchQueue.main.async { done.resume() } }
    }
  }

  private func store(_ likes: Int32..., in dflat: any Workspace) async throws {
    try await dflat.write(Post.self) { txn in
      for likes in likes {
        try txn.upsert(post(likes).with { $0.likes = likes })
      }
    }
  }

  @Test("A view shows the answers, and each other one", arguments: [TestEngine.memory, .sqlite])
  func follows(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { try await follow($0.dflat) }
  }

  @MainActor
  private func follow(_ dflat: any Workspace) async throws {
    try await store(1, 2, 5, in: dflat)
    let shown = Shown()
    var environment = EnvironmentValues()
    environment.dflat = dflat
    let host = Host(environment, { Popular(above: shown.likes) }) { shown.texts.append($0) }
    #expect(shown.texts == ["[5, 2] of 3, best 5"])
    try await store(9, in: dflat)
    await settle()
    #expect(shown.texts.last == "[9, 5, 2] of 4, best 9")
    // The same request is not asked again when the view is made again; another one is.
    shown.likes = 4
    host.render()
    #expect(shown.texts.last == "[9, 5] of 4, best 9")
    try await store(7, in: dflat)
    await settle()
    #expect(shown.texts.last == "[9, 7, 5] of 5, best 9")
  }

  @Test("Without a workspace a view shows what the program says, and another one is followed")
  func workspaces() async throws {
    try await withTemporaryWorkspace(.memory) { one in
      try await withTemporaryWorkspace(.memory) { other in
        try await change(one, other)
      }
    }
  }

  @MainActor
  private func change(_ one: TemporaryWorkspace, _ other: TemporaryWorkspace) async throws {
    try await store(3, in: one.dflat)
    try await store(8, 9, in: other.dflat)
    let shown = Shown()
    let host = Host(EnvironmentValues(), { Popular(above: 1) }) { shown.texts.append($0) }
    #expect(shown.texts == ["[] of -1, best -1"])
    host.environment.dflat = one.dflat
    host.render()
    #expect(shown.texts.last == "[3] of 1, best 3")
    host.environment.dflat = other.dflat
    host.render()
    #expect(shown.texts.last == "[9, 8] of 2, best 9")
    await settle()
    let count = shown.texts.count
    try await store(4, in: one.dflat)
    await settle()
    #expect(shown.texts.count == count)
  }

  @MainActor private struct Failing: View {
    @Fetched({ $0.query(Post.self).limit(-1) }) private var posts = FetchedResult<Post>([])
    var body: String { "\(posts.count) \($posts.error.map { "\(type(of: $0))" } ?? "-")" }
  }

  @MainActor private struct Checked: View {
    nonisolated static let isDown = Mutex(true)
    nonisolated static let check = Function("check") { (likes: Int32) throws -> Bool in
      if isDown.withLock(\.self) { throw CancellationError() }
      return likes > 0
    }

    @Fetched(Post.self, where: Self.check(Post.likes)) private var posts
    var body: String { "\(posts.count) \($posts.error == nil ? "-" : "error")" }
  }

  @Test("A request that has failed is tried again when the view is rendered")
  func again() async throws {
    try await withTemporaryWorkspace(.memory) { try await retry($0) }
  }

  @MainActor
  private func retry(_ workspace: TemporaryWorkspace) async throws {
    try await store(3, in: workspace.dflat)
    let shown = Shown()
    var environment = EnvironmentValues()
    environment.dflat = workspace.dflat
    let host = Host(environment, { Checked() }) { shown.texts.append($0) }
    #expect(shown.texts == ["0 error"])
    Checked.isDown.withLock { $0 = false }
    host.render()
    #expect(shown.texts.last == "1 -")
    try await store(4, in: workspace.dflat)
    await settle()
    #expect(shown.texts.last == "2 -")
    _ = workspace.takeErrors()
  }

  @Test("An error is the property's")
  func errors() async throws {
    try await withTemporaryWorkspace(.memory) { try await fail($0) }
  }

  @MainActor
  private func fail(_ workspace: TemporaryWorkspace) async throws {
    let shown = Shown()
    var environment = EnvironmentValues()
    environment.dflat = workspace.dflat
    let host = Host(environment, { Failing() }) { shown.texts.append($0) }
    #expect(shown.texts == ["0 QueryError"])
    withExtendedLifetime(host) {}
  }
}
