// An application written with the README's calls, in Swift 5 mode and isolated to the main actor:
// it compiles, and what it does means what it says.

import DflatTestSupport
import Testing
import TrackerClient

@Suite("An issue tracker in Swift 5 mode, isolated to the main actor")
@MainActor
struct TrackerTests {
  private func withTracker(_ use: (Tracker) async throws -> Void) async throws {
    let tracker = try await Tracker(path: try makeTemporaryDirectory() + "/tracker.db")
    let stored = try await tracker.fill()
    #expect(stored == 6)
    try await use(tracker)
    await tracker.close()
    #expect(tracker.failures == [])
  }

  @Test("Its queries answer, with nil, unions, bit flags, relations and everyday types")
  func answers() async throws {
    try await withTracker { tracker in
      let answers = try tracker.answers()
      #expect(
        answers == [
          "due": "2", "urgent or due": "1 2", "commented": "1 5", "not commented": "2 3 4 6",
          "silent": "4", "great commits": "2 6", "bugs or documentation": "3",
          "of Ada's mail": "4 5", "in a project with a site": "3 4", "late in release 1": "4 5",
          "watched": "1", "crash": "3", "hidden": "", "old": "1", "values": "6 1 21600.0",
          "by state": "open 5, closed 1", "people with issues": "Ada",
          "with assignees": "1 ada@example.org, 2 ada@example.org, 3 nobody", "copy": "2",
        ])
    }
  }

  @Test("Conditions are built step by step, and an absent value asks for what is absent")
  func steps() async throws {
    try await withTracker { tracker in
      #expect(tracker.numbers(open: true, assignee: "Ada") == [5, 4, 2, 1])
      #expect(tracker.numbers(open: true, assignee: nil) == [3])
      #expect(tracker.numbers(open: false, assignee: nil) == [6, 3])
      #expect(tracker.numbers(open: false, assignee: nil, label: .crash) == [3])
      #expect(tracker.numbers(open: false, assignee: nil, label: [.crash, .documentation]) == [])
    }
  }

  @Test("Its transactions change objects, one and many, and rules of deletion apply")
  func changes() async throws {
    try await withTracker { tracker in
      let ofBen = try await tracker.assign(3, to: "Ben")
      #expect(ofBen?.assignee == "Ben")
      let unassigned = try await tracker.assign(4, to: nil)
      #expect(unassigned != nil && unassigned?.assignee == nil)
      let missing = try await tracker.assign(7, to: "Ben")
      #expect(missing == nil)
      #expect(tracker.numbers(open: true, assignee: "Ben") == [3])
      let closed = try await tracker.closeUndated(of: "app")
      #expect(closed == 3)
      #expect(tracker.numbers(open: true, assignee: "Ada") == [5, 2])
      let left = try await tracker.leave("Ada", "site")
      #expect(left == ["1 nobody", "2 nobody", "3 Ben", "4 nobody", "dangling 0"])
      #expect(tracker.theme == "light")
      tracker.theme = "dark"
      #expect(tracker.theme == "dark")
    }
  }

  @Test("What is refused says what is wrong, where and what to do, and nothing is stored")
  func errors() async throws {
    try await withTracker { tracker in
      let words = await tracker.provoke()
      let other =
        "another object has it already; give the object another key or value, or update the one "
        + "that has it"
      let expected = [
        "table person, name: \"Ada\": \(other)",
        "table person, row 2, mail: \"ada@example.org\": \(other)",
        "missing: table person, name: \"Zoe\": there is no such object to update; insert the "
          + "object, or use upsert",
        "Issue was used in a transaction that does not name it in its list of types; "
          + "add Issue.self to the list: write(Issue.self, …) { … }",
        "negativeCount: a limit of -1 was given for objects of Issue; give 0 or more, or leave it "
          + "out",
        "committed: false", "people: 2",
      ]
      #expect(words.count == expected.count)
      for (words, expected) in zip(words, expected) {
        #expect(words.hasSuffix(expected), "\(words)")
      }
    }
  }

  @Test("Live results follow a transaction")
  func watching() async throws {
    try await withTracker { tracker in
      let seen = try await tracker.follow()
      #expect(seen == ["[1, 2, 3, 4, 5]", "[2, 3, 4, 5]", "[2, 3, 4, 5]"])
    }
  }
}
