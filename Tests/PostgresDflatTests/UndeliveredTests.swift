// What is observed begins with the state at its place among the deliveries, whatever is committed
// meanwhile.

import Dflat
import DflatTestSupport
import Dispatch
import Platform
import PostgresDflat
import PostgresTestSupport
import Testing

@Suite("Observers on a server, while transactions are committed")
struct UndeliveredTests {
  /// A network that holds back the answer to a COMMIT.
  private final class Network: Sendable {
    let holdsNextAnswer = Atomic<Bool>(false)
    let isCommitted = DispatchSemaphore(value: 0)
    let mayAnswer = DispatchSemaphore(value: 0)

    final class Filter: ProxyFilter {
      private let network: Network
      private let isHeld = Atomic<Bool>(false)

      init(_ network: Network) { self.network = network }

      func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
        if message.commit != nil,
          network.holdsNextAnswer.exchange(false, ordering: .acquiringAndReleasing)
        {
          isHeld.store(true, ordering: .releasing)
        }
        return message
      }

      func fromServer(_ message: ProxyMessage) -> ProxyMessage? {
        // The command COMMIT is complete.
        let isComplete =
          message.type == UInt8(ascii: "C")
          && String(decoding: message.body, as: UTF8.self).hasPrefix("COMMIT")
        if isComplete, isHeld.exchange(false, ordering: .acquiringAndReleasing) {
          network.isCommitted.signal()
          network.mayAnswer.expect("the end of the pause")
        }
        return message
      }
    }
  }

  @Test(
    "A result does not begin with a commit that is recorded after its snapshot, and gets it later")
  func commitInProgress() async throws {
    try await withSchema { schema in
      let network = Network()
      let proxy = try ServerProxy { Network.Filter(network) }
      defer { proxy.close() }
      let dflat = postgresWorkspace(schema: schema, through: proxy) {
        $0.followsOtherWriters = false
      }
      try await dflat.write(Note.self) { try $0.insert(Note(key: 1)) }
      let old = dflat.fetch(for: Note.self).all()
      // Its handler keeps all later deliveries waiting.
      let (isCalled, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let isFirst = Atomic<Bool>(true)
      let slow = dflat.subscribe(fetchedResult: old) { _ in
        if isFirst.exchange(false, ordering: .acquiringAndReleasing) {
          isCalled.signal()
          mayGoOn.expect("the end of the handler")
        }
      }
      let second = onOwnThread { try dflat.write(Note.self) { try $0.insert(Note(key: 2)) } }
      isCalled.expect("the second object")
      let events = Mutex<[[UInt64]]>([])
      let last = DispatchSemaphore(value: 0)
      let subscription = dflat.subscribe(fetchedResult: old) { result in
        events.withLock { $0.append(result.map(\.key)) }
        if result.count == 3 { last.signal() }
      }
      network.holdsNextAnswer.store(true, ordering: .releasing)
      let third = onOwnThread { try dflat.write(Note.self) { try $0.insert(Note(key: 3)) } }
      network.isCommitted.expect("the third object on the server")
      mayGoOn.signal()
      // The snapshot of the new result has begun, and sees the third object.
      let isReading = try eventually {
        try PlainConnection().run(
          "SELECT count(*) FROM pg_locks WHERE relation = '\"\(schema)\".note'::regclass") != [
            ["0"]
          ]
      }
      #expect(isReading)
      network.mayAnswer.signal()
      second.expect("the end of the second transaction")
      third.expect("the end of the third transaction")
      last.expect("all three objects")
      #expect(events.withLock { $0 } == [[1, 2], [1, 2, 3]])
      slow.cancel()
      subscription.cancel()
      await dflat.shutdown()
    }
  }
}
