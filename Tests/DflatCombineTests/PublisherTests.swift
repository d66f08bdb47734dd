// The publishers of objects, results and queries: demand, completion, cancellation, lifetime.

import Combine
import DflatTestSupport
import Dispatch
import SQLiteDflat
import Testing

#if os(Linux)
  import DflatCombine
#endif

@Suite("Publishers", .endsSometime)
struct PublisherTests {
  private func insert(_ workspace: TemporaryWorkspace, _ key: UInt64, _ text: String) throws -> Note
  {
    let inserted = try workspace.write([Note.self]) { txn in
      try txn.insert(NoteChangeRequest.creationRequest(Note(key: key, text: text)))
    }
    return try #require(inserted.result)
  }

  private func change(_ workspace: TemporaryWorkspace, _ note: Note, to text: String) throws {
    try workspace.write([Note.self]) { txn in
      let request = try #require(NoteChangeRequest.changeRequest(note))
      request.text = text
      try txn.submit(request)
    }
  }

  private func delete(_ workspace: TemporaryWorkspace, _ note: Note) throws {
    try workspace.write([Note.self]) { txn in
      try txn.submit(try #require(NoteChangeRequest.deletionRequest(note)))
    }
  }

  private func texts(_ events: [SubscribedObject<Note>]) -> [String] {
    events.map { if case .updated(let note) = $0 { note.text ?? "" } else { "deleted" } }
  }

  @Test("An object's publisher sends its changes, and completes after it is deleted")
  func object() throws {
    try withTemporaryWorkspace { workspace in
      let note = try insert(workspace, 1, "a")
      let probe = Probe<SubscribedObject<Note>>()
      workspace.dflat.publisher(for: note).subscribe(probe)
      probe.request(.max(1))
      try change(workspace, note, to: "b")
      #expect(texts(probe.values) == ["b"])
      // The end waits until the last value was asked for.
      try delete(workspace, note)
      #expect(probe.completions == 0)
      probe.request(.max(1))
      #expect(texts(probe.values) == ["b", "deleted"])
      #expect(probe.completions == 1)
    }
  }

  @Test("A result's publisher sends each new state, the newest one to a subscriber that is behind")
  func result() throws {
    try withTemporaryWorkspace { workspace in
      let note = try insert(workspace, 1, "a")
      let fetched = workspace.dflat.fetch(for: Note.self).all()
      let prompt = Probe<FetchedResult<Note>>()
      let slow = Probe<FetchedResult<Note>>()
      let publisher = workspace.dflat.publisher(for: fetched)
      publisher.subscribe(prompt)
      publisher.subscribe(slow)
      prompt.request(.unlimited)
      slow.request(.max(1))
      _ = try insert(workspace, 2, "b")
      try change(workspace, note, to: "c")
      try delete(workspace, note)
      #expect(prompt.values.map { $0.map(\.text) } == [["a", "b"], ["c", "b"], ["b"]])
      #expect(slow.values.map { $0.map(\.text) } == [["a", "b"]])
      slow.request(.max(1))
      #expect(slow.values.map { $0.map(\.text) } == [["a", "b"], ["b"]])
      #expect(prompt.completions == 0 && slow.completions == 0)
    }
  }

  @Test("A query's publisher runs the query at the first demand, and sends its result first")
  func query() throws {
    try withTemporaryWorkspace { workspace in
      let builder = workspace.dflat.publisher(for: Note.self)
      let all = Probe<FetchedResult<Note>>()
      let some = Probe<FetchedResult<Note>>()
      let publisher = builder.where(
        Note.key > 1, limit: .limit(1), orderBy: [Note.key.descending])
      builder.where(.always).subscribe(all)
      publisher.subscribe(some)
      _ = try insert(workspace, 1, "a")
      #expect(all.values.isEmpty && some.values.isEmpty)
      all.request(.unlimited)
      some.request(.unlimited)
      #expect(all.values.map { $0.map(\.key) } == [[1]])
      #expect(some.values.map { $0.map(\.key) } == [[]])
      _ = try insert(workspace, 2, "b")
      _ = try insert(workspace, 3, "c")
      #expect(all.values.map { $0.map(\.key) } == [[1], [1, 2], [1, 2, 3]])
      #expect(some.values.map { $0.map(\.key) } == [[], [2], [3]])

      // A later subscriber shares the query: the first result, and what has become of it.
      let later = Probe<FetchedResult<Note>>()
      publisher.subscribe(later)
      later.request(.unlimited)
      _ = try insert(workspace, 4, "d")
      #expect(later.values.first?.isEmpty == true)
      #expect(later.values.last?.map(\.key) == [4])
    }
  }

  @Test("After cancelling nothing comes, and the subscriber is let go of")
  func cancel() throws {
    try withTemporaryWorkspace { workspace in
      let note = try insert(workspace, 1, "a")
      weak var released: Probe<SubscribedObject<Note>>?
      do {
        let probe = Probe<SubscribedObject<Note>> { probe, _ in
          probe.cancel()
          return .unlimited
        }
        workspace.dflat.publisher(for: note).subscribe(probe)
        probe.request(.unlimited)
        try change(workspace, note, to: "b")
        try change(workspace, note, to: "c")
        try delete(workspace, note)
        #expect(texts(probe.values) == ["b"])
        #expect(probe.completions == 0)
        released = probe
      }
      #expect(released == nil)
    }
  }

  @Test("A request's publisher sends the answer and each other one, and keeps no workspace")
  func request() throws {
    let probe = Probe<Int>()
    weak var released: SQLiteWorkspace?
    func publisher() throws -> RequestPublisher<Int> {
      let dflat = SQLiteWorkspace.inMemory()
      released = dflat
      let publisher = dflat.publisher(for: dflat.query(Note.self).computing(.count))
      publisher.subscribe(probe)
      probe.request(.unlimited)
      try dflat.write(Note.self) { try $0.insert(Note(key: 1, text: "a")) }
      try dflat.write(Note.self) { _ in }
      #expect(probe.values == [0, 1])
      return publisher
    }
    let kept = try publisher()
    #expect(released == nil)
    let late = Probe<Int>()
    kept.subscribe(late)
    late.request(.unlimited)
    #expect(late.values.isEmpty)
  }

  @Test("Publishers and their subscribers do not keep the workspace open")
  func lifetime() throws {
    let path = try makeTemporaryDirectory() + "/lifetime.db"
    let probe = Probe<SubscribedDictionaryValue<Int>>()
    let results = Probe<FetchedResult<Note>>()
    weak var released: SQLiteWorkspace?
    // Whose end closes the file.
    weak var lifetime: WorkspaceLifetime?
    let publishers = {
      let workspace = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)
      released = workspace
      lifetime = workspace._lifetime
      workspace.dictionary["k"] = 1
      let keys = workspace.dictionary.publisher("k", of: Int.self)
      let notes = workspace.publisher(for: Note.self).all()
      keys.subscribe(probe)
      notes.subscribe(results)
      probe.request(.unlimited)
      results.request(.unlimited)
      return (keys, notes)
    }()
    #expect(probe.values == [.initial(1)])
    #expect(results.values.count == 1)
    withExtendedLifetime(publishers) { #expect(released == nil && lifetime == nil) }
    probe.cancel()
    results.cancel()
  }
}
