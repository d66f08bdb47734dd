// Copies that are refused or fail, with an error that says why.

import Dflat
import DflatTestSupport
import Foundation
import Platform
import PostgresTestSupport
import Testing

@Suite("Copies that fail")
struct CopyRefusalTests {
  /// The error of a copy of posts.
  private func error(
    _ source: TemporaryWorkspace, _ target: any Workspace,
    _ progress: (@Sendable (CopyProgress) -> Void)? = nil
  ) async -> CopyError? {
    await #expect(throws: CopyError.self) {
      try await source.dflat.copy(Post.self, to: target, progress: progress)
    }
  }

  @Test("A target with objects or values is left as it is", arguments: EnginePair.all)
  func notEmpty(engines: EnginePair) async throws {
    try await withTwoWorkspaces(engines) { source, target in
      try source.store([post(1)])
      let stored = try target.store([post(7), post(8)])
      guard case .targetNotEmpty(Post._schema.table, 2) = await error(source, target.dflat) else {
        Issue.record("another error")
        return
      }
      #expect(target.dflat.fetch(for: Post.self).all().map { $0 } == stored)
      #expect(target.dflat.dictionary(namespace: "dflat.copy").keys.isEmpty)

      try target.remove([7, 8])
      var values = target.dflat.dictionary
      values["a"] = 1
      target.dflat.dictionary.synchronize()
      guard case .targetNotEmpty(nil, 1) = await error(source, target.dflat) else {
        Issue.record("another error")
        return
      }
      #expect(target.dflat.dictionary["a", Int.self] == 1)
    }
  }

  @Test("A copy onto itself is refused", arguments: TestEngine.all)
  func itself(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      guard case .ontoItself = await error(workspace, workspace.dflat) else {
        Issue.record("another error")
        return
      }
      // Another workspace with the same storage.
      guard case .ontoItself = await error(workspace, workspace.reopened().dflat) else {
        Issue.record("another error")
        return
      }
      #expect(workspace.reopened().dflat.dictionary(namespace: "dflat.copy").keys.isEmpty)
      await #expect(throws: CopyError.self) {
        try await workspace.dflat.copy(types: [], to: workspace.dflat)
      }
    }
  }

  @Test("Two types with one table are refused", arguments: TestEngine.all)
  func oneTable(engine: TestEngine) async throws {
    try await withTwoWorkspaces(EnginePair(source: engine, target: engine)) { source, target in
      let thrown = await #expect(throws: CopyError.self) {
        try await source.dflat.copy(
          Press.Article.self, PRESS.Article.self, to: target.dflat)
      }
      guard case .sameTable(Press.Article._schema.table)? = thrown else {
        Issue.record("\(String(describing: thrown))")
        return
      }
    }
  }

  @Test(
    "Objects that were changed in the target after an interruption are told, and stay",
    arguments: EnginePair.all)
  func changedBetween(engines: EnginePair) async throws {
    try await withTwoWorkspaces(engines) { source, target in
      try source.store((1...900).map { post($0) })
      await #expect(throws: CancellationError.self) {
        try await cancelledCopy(source.dflat, target.dflat, at: .verifying)
      }
      try target.change(5) { $0.likes = 77 }
      guard
        case .targetChanged(Post._schema.table, let expected, let found)? =
          await error(source, target.dflat)
      else {
        Issue.record("another error")
        return
      }
      #expect(expected.count == 900 && found.count == 900 && expected.digest != found.digest)
      #expect(target.dflat.fetch(for: Post.self).where(Post.likes == 77).count == 1)
      // As it was, the copy goes on.
      try target.change(5) { $0.likes = 0 }
      try await source.dflat.copy(Post.self, to: target.dflat)
      try await expectSamePosts(source, target)
    }
  }

  @Test("What differs at the end is found", arguments: EnginePair.all)
  func verification(engines: EnginePair) async throws {
    try await withTwoWorkspaces(engines) { source, target in
      try source.store((1...900).map { post($0) })
      let calls = Atomic(0)
      let thrown = await error(source, target.dflat) { progress in
        guard progress.stage == .verifying else { return }
        if calls.add(1, ordering: .relaxed).newValue > 1 { return }
        do { try target.change(5) { $0.likes = 77 } } catch { Issue.record(error) }
      }
      guard case .verificationFailed(Post._schema.table, let original, let copied)? = thrown else {
        Issue.record("\(String(describing: thrown))")
        return
      }
      #expect(original.count == 900 && copied.count == 900 && original.digest != copied.digest)
    }
  }

  @Test(
    "An error of the switch is thrown, and the copy can be continued", arguments: EnginePair.all)
  func switchOver(engines: EnginePair) async throws {
    struct NotNow: Error {}
    try await withTwoWorkspaces(engines) { source, target in
      try source.store([post(1), post(2)])
      await #expect(throws: NotNow.self) {
        try await source.dflat.copy(Post.self, to: target.dflat, switchOver: { throw NotNow() })
      }
      try source.store([post(3)])
      try source.remove([1])
      try await source.dflat.copy(Post.self, to: target.dflat)
      try await expectSamePosts(source, target)
    }
  }

  @Test("A workspace that is shut down is neither source nor target", arguments: TestEngine.all)
  func shutDown(engine: TestEngine) async throws {
    try await withTwoWorkspaces(EnginePair(source: engine, target: engine)) { first, second in
      await second.dflat.shutdown()
      await #expect(throws: WorkspaceError.shutDown) {
        try await first.dflat.copy(Post.self, to: second.dflat)
      }
      await #expect(throws: WorkspaceError.shutDown) {
        try await second.dflat.copy(Post.self, to: first.dflat)
      }
    }
  }
}
