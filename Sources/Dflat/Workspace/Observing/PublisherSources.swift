// The sources of publishers, without Combine: see Publishers.swift.
//
// Each source begins at the first demand, and sends into a buffer that respects the demand. No
// source keeps the workspace alive: programs close a workspace by releasing it, and then nothing
// more is sent.

import Platform

/// The states of an object, until it is deleted.
package struct AtomSource<Element: Atom & Equatable>: Sendable {
  let core: WorkspaceCore
  let object: Element

  package init(core: WorkspaceCore, object: Element) {
    self.core = core
    self.object = object
  }

  package func start(_ buffer: DemandBuffer<SubscribedObject<Element>>) -> any WorkspaceSubscription
  {
    core.observe(object._row, Element._schema) { [weak buffer] row in
      guard let row else {
        buffer?.send(.deleted)
        buffer?.finish()
        return
      }
      buffer?.send(.updated(Element(_row: row)))
    }
  }
}

/// The states of a result.
package struct ResultSource<Element: Atom & Equatable>: Sendable {
  let core: WorkspaceCore
  let result: FetchedResult<Element>

  package init(core: WorkspaceCore, result: FetchedResult<Element>) {
    self.core = core
    self.result = result
  }

  package func start(_ buffer: DemandBuffer<FetchedResult<Element>>) -> any WorkspaceSubscription {
    core.observe(result._rows, result.origin, for: "publisher(for:)") {
      [weak buffer] rows, origin in
      buffer?.send(FetchedResult(rows, origin))
    }
  }
}

/// The result of a query, and then its states. The query runs once, at the first demand, for all
/// subscribers.
package final class QuerySource<Element: Atom & Equatable>: Sendable {
  private let core: WorkspaceCore
  private let query: Query
  private let first = Mutex<FetchedResult<Element>?>(nil)

  init(_ core: WorkspaceCore, _ query: Query) {
    self.core = core
    self.query = query
  }

  package convenience init(
    _ core: WorkspaceCore, _ condition: Node?, _ limit: Limit, _ orderBy: [OrderBy<Element>]
  ) {
    self.init(core, QueryBuilder<Element>(core).query(condition, limit, orderBy))
  }

  private var result: FetchedResult<Element> {
    first.withLock { first in
      if let first { return first }
      let result = QueryBuilder<Element>(core).fetch(query)
      first = result
      return result
    }
  }

  package func start(_ buffer: DemandBuffer<FetchedResult<Element>>) -> any WorkspaceSubscription {
    let result = result
    buffer.send(result)
    return ResultSource(core: core, result: result).start(buffer)
  }
}
