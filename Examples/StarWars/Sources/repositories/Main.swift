// repositories: like a client of a large service. A list that pages, details, a star that shows
// before the service has confirmed it, and a start without a connection.
//
// What is on the screen comes from the file alone, never from a response. So every screen that
// shows a repository follows every operation that brings it, and a start needs no network.

import DflatGraphQL
import Foundation
import Service
import SQLiteDflat

@main struct Main {
  static func main() async {
    do {
      let file = try Arguments().directory.appending(path: "repositories.db")
      for suffix in ["", "-wal", "-shm"] {
        try? FileManager.default.removeItem(atPath: file.path + suffix)
      }
      let recorded = RecordedService(Bundle.module.resourceURL!.appending(path: "Responses"))
      try await start(file, recorded) { try await $0.useOnline() }
      try await start(file, Offline()) { try await $0.useOffline() }
      try await start(file, recorded) { try await $0.goOn() }
    } catch {
      FileHandle.standardError.write(Foundation.Data("repositories: \(error)\n".utf8))
      exit(1)
    }
  }

  /// One run of the program.
  private static func start(
    _ file: URL, _ service: any Service, _ body: @Sendable (Program) async throws -> Void
  ) async throws {
    let dflat = try await SQLiteWorkspace.open(file)
    defer { dflat.shutdown() }
    try await body(Program(dflat: dflat, service: service))
  }
}

/// No connection.
private struct Offline: Service {
  func answer<Operation: GraphQLOperation>(
    _ operation: Operation
  ) async throws -> Foundation.Data { throw Failure("there is no connection") }
}

private struct Program {
  let dflat: SQLiteWorkspace
  let service: any Service

  func useOnline() async throws {
    print("\n# A first start, with an empty file\n")
    try await loadPage()
    showList()
    print("\nOne page more:")
    try await loadPage()
    showList()

    print("\n# Details\n")
    try await loadDetails("harbor", "crane")
    try await loadDetails("harbor", "lantern")
    try await loadDetails("harbor", "winch")

    print("\n# A star, which shows before the service has answered\n")
    try await star("R_8")
    print("")
    try await star("R_9")
  }

  func useOffline() async throws {
    print("\n# A start without a connection\n")
    showList()
    showDetails("R_3")
    do { try await loadPage() } catch { print("\nThe next page: \(error).") }
  }

  func goOn() async throws {
    print("\n# A start with a connection goes on where the list ended\n")
    try await loadPage()
    showList()
  }

  // MARK: The list

  /// The user whose list it is; nil until something was loaded.
  private var viewer: User? {
    dflat.dictionary["viewer", String.self].flatMap { dflat.find(User.self, $0) }
  }

  /// Asks for the page behind the last one that is stored, and appends it.
  private func loadPage() async throws {
    let end = viewer?.starredRepositories?.pageInfo
    if end?.hasNextPage == false { return }
    let after = end?.endCursor
    let query = StarredQuery(variables: .init(after: GraphQLNullable(after)))
    let data = try await service.ask(query)
    try await dflat.write(User.self, Repository.self, Issue.self) { txn in
      try txn.store(data, \.viewer.starredRepositories, after == nil ? .replace : .append)
      txn.dictionary["viewer"] = data.viewer.id
    }
  }

  private func showList() {
    guard let list = viewer?.starredRepositories else { return print("Nothing is there yet.") }
    for edge in list.edges {
      guard let key = edge.node, let repository = dflat.find(Repository.self, key) else { continue }
      print("  \(day(edge.starredAt))  \(text(repository))")
    }
    print("  \(list.edges.count) of \(list.totalCount ?? 0)")
  }

  // MARK: Details

  private func loadDetails(_ owner: String, _ name: String) async throws {
    let query = RepositoryQuery(variables: .init(owner: owner, name: name))
    let data = try await service.ask(query)
    try await dflat.write(User.self, Repository.self, Issue.self) { txn in _ = try txn.store(data) }
    if let id = data.repository?.id { showDetails(id) }
  }

  private func showDetails(_ id: String) {
    guard let repository = dflat.find(Repository.self, id) else { return }
    print("\(text(repository)), \(visibility(repository)), pushed \(day(repository.pushedAt))")
    for key in repository.issues?.nodes ?? [] {
      guard let issue = dflat.find(Issue.self, key) else { continue }
      print("  #\(issue.number ?? 0) \(issue.title ?? "?")")
    }
  }

  /// A value that the schema did not have when this was compiled keeps its text.
  private func visibility(_ repository: Repository) -> String {
    switch repository.visibility {
    case .public: "for all"
    case .private: "for some"
    case .unknown(let value): "\(value.lowercased()), whatever that is"
    case nil: "of unknown visibility"
    }
  }

  // MARK: The star

  /// Adds a star at once. The service's answer takes its place; if it refuses, the star goes.
  private func star(_ id: String) async throws {
    let subscription = dflat.subscribe(
      dflat.query(Repository.self).where(Repository.id == id)
    ) { result in
      for repository in result { print("  on the screen: \(text(repository))") }
    }
    defer { subscription.cancel() }
    let guess = try await dflat.write(Repository.self) { txn in
      try txn.revertible {
        guard let repository = try txn.find(Repository.self, id) else { return }
        try txn.update(repository) {
          $0.viewerHasStarred = true
          $0.stargazerCount = ($0.stargazerCount ?? 0) + 1
        }
      }
    }
    do {
      let data = try await service.ask(
        AddStarMutation(variables: .init(input: AddStarInput(starrableId: id))))
      // One transaction, so nobody sees the state between.
      try await dflat.write(User.self, Repository.self, Issue.self) { txn in
        try txn.revert(guess)
        try txn.store(data)
      }
    } catch {
      print("  the service: \(error)")
      try await dflat.write(Repository.self) { txn in _ = try txn.revert(guess) }
    }
  }
}

private func text(_ repository: Repository) -> String {
  let star = repository.viewerHasStarred == true ? "★" : "☆"
  return "\(repository.nameWithOwner ?? "?") \(star)\(repository.stargazerCount ?? 0)"
}

private func day(_ date: Date?) -> String {
  date.map { $0.formatted(.iso8601.year().month().day()) } ?? "at some time"
}
