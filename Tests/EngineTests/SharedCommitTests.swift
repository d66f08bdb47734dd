// Queued transactions share a commit, which only the speed reveals.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import Testing

@Suite("Shared commits")
struct SharedCommitTests {
  private func insert(_ number: Int, _ txn: any TransactionContext) {
    txn.try(submit: Blog.PostChangeRequest.creationRequest(post(Int32(number))))
  }

  @Test(
    "An aborted transaction is rolled back alone, at any position in its group",
    arguments: TestEngine.all)
  func abortedAlone(engine: TestEngine) throws {
    // More than the number of savepoints that are open at the same time.
    let count = 12
    var random = SeededGenerator(seed: 12)
    let some = (0..<24).map { _ in
      (0..<count).filter { _ in Int.random(in: 0..<3, using: &random) == 0 }
    }
    for aborted in (0..<count).map({ [$0] }) + some + [Array(0..<count)] {
      try withTemporaryWorkspace(engine) { workspace in
        let outcomes = Mutex<[Bool]>([])
        workspace.together(count) { number, txn in
          insert(number, txn)
          if aborted.contains(number) { txn.abort() }
        } _: { _, isCommitted in
          outcomes.withLock { $0.append(isCommitted) }
        }
        #expect(outcomes.withLock { $0 } == (0..<count).map { !aborted.contains($0) })
        let kept = (0..<count).filter { !aborted.contains($0) }.map(Int32.init)
        #expect(workspace.posts.all().map(\.number) == kept, "aborted: \(aborted)")
        let faults = try workspace.faults()
        #expect(faults == [])
      }
    }
  }

  @Test(
    "A rejected request rolls back nothing of other transactions, nor of its own",
    arguments: TestEngine.all)
  func refused(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      workspace.together(4) { number, txn in
        insert(number, txn)
        #expect(throws: TransactionError.objectAlreadyExists) {
          try txn.submit(Blog.PostChangeRequest.creationRequest(post(0)))
        }
        // The very first was just stored, so its own key is taken.
      } _: { _, isCommitted in
        #expect(isCommitted)
      }
      #expect(workspace.posts.all().map(\.number) == [0, 1, 2, 3])
      let faults = try workspace.faults()
      #expect(faults == [])
    }
  }

  @Test("Completions run once each and in order, however long the queue", arguments: TestEngine.all)
  func order(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let told = Mutex<[Int]>([])
      workspace.together(1000) { number, txn in
        if number % 3 == 0 { insert(number, txn) }
      } _: { number, _ in
        told.withLock { $0.append(number) }
      }
      #expect(told.withLock { $0 } == Array(0..<1000))
      #expect(workspace.posts.all().count == 334)
    }
  }

  /// What a transaction may do to a post. The first two change neither key nor index.
  private enum Step: CaseIterable {
    case pin, name, like, show, remove, insert
  }

  /// Executes a step, and returns the post after it.
  private func carryOut(
    _ step: Step, _ number: Int, _ value: Int32, _ old: Post?, _ txn: any TransactionContext
  ) -> Post? {
    let request =
      switch (step, old) {
      case (.insert, nil): Blog.PostChangeRequest.creationRequest(post(Int32(number)))
      case (.insert, _?), (_, nil): nil as Blog.PostChangeRequest?
      case (.remove, let old?): Blog.PostChangeRequest.deletionRequest(old)
      case (_, let old?): Blog.PostChangeRequest.changeRequest(old)
      }
    guard let request else { return old }
    switch step {
    case .pin: request.isPinned.toggle()
    case .name: request.author = Blog.Author(handle: "h", name: "n\(value)")
    case .like: request.likes = value
    case .show: request.attachment = .photo(Blog.Photo(path: "p\(number)-\(value)"))
    case .remove, .insert: break
    }
    switch txn.try(submit: request) {
    case .inserted(let post), .updated(let post), .identity(let post): return post
    case .deleted: return nil
    case nil:
      Issue.record("a post could not be submitted")
      return old
    }
  }

  @Test(
    "Whatever aborted transactions have done, the others keep their changes",
    arguments: TestEngine.all)
  func steps(engine: TestEngine) throws {
    try withSeed { random in
      for _ in 0..<(isLongRun ? 400 : 15) {
        try withTemporaryWorkspace(engine) { workspace in
          let numbers = 0..<4
          try workspace.store(numbers.map { post(Int32($0)) })
          let plans = (0..<14).map { _ in
            (
              isAborted: random.oneIn(3),
              steps: (0..<random.pick([1, 1, 1, 2, 3])).map { _ in
                (
                  random.oneIn(2) ? .pin : random.pick(Step.allCases), random.pick(numbers),
                  Int32.random(in: 1...9, using: &random)
                )
              }
            )
          }
          let model = Mutex(numbers.map { post(Int32($0)) as Post? })
          workspace.together(plans.count) { member, txn in
            let plan = plans[member]
            var state = model.withLock { $0 }
            for (step, number, value) in plan.steps {
              state[number] = carryOut(step, number, value, state[number], txn)
            }
            if plan.isAborted { txn.abort() } else { model.withLock { $0 = state } }
          } _: { member, isCommitted in
            #expect(isCommitted != plans[member].isAborted)
          }
          let stored = workspace.posts.all().sorted { $0.number < $1.number }
          #expect(stored == model.withLock { $0 }.compactMap { $0 })
          let faults = try workspace.faults()
          #expect(faults == [])
        }
      }
    }
  }
}
