// The dictionary: values of all kinds, memory and disk, removal, snapshots, errors, subscriptions.

import Dflat
import DflatTestSupport
import Dispatch
import Foundation
import Platform
import Testing

private struct Theme: Codable, Equatable, Sendable {
  var name: String
  var size: Int
}

private enum Mode: String, Codable, Sendable { case light, dark }

/// A value that reports when it is decoded, and blocks its decoding until the test releases it.
private struct Slow: Codable, Equatable, Sendable {
  static let hasBegun = DispatchSemaphore(value: 0)
  static let mayGoOn = DispatchSemaphore(value: 0)

  init(from decoder: any Decoder) throws {
    Slow.hasBegun.signal()
    Slow.mayGoOn.expect("the permission to continue")
  }

  func encode(to encoder: any Encoder) throws {}
}

/// The events that a handler got.
private final class Heard<T: Sendable>: Sendable {
  private let list = Mutex<[T]>([])
  var all: [T] { list.withLock { $0 } }
  func add(_ element: T) { list.withLock { $0.append(element) } }
}

extension TemporaryWorkspace {
  fileprivate var d: any WorkspaceDictionary { workspace.dictionary }

  /// What another workspace, with nothing in memory, reads.
  fileprivate func onDisk<R>(_ read: (any WorkspaceDictionary) -> R) -> R {
    let second = reopened()
    defer { withExtendedLifetime(second) {} }
    return read(second.d)
  }
}

private struct Level: Codable, Equatable, Sendable {
  var value: Double
  var others: [Float] = []
}

@Suite("The dictionary", .endsSometime)
struct DictionaryTests {
  @Test("-0.0 is stored over 0.0, in values of all kinds", arguments: TestEngine.all)
  func negativeZero(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      var d = workspace.d
      for zero in [0.0, -0.0, 0.0] {
        let isNegative = zero.sign == .minus
        d["double"] = zero
        d["float"] = Float(zero)
        d["codable"] = Level(value: zero)
        d["nested"] = Level(value: 1, others: [1, Float(zero)])
        d["list"] = [zero, 2]
        d["slot"] = Kit.Slot(
          row: 0, level: zero, side: .left, isOpen: false, page: 1, label: "x")
        d.synchronize()
        #expect((d["codable", Level.self]?.value.sign == .minus) == isNegative)
        workspace.onDisk { d in
          #expect((d["double", Double.self]?.sign == .minus) == isNegative)
          #expect((d["float", Float.self]?.sign == .minus) == isNegative)
          #expect((d["codable", Level.self]?.value.sign == .minus) == isNegative)
          #expect((d["nested", Level.self]?.others.last?.sign == .minus) == isNegative)
          #expect((d["list", [Double].self]?.first?.sign == .minus) == isNegative)
          #expect((d["slot", Kit.Slot.self]?.level.sign == .minus) == isNegative)
        }
      }
    }
  }

  @Test("A set with the same elements is the same value, in whatever order they are stored")
  func sameSet() throws {
    try withTemporaryWorkspace(.memory) { workspace in
      let elements = (0..<200).map { "element \($0)" }
      var one = Set(elements)
      one.reserveCapacity(10_000)
      let other = Set(elements.reversed())
      var d = workspace.d
      d["set"] = one
      let heard = Heard<Int>()
      let subscription = d.subscribe("set", of: Set<String>.self) {
        if case .updated = $0 { heard.add(1) }
      }
      d["set"] = other
      #expect(heard.all.isEmpty)
      subscription.cancel()
    }
  }

  private let date = Date(timeIntervalSinceReferenceDate: 12345.5)
  private let url = URL(string: "https://example.org/a?b")!
  private let post = Post(site: "s", number: 4, likes: 9)

  private func setAll(_ workspace: TemporaryWorkspace) {
    var d = workspace.d
    d["bool"] = true
    d["int"] = Int.min
    d["uint"] = UInt.max
    d["float"] = Float(1.5)
    d["double"] = 0.0
    d["string"] = "with \0 and é"
    d["codable"] = Theme(name: "dark", size: 3)
    d["post"] = post
    d["date"] = date
    d["url"] = url
    d["mode"] = Mode.dark
    d["list"] = ["a", "b"]
  }

  private func checkAll(_ workspace: TemporaryWorkspace) {
    let d = workspace.d
    #expect(d["bool", Bool.self] == true)
    #expect(d["int", Int.self] == Int.min)
    #expect(d["uint", UInt.self] == UInt.max)
    #expect(d["float", Float.self] == 1.5)
    #expect(d["double", Double.self] == 0)
    #expect(d["string", String.self] == "with \0 and é")
    #expect(d["codable", Theme.self] == Theme(name: "dark", size: 3))
    #expect(d["post", Post.self] == post)
    #expect(d["date", Date.self] == date)
    #expect(d["url"] as URL? == url)
    #expect(d["mode", default: Mode.light] == .dark)
    #expect(d["list", [String].self] == ["a", "b"])
    #expect(d["nothing", Int.self] == nil)
    #expect(d["nothing", default: 7] == 7)
  }

  @Test(
    "Values of all kinds are read back, from memory and from the disk", arguments: TestEngine.all)
  func kinds(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      setAll(workspace)
      checkAll(workspace)
      workspace.d.synchronize()
      checkAll(workspace.reopened())
      #expect(workspace.onDisk { $0.keys.count } == 12)
    }
  }

  @Test(
    "Reading another type gives nil, is reported, and changes nothing", arguments: TestEngine.all)
  func otherType(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      setAll(workspace)
      workspace.d.synchronize()
      for workspace in [workspace, workspace.reopened()] {
        #expect(workspace.d["int", String.self] == nil)
        #expect(workspace.d["string", Int.self] == nil)
        #expect(workspace.d["codable", [Int].self] == nil)
        #expect(workspace.d["post", Theme.self] == nil)
        #expect(workspace.d["codable", Post.self] == nil)
        let errors = workspace.takeErrors()
        #expect(errors.count == 5)
        #expect(errors.first?.message.contains("wrongType: int") == true)
        checkAll(workspace)
      }
    }
  }

  @Test("A FlatBuffers value is not read as one of another type", arguments: TestEngine.all)
  func otherFlatBuffersType(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      // Its bytes are those of a link, too.
      let photo = Blog.Photo(path: "1.jpg", width: 640)
      workspace.dflat.dictionary["photo"] = photo
      workspace.d.synchronize()
      for workspace in [workspace, workspace.reopened()] {
        #expect(workspace.d["photo", Blog.Link.self] == nil)
        let errors = workspace.takeErrors()
        #expect(errors.count == 1 && errors[0].message.contains("wrongType: photo"), "\(errors)")
        #expect(workspace.d["photo", Blog.Photo.self] == photo)
        #expect(workspace.d["photo", Blog.Link.self] == nil)
        _ = workspace.takeErrors()
      }
    }
  }

  @Test(
    "A FlatBuffers value that could not be read again is not stored over another one, and reported",
    arguments: TestEngine.all)
  func tooDeep(engine: TestEngine) throws {
    func crate(_ depth: Int) -> Kit.Crate {
      Kit.Crate(label: "\(depth)", inner: depth > 1 ? crate(depth - 1) : nil)
    }
    try withTemporaryWorkspace(engine) { workspace in
      var d = workspace.d
      d["crate"] = crate(60)
      d.synchronize()
      d["crate"] = crate(70)
      d.synchronize()
      let errors = workspace.takeErrors()
      #expect(errors.count == 1 && errors[0].message.contains("crate"), "\(errors)")
      // Without a disk it stays where it is.
      if engine.testDescription.contains("memory") { return }
      workspace.onDisk { #expect($0["crate", Kit.Crate.self] == crate(60)) }
    }
  }

  @Test(
    "removeAll hides the disk at once; later assignments come after it", arguments: TestEngine.all)
  func removeAll(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      setAll(workspace)
      workspace.d.synchronize()
      let second = workspace.reopened()
      var d = second.d
      d.removeAll()
      #expect(d["int", Int.self] == nil)
      d["new"] = 1
      #expect(d.keys == ["new"])
      d.synchronize()
      #expect(d["string", String.self] == nil)
      #expect(workspace.onDisk { $0.keys } == ["new"])
    }
  }

  @Test("Namespaces have separate keys", arguments: TestEngine.all)
  func namespaces(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      var a = workspace.dflat.dictionary(namespace: "a")
      var b = workspace.dflat.dictionary(namespace: "b")
      a["k"] = 1
      b["k"] = 2
      workspace.dflat.dictionary["k"] = 3
      a.synchronize()
      b.synchronize()
      workspace.d.synchronize()
      b.removeAll()
      b.synchronize()
      let second = workspace.reopened().dflat
      #expect(second.dictionary(namespace: "a")["k", Int.self] == 1)
      #expect(second.dictionary(namespace: "b")["k", Int.self] == nil)
      #expect(second.dictionary["k", Int.self] == 3)
    }
  }

  @Test(
    "A key that is not in memory is read inside a transaction of any type",
    arguments: TestEngine.all)
  func insideTransaction(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      workspace.dflat.dictionary["k"] = 1
      workspace.d.synchronize()
      let second = workspace.reopened()
      try second.write([Post.self]) { txn in
        second.d.synchronize()
        _ = try txn.insert(Blog.PostChangeRequest.creationRequest(self.post))
        #expect(second.d["k", Int.self] == 1)
        second.dflat.dictionary["l"] = 2
      }
      second.d.synchronize()
      #expect(workspace.d["l", Int.self] == 2)
    }
  }

  // MARK: Watching

  @Test(
    "Subscribers are notified on the setter's thread, before the assignment returns",
    arguments: TestEngine.all)
  func events(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      var d = workspace.d
      d["k"] = 1
      let heard = Heard<SubscribedDictionaryValue<Int>>()
      let subscription = d.subscribe("k", of: Int.self) { heard.add($0) }
      #expect(heard.all == [.initial(1)])
      d["k"] = 1
      d["k"] = 2
      #expect(heard.all == [.initial(1), .updated(2)])
      d["k"] = nil as Int?
      d["k"] = nil as Int?
      d.removeAll()
      #expect(heard.all == [.initial(1), .updated(2), .deleted, .deleted])
      subscription.cancel()
      subscription.cancel()
      d["k"] = 3
      #expect(heard.all.count == 4)
    }
  }

  @Test(
    "After cancel has returned no call begins, even if its value was just being decoded",
    .serialized, arguments: TestEngine.all)
  func cancelling(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let heard = Heard<SubscribedDictionaryValue<Slow>>()
      let subscription = dflat.dictionary.subscribe("k", of: Slow.self) { heard.add($0) }
      let isSet = DispatchSemaphore(value: 0)
      Thread.detachNewThread {
        dflat.dictionary["k"] = Theme(name: "n", size: 1)
        isSet.signal()
      }
      Slow.hasBegun.expect("the decoding")
      subscription.cancel()
      Slow.mayGoOn.signal()
      isSet.expect("the end of the set")
      #expect(heard.all == [.initial(nil)])
    }
  }

  @Test(
    "A handler that cancels its own subscription is released, and not called again",
    arguments: TestEngine.all)
  func cancellingInside(engine: TestEngine) throws {
    final class Thing: Sendable {}
    try withTemporaryWorkspace(engine) { workspace in
      let dflat = workspace.dflat
      let heard = Heard<SubscribedDictionaryValue<Int>>()
      let mine = Mutex<(any WorkspaceSubscription)?>(nil)
      var thing: Thing? = Thing()
      weak let weakThing = thing
      let subscription = dflat.dictionary.subscribe("k", of: Int.self) { [thing] event in
        _ = thing
        heard.add(event)
        mine.withLock { $0 }?.cancel()
      }
      thing = nil
      #expect(weakThing != nil)
      mine.withLock { $0 = subscription }
      dflat.dictionary["k"] = 1
      dflat.dictionary["k"] = 2
      #expect(heard.all == [.initial(nil), .updated(1)])
      #expect(weakThing == nil)
      mine.withLock { $0 = nil }
    }
  }

  @Test(
    "A handler that sets the key itself: all subscribers get all events in order",
    arguments: TestEngine.all)
  func nested(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let first = Heard<SubscribedDictionaryValue<Int>>()
      let second = Heard<SubscribedDictionaryValue<Int>>()
      let dflat = workspace.dflat
      let one = dflat.dictionary.subscribe("k", of: Int.self) { event in
        first.add(event)
        if event == .updated(1) { dflat.dictionary["k"] = 2 }
      }
      let two = dflat.dictionary.subscribe("k", of: Int.self) { second.add($0) }
      dflat.dictionary["k"] = 1
      #expect(first.all == [.initial(nil), .updated(1), .updated(2)])
      #expect(second.all == [.initial(nil), .updated(1), .updated(2)])
      withExtendedLifetime((one, two)) {}
    }
  }

  @Test("Streams yield the value, and nil while there is none", arguments: TestEngine.all)
  func streams(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      var d = workspace.d
      d["k"] = "a"
      var values = d.subscribe("k", of: String.self, bufferingPolicy: .unbounded)
        .makeAsyncIterator()
      d["k"] = "b"
      d["k"] = nil as String?
      #expect(await values.next() == .some("a"))
      #expect(await values.next() == .some("b"))
      #expect(await values.next() == .some(nil))
      await workspace.dflat.shutdown()
    }
  }

  // MARK: Transactions

  @Test(
    "A transaction's dictionary is committed with the objects, and then subscribers are notified",
    arguments: TestEngine.all)
  func committed(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let heard = Heard<SubscribedDictionaryValue<Int>>()
      let subscription = workspace.d.subscribe("count", of: Int.self) { heard.add($0) }
      for number in 1...5 {
        workspace.dflat.performChanges([Post.self]) { txn in
          txn.dictionary["count"] = txn.dictionary["count", default: 0] + 1
          _ = txn.try(
            submit: Blog.PostChangeRequest.creationRequest(
              Post(site: "s", number: Int32(number))))
        }
      }
      try workspace.write([Post.self]) { txn in
        #expect(txn.dictionary["count", Int.self] == 5)
        #expect(txn.dictionary.keys == ["count"])
      }
      #expect(workspace.d["count", Int.self] == 5)
      #expect(heard.all == [.initial(nil)] + (1...5).map { .updated($0) })
      #expect(workspace.onDisk { $0["count", Int.self] } == 5)
      withExtendedLifetime(subscription) {}
    }
  }

  @Test("An aborted transaction leaves the dictionary as it was", arguments: TestEngine.all)
  func aborted(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      workspace.dflat.dictionary["k"] = 1
      let outcome = try workspace.write([Post.self]) { txn in
        var d = txn.dictionary
        d["k"] = 2
        d.removeAll()
        #expect(d.keys == [])
        d["l"] = 3
        #expect(d.keys == ["l"])
        txn.abort()
      }
      #expect(!outcome.isCommitted)
      #expect(workspace.d["k", Int.self] == 1)
      #expect(workspace.d["l", Int.self] == nil)
      workspace.d.synchronize()
      #expect(workspace.onDisk { $0.keys } == ["k"])
    }
  }

  @Test(
    "An assignment during a transaction comes after it, on disk as in memory",
    arguments: TestEngine.all)
  func order(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      workspace.dflat.dictionary["k"] = 1
      workspace.dflat.dictionary["l"] = 1
      try workspace.write([Post.self]) { txn in
        txn.dictionary["k"] = 2
        workspace.dflat.dictionary["l"] = 3
        txn.dictionary["l"] = 4
      }
      workspace.d.synchronize()
      let second = workspace.reopened()
      for key in ["k", "l"] {
        #expect(workspace.d[key, Int.self] == second.d[key, Int.self])
      }
      #expect(workspace.d["k", Int.self] == 2)
    }
  }

  @Test("The dictionary of a throwing transaction", arguments: TestEngine.all)
  func throwing(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { workspace in
      struct Stop: Error {}
      _ = await #expect(throws: Stop.self) {
        try await workspace.dflat.write(Post.self) { txn in
          txn.dictionary["k"] = 1
          throw Stop()
        }
      }
      #expect(workspace.d["k", Int.self] == nil)
      try await workspace.dflat.write(Post.self) { $0.dictionary["k"] = 2 }
      #expect(workspace.d["k", Int.self] == 2)
      await workspace.dflat.shutdown()
    }
  }

  // MARK: Misuse
}
