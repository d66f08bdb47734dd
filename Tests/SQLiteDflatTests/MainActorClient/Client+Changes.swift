// Transactions with handlers, observation, the dictionary, migrations and functions of SQL, from a
// module of the main actor.

import Observation
import SQLiteAccess
import SQLiteDflat

/// A value that a program stores in the dictionary.
nonisolated struct Settings: Codable, Equatable {
  var theme = "light"
  var size = 12
}

extension Board {
  private var all: FetchedResult<Chores.Home.Chore> {
    dflat.fetch(for: Chores.Home.Chore.self).all()
  }

  /// Writes with `performChanges`, whose handlers report to the main actor.
  public func performChanges() async -> [String] {
    let urgency = Chores.Home.Urgency.low
    let committed = await dflat.performChanges([Chores.Home.Chore.self]) { txn in
      let request = Chores.Home.ChoreChangeRequest.creationRequest()
      request.title = "laundry"
      request.urgency = urgency.next
      request.finish()
      guard case .inserted(let chore)? = try? txn.submit(request), !chore.isPressing else { return }
      guard let change = Chores.Home.ChoreChangeRequest.changeRequest(chore) else { return }
      change.effort = 7
      txn.try(submit: change)
    }
    await withCheckedContinuation { continuation in
      dflat.performChanges(
        [Chores.Home.Chore.self],
        changesHandler: { [weak self] txn in
          guard let self else { return }
          let found = dflat.fetch(for: Chores.Home.Chore.self).where(
            Chores.Home.Chore.title == "laundry")
          guard let first = found.first,
            let deletion = Chores.Home.ChoreChangeRequest.deletionRequest(first)
          else { return }
          txn.try(submit: deletion)
          Task { @MainActor in self.lines.append("deleted \(first.effort)") }
        }
      ) { success in
        Task { @MainActor in
          self.lines.append("success \(success)")
          continuation.resume()
        }
      }
    }
    return lines + ["\(committed)"]
  }

  /// Observes a result with a handler, streams, and a live query.
  public func watch() async throws -> [String] {
    let all = all
    let (handled, handler) = AsyncStream.makeStream(of: Int.self)
    subscriptions.append(
      dflat.subscribe(fetchedResult: all) { result in
        handler.yield(result.count)
        Task { @MainActor in self.lines.append("handled \(result.count)") }
      })
    let results: AsyncStream<FetchedResult<Chores.Home.Chore>> = dflat.subscribe(fetchedResult: all)
    let changes = dflat.changes(of: all)
    let live = LiveQuery(all, in: dflat)
    let counts = Observations { live.result.count }
    let following = Task {
      var seen: [Int] = []
      for await count in counts {
        seen.append(count)
        if count == 1 { break }
      }
      return seen
    }
    try await dflat.write(Chores.Home.Chore.self) { txn in
      _ = try txn.insert(Chores.Home.Chore(title: "windows", number: 1))
    }
    for await count in handled.prefix(1) { lines.append("handler \(count)") }
    for await result in results.prefix(1) { lines.append("stream \(result.count)") }
    for await change in changes.prefix(1) { lines.append("inserted \(change.insertions.count)") }
    lines.append("live \(await following.value.last ?? 0)")
    return lines
  }

  /// Stores values in the dictionary and observes one.
  public func useDictionary() async -> [String] {
    dflat.dictionary["settings"] = Settings()
    dflat.dictionary["place"] = Chores.Home.Place(x: 3, y: 4)
    let settings: Settings? = dflat.dictionary["settings"]
    let place: Chores.Home.Place? = dflat.dictionary["place"]
    let (values, teller) = AsyncStream.makeStream(of: String.self)
    subscriptions.append(
      dflat.dictionary.subscribe("settings", of: Settings.self) { event in
        switch event {
        case .initial(let value): teller.yield("initial \(value?.size ?? 0)")
        case .updated(let value): teller.yield("updated \(value.size)")
        case .deleted: teller.finish()
        }
      })
    dflat.dictionary["settings"] = Settings(size: 13)
    for await value in values.prefix(2) { lines.append(value) }
    return lines + ["\(settings == Settings()) \(place?.y ?? 0)"]
  }

  /// Migrates tasks to chores.
  public func migrate() async throws -> [String] {
    try await dflat.write(Errand.self) { txn in
      for id in 1...3 { try txn.insert(Errand(id: Int64(id), title: "task \(id)")) }
    }
    let urgency = Chores.Home.Urgency.high
    let migration = Migration(from: Errand.self, to: Chores.Home.Chore.self) { task in
      Chores.Home.Chore(title: task.title ?? "", number: Int32(task.id), urgency: urgency)
    }
    for try await progress in dflat.migrationProgress(migration) {
      lines.append("left \(progress.remaining)")
    }
    return lines + all.map(\.title)
  }

  /// Calls a closure of the main actor from SQL.
  public func callFunction() throws -> [String] {
    let connection = try Connection(inMemory: nil)
    var calls = 0
    try connection.createFunction("half", argumentCount: 1) { call in
      calls += 1
      self.lines.append("called")
      return .real(call.double(0) / 2)
    }
    let rows = try connection.rows("SELECT half(3)")
    return lines + ["\(rows)", "\(calls)"]
  }

  /// Closes the workspace and ends everything that observes it.
  public func close() async {
    for subscription in subscriptions { subscription.cancel() }
    await dflat.shutdown()
  }
}
