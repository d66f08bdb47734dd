// The publisher of a dictionary's key: demand, cancellation, and threads.

import Combine
import DflatTestSupport
import Dispatch
import Foundation
import SQLiteDflat
import Platform
import Testing

#if os(Linux)
  import DflatCombine
#endif

private struct Theme: Codable, Equatable, Sendable {
  var name: String
}

@Suite("The publisher of a key", .endsSometime)
struct DictionaryPublisherTests {
  private typealias Event = SubscribedDictionaryValue<Int>

  private func publisher(_ workspace: TemporaryWorkspace) -> DictionaryValuePublisher<Int> {
    workspace.dflat.dictionary.publisher("k", of: Int.self)
  }

  @Test("It begins at the first demand, with the value of that moment")
  func begin() throws {
    try withTemporaryWorkspace { workspace in
      let probe = Probe<Event>()
      workspace.dflat.dictionary["k"] = 1
      publisher(workspace).subscribe(probe)
      workspace.dflat.dictionary["k"] = 2
      #expect(probe.values.isEmpty)
      probe.request(.max(1))
      #expect(probe.values == [.initial(2)])
    }
  }

  @Test("No more values come than were asked for, and a subscriber that is behind gets the newest")
  func demand() throws {
    try withTemporaryWorkspace { workspace in
      let probe = Probe<Event>()
      publisher(workspace).subscribe(probe)
      probe.request(.max(2))
      for value in 1...5 { workspace.dflat.dictionary["k"] = value }
      #expect(probe.values == [.initial(nil), .updated(1)])
      probe.request(.max(1))
      #expect(probe.values == [.initial(nil), .updated(1), .updated(5)])
      probe.request(.max(1))
      #expect(probe.values.count == 3)
      workspace.dflat.dictionary["k"] = nil as Int?
      #expect(probe.values.last == .deleted)
      workspace.dflat.dictionary["k"] = 6
      #expect(probe.values.count == 4)
      probe.request(.unlimited)
      for value in 7...8 { workspace.dflat.dictionary["k"] = value }
      #expect(probe.values.suffix(3) == [.updated(6), .updated(7), .updated(8)])
      #expect(probe.completions == 0)
    }
  }

  @Test("What a subscriber returns, and what it asks for while it receives, counts")
  func more() throws {
    try withTemporaryWorkspace { workspace in
      let returning = Probe<Event> { _, _ in .max(1) }
      let asking = Probe<Event> { probe, _ in
        probe.request(.max(1))
        return .none
      }
      for probe in [returning, asking] {
        publisher(workspace).subscribe(probe)
        probe.request(.max(1))
      }
      for value in 1...3 { workspace.dflat.dictionary["k"] = value }
      for probe in [returning, asking] {
        #expect(probe.values == [.initial(nil), .updated(1), .updated(2), .updated(3)])
        probe.cancel()
      }
    }
  }

  @Test("After cancelling nothing comes, and the subscriber is let go of")
  func cancel() throws {
    try withTemporaryWorkspace { workspace in
      weak var released: Probe<Event>?
      do {
        let early = Probe<Event>()
        publisher(workspace).subscribe(early)
        early.cancel()
        early.request(.unlimited)

        let inside = Probe<Event> { probe, _ in
          probe.cancel()
          return .unlimited
        }
        publisher(workspace).subscribe(inside)
        inside.request(.unlimited)

        let later = Probe<Event>()
        publisher(workspace).subscribe(later)
        later.request(.unlimited)
        workspace.dflat.dictionary["k"] = 1
        later.cancel()
        workspace.dflat.dictionary["k"] = 2
        #expect(early.values.isEmpty)
        #expect(inside.values == [.initial(nil)])
        #expect(later.values == [.initial(nil), .updated(1)])
        released = later
      }
      #expect(released == nil)
    }
  }

  @Test("While a subscriber receives on one thread, no other thread calls it")
  func oneAtATime() throws {
    try withTemporaryWorkspace { workspace in
      let isInside = DispatchSemaphore(value: 0)
      let mayLeave = DispatchSemaphore(value: 0)
      let isDone = DispatchSemaphore(value: 0)
      let probe = Probe<Event> { _, event in
        if event == .updated(1) {
          isInside.signal()
          mayLeave.expect("that it may leave")
        }
        return .none
      }
      publisher(workspace).subscribe(probe)
      probe.request(.max(1))
      workspace.dflat.dictionary["k"] = 1
      Thread.detachNewThread {
        probe.request(.max(1))
        isDone.signal()
      }
      isInside.expect("a value")
      // A value and demand for it, while the other thread is in `receive`: that thread delivers it.
      workspace.dflat.dictionary["k"] = 2
      probe.request(.max(1))
      #expect(probe.values == [.initial(nil), .updated(1)])
      mayLeave.signal()
      isDone.expect("the end of the request")
      #expect(probe.values == [.initial(nil), .updated(1), .updated(2)])
      #expect(probe.mostAtOnce == 1)
    }
  }

  @Test("Values from several threads come one after another, and the last one is not lost")
  func threads() throws {
    try withTemporaryWorkspace { workspace in
      let probe = Probe<Event> { _, _ in .none }
      publisher(workspace).subscribe(probe)
      let demands = 400
      DispatchQueue.concurrentPerform(iterations: 4) { thread in
        for round in 0..<(demands / 4) {
          workspace.dflat.dictionary["k"] = thread * demands + round
          probe.request(.max(1))
        }
      }
      #expect(probe.mostAtOnce == 1)
      #expect(probe.values.count <= demands)
      probe.request(.unlimited)
      let last = try #require(workspace.dflat.dictionary["k", Int.self])
      #expect(probe.values.last == .updated(last))
    }
  }

  @Test("There is a publisher for every kind of value")
  func kinds() throws {
    try withTemporaryWorkspace { workspace in
      var dictionary = workspace.dflat.dictionary
      let post = Blog.Post(site: "s", number: 1)
      dictionary["text"] = "a"
      dictionary["theme"] = Theme(name: "dark")
      dictionary["post"] = post
      let text = Probe<SubscribedDictionaryValue<String>>()
      let theme = Probe<SubscribedDictionaryValue<Theme>>()
      let stored = Probe<SubscribedDictionaryValue<Blog.Post>>()
      dictionary.publisher("text", of: String.self).subscribe(text)
      dictionary.publisher("theme", of: Theme.self).subscribe(theme)
      dictionary.publisher("post", of: Blog.Post.self).subscribe(stored)
      text.request(.unlimited)
      theme.request(.unlimited)
      stored.request(.unlimited)
      #expect(text.values == [.initial("a")])
      #expect(theme.values == [.initial(Theme(name: "dark"))])
      #expect(stored.values == [.initial(post)])
    }
  }
}
