// Subscriptions whose handlers get what is made of another subscription's states.

import DflatTestSupport
import Platform
import Testing

@testable import Dflat

@Suite("Derived subscriptions")
struct DerivedSubscriptionTests {
  private final class Source: WorkspaceSubscription {
    let handler: @Sendable (Int) -> Void
    private let cancelled = Atomic(false)

    var isCancelled: Bool { cancelled.load(ordering: .acquiring) }

    init(_ handler: @escaping @Sendable (Int) -> Void) { self.handler = handler }

    func cancel() { cancelled.store(true, ordering: .releasing) }
  }

  private final class Token: Sendable {}

  @Test("No call begins after a cancellation, though its answer was being made")
  func cancelledMeanwhile() throws {
    let log = Log<String>()
    let kept = Mutex<(source: Source?, subscription: (any WorkspaceSubscription)?)>((nil, nil))
    var token: Token? = Token()
    weak let released = token
    let subscription = derivedSubscription(
      { (state: Int) -> String? in
        if state == 3 { kept.withLock { $0.subscription }?.cancel() }
        return state == 2 ? nil : "\(state)"
      },
      { [token] in
        log.add($0)
        withExtendedLifetime(token) {}
      },
      from: { handler in
        let source = Source(handler)
        kept.withLock { $0.source = source }
        return source
      })
    token = nil
    kept.withLock { $0.subscription = subscription }
    let source = try #require(kept.withLock { $0.source })
    for state in 1...4 { source.handler(state) }
    #expect(log.events == ["1"])
    #expect(source.isCancelled)
    #expect(released == nil)
  }

  @Test("Releasing it cancels it")
  func released() throws {
    let source = Mutex<Source?>(nil)
    let log = Log<Int>()
    do {
      let subscription = derivedSubscription({ $0 }, { log.add($0) }) { handler in
        let made = Source(handler)
        source.withLock { $0 = made }
        return made
      }
      source.withLock { $0 }?.handler(1)
      withExtendedLifetime(subscription) {}
    }
    let made = try #require(source.withLock { $0 })
    made.handler(2)
    #expect(made.isCancelled && log.events == [1])
  }
}
