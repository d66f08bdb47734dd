// The sources of publishers, without Combine: see Publishers.swift.
//
// Each source begins at the first demand, and sends into a buffer that respects the demand. No
// source keeps the workspace alive: programs close a workspace by releasing it, and then nothing
// more is sent.

import Platform

/// What a publisher publishes.
package struct PublisherSource<Output: Sendable>: Sendable {
  /// Begins to send.
  package let start: @Sendable (DemandBuffer<Output>) -> any WorkspaceSubscription

  /// The answers to a request.
  package init(core: WorkspaceCore, request: some Request<Output>) {
    // The form itself may hold the workspace.
    let follow = request._form.requireUse(in: core).follow
    start = { buffer in
      follow(core) { [weak buffer] in buffer?.send($0) }
    }
  }

  /// The states of an object, until it is deleted.
  package init<Element: Atom & Equatable>(core: WorkspaceCore, object: Element)
  where Output == SubscribedObject<Element> {
    start = { buffer in
      core.states(of: object) { [weak buffer] state in
        buffer?.send(state)
        if case .deleted = state { buffer?.finish() }
      }
    }
  }

  /// The states of a result.
  package init<Element: Atom & Equatable>(core: WorkspaceCore, result: FetchedResult<Element>)
  where Output == FetchedResult<Element> {
    start = { buffer in
      core.states(of: result, for: "publisher(for:)") { [weak buffer] in buffer?.send($0) }
    }
  }

  /// The result of a query, and then its states. The query runs once, at the first demand, for all
  /// subscribers.
  package init<Element: Atom & Equatable>(
    _ core: WorkspaceCore, _ condition: Node?, _ limit: Limit, _ orderBy: [OrderBy<Element>]
  ) where Output == FetchedResult<Element> {
    let builder = QueryBuilder<Element>(core)
    let query = builder.query(condition, limit, orderBy)
    let first = FirstResult<Element>()
    start = { buffer in
      let result = first.get { builder.fetch(query) }
      buffer.send(result)
      return PublisherSource(core: core, result: result).start(buffer)
    }
  }
}

/// A result that is fetched once.
private final class FirstResult<Element: Atom>: Sendable {
  private let result = Mutex<FetchedResult<Element>?>(nil)

  func get(_ fetch: () -> FetchedResult<Element>) -> FetchedResult<Element> {
    result.withLock { result in
      if let result { return result }
      let fetched = fetch()
      result = fetched
      return fetched
    }
  }
}
