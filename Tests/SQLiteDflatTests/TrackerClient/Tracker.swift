// An issue tracker, as a newcomer writes it with the calls of the README. Its module is in Swift 5
// mode and isolated to the main actor, and has no isolation annotation. TrackerTests checks that
// everything means what it says. What is generated for it is for the package.

import Foundation
import SQLiteDflat

/// The issues of a team.
public final class Tracker {
  /// What went wrong in a way that no call could throw.
  public private(set) var failures: [String] = []
  private let dflat: SQLiteWorkspace
  private let start = Date(timeIntervalSince1970: 1_700_000_000)
  private var subscriptions: [any WorkspaceSubscription] = []

  /// Opens the file, or makes it.
  public init(path: String) async throws {
    dflat = try await SQLiteWorkspace.open(filePath: path)
    dflat.errorHandler = { [weak self] error in
      let text = "\(error)"
      Task { @MainActor in self?.failures.append(text) }
    }
  }

  /// Closes the file.
  public func close() async {
    subscriptions.removeAll()
    await dflat.shutdown()
  }

  // MARK: Writing

  /// Stores two projects, two people and six issues, all or nothing.
  public func fill() async throws -> Int {
    let start = start
    return try await dflat.write(Project.self, Person.self, Issue.self) { txn in
      try txn.insert(Project(name: "app", site: URL(string: "https://example.org/app")))
      try txn.insert(Project(name: "site"))
      try txn.insert(contentsOf: [
        Person(name: "Ada", mail: "ada@example.org"), Person(name: "Ben", mail: "ben@example.org"),
      ])
      let activities: [Activity?] = [
        nil, .comment(Comment(author: "Ada", text: "I see it, too", written: start)),
        .commit(Commit(hash: "a1b2", lines: 12)), .link("https://example.org/1"),
      ]
      for number in 1...6 {
        try txn.insert(
          Issue(
            id: UUID(), project: number < 5 ? "app" : "site", number: number,
            title: "Issue \(number)" + (number == 3 ? " crashes at start" : ""),
            state: number == 6 ? .closed : .open, labels: number == 3 ? [.bug, .crash] : .bug,
            priority: number, assignee: number.isMultiple(of: 3) ? nil : "Ada",
            created: start.addingTimeInterval(Double(number) * 3600),
            due: number == 2 ? start.addingTimeInterval(86_400) : nil,
            release: Release(major: 1, minor: number), watchers: number == 1 ? ["Ben"] : [],
            latest: activities[number % 4]))
      }
      return try txn.query(Issue.self).count()
    }
  }

  /// Gives an issue to a person.
  package func assign(_ number: Int, to person: String?) async throws -> Issue? {
    try await dflat.write(Issue.self) { txn in
      let one = try txn.query(Issue.self).where(Issue.number == number).only()
      return try one.map { try txn.update($0) { $0.assignee = person } }
    }
  }

  /// Closes the issues of a project that have no due date, and tells how many these are.
  public func closeUndated(of project: String) async throws -> Int {
    try await dflat.write(Issue.self) { txn in
      try txn.update(where: Issue.project == project && Issue.due == nil && Issue.state != .closed)
      {
        $0.state = .closed
      }
    }.updated
  }

  /// Tries what must be refused, and tells the errors' words.
  public func provoke() async -> [String] {
    var words: [String] = []
    func attempt(_ body: () async throws -> Void) async {
      do {
        try await body()
        words.append("nothing was refused")
      } catch { words.append(error.localizedDescription) }
    }
    await attempt {
      try await dflat.write(Person.self) { try $0.insert(Person(name: "Ada", mail: "x")) }
    }
    await attempt {
      try await dflat.write(Person.self) { txn in
        try txn.insert(Person(name: "Eve", mail: "eve@example.org"))
        try txn.update(Person(name: "Ben", mail: "")) { $0.mail = "ada@example.org" }
      }
    }
    let zoe = Person(name: "Zoe", mail: "zoe@example.org")
    await attempt {
      _ = try await dflat.write(Person.self) { try $0.update(zoe) { $0.mail = "z" } }
    }
    // A helper that uses the workspace inside of a transaction that does not list the type.
    let elsewhere = dflat.query(Issue.self)
    await attempt { _ = try await dflat.write(Person.self) { _ in try elsewhere.count() } }
    await attempt { _ = try dflat.query(Issue.self).limit(-1).fetch() }
    let committed = await dflat.performChanges([Person.self]) { txn in
      do {
        try txn.submit(PersonChangeRequest.creationRequest(Person(name: "Ben", mail: "b")))
      } catch TransactionError.objectAlreadyExists {
        txn.abort()
      } catch {}
    }
    return words + [
      "committed: \(committed)", "people: \(dflat.fetch(for: Person.self).all().count)",
    ]
  }

  /// Deletes a person and a project, and tells what is left of the issues.
  public func leave(_ person: String, _ project: String) async throws -> [String] {
    let site = project
    try await dflat.write(Person.self, Project.self) { txn in
      if let person = try txn.find(Person.self, person) { try txn.delete(person) }
      if let project = try txn.find(Project.self, site) { try txn.delete(project) }
    }
    var dangling = 0
    try dflat.danglingReferences(of: Issue.self) { _ in dangling += 1 }
    return try issues.orderBy(Issue.number.ascending).fetch().map {
      "\($0.number) \($0.assignee ?? "nobody")"
    } + ["dangling \(dangling)"]
  }

  // MARK: Asking

  private var issues: ObjectQuery<Issue> { dflat.query(Issue.self) }

  /// The numbers of the issues that match what the screen asks for.
  package func numbers(open: Bool, assignee: String?, label: Labels? = nil) -> [Int] {
    var condition: Condition<Issue> = .always
    if open { condition = condition && Issue.state != .closed }
    // nil asks for issues without one.
    condition = condition && Issue.assignee == assignee
    if let label { condition = condition && Issue.labels.contains(label) }
    return dflat.fetch(for: Issue.self).where(condition, orderBy: [Issue.number.descending])
      .map(\.number)
  }

  /// Answers to one question of each kind, by their names.
  public func answers() throws -> [String: String] {
    let posts = dflat.fetch(for: Issue.self)
    func numbers(_ condition: some QueryExpression<Bool, Issue>) -> String {
      posts.where(condition, orderBy: [Issue.number.ascending]).map { "\($0.number)" }
        .joined(separator: " ")
    }
    let (number, best, latest) = try issues.values(
      .count, .min(Issue.priority), .max(Issue.created))
    let hidden: Condition<Issue> = .never
    return [
      "due": numbers(Issue.due != nil),
      "urgent or due": numbers(Issue.priority < 2 || Issue.due != nil),
      "commented": numbers(Issue.latest.match(Comment.self)),
      "not commented": numbers(!Issue.latest.match(Comment.self)),
      "silent": numbers(Issue.latest == nil),
      "great commits": numbers(Issue.latest.as(Commit.self).lines > 10),
      "bugs or documentation": numbers(Issue.labels.intersects([.crash, .documentation])),
      "of Ada's mail": numbers(Issue.assignee.mail == "ada@example.org" && Issue.number > 3),
      "in a project with a site": numbers(Issue.project.site != nil && Issue.number > 2),
      "late in release 1": numbers(Issue.release.major == 1 && Issue.release.minor.between(4, 5)),
      "watched": numbers(Issue.watchers.contains("Ben")),
      "crash": numbers(Issue.search("crash*")),
      "hidden": numbers(hidden || Issue.number == 100),
      "old": numbers(Issue.created < start.addingTimeInterval(2 * 3600)),
      "values": "\(number) \(best ?? 0) \(latest?.timeIntervalSince(start) ?? 0)",
      "by state": try issues.group(by: Issue.state, .count).map {
        "\($0.0.map { "\($0)" } ?? "") \($0.1)"
      }
      .joined(separator: ", "),
      "people with issues": try dflat.query(Person.self).where(Person.assigned.count > 1).fetch()
        .map(\.name).joined(),
      "with assignees": try issues.orderBy(Issue.number.ascending).limit(3).including(
        Issue.assignee
      )
      .fetch().map { "\($0.number) \($1?.mail ?? "nobody")" }.joined(separator: ", "),
      "copy":
        "\(try issues.orderBy(Issue.number.ascending).first()?.with { $0.priority += 1 }.priority ?? 0)",
    ]
  }

  // MARK: Watching

  /// Follows the open issues with a live query and a handler, closes one, and tells what both saw.
  public func follow() async throws -> [String] {
    let open = dflat.fetch(for: Issue.self).where(
      Issue.state != .closed, orderBy: [Issue.number.ascending])
    let live = LiveQuery(open, in: dflat, on: nil)
    let (changes, handler) = AsyncStream.makeStream(of: [Int].self)
    subscriptions.append(
      dflat.subscribe(fetchedResult: open) { handler.yield($0.map(\.number)) })
    let before = live.result.map(\.number)
    try await dflat.write(Issue.self) { txn in
      if let first = open.first { try txn.update(first) { $0.state = .closed } }
    }
    var seen: [Int] = []
    for await numbers in changes.prefix(1) { seen = numbers }
    return ["\(before)", "\(live.result.map(\.number))", "\(seen)"]
  }

  /// Keeps a setting under a name.
  public var theme: String {
    get { dflat.dictionary["theme", default: "light"] }
    set { dflat.dictionary["theme"] = newValue }
  }
}
