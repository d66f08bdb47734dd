// ResultChanges: the differences of a result, to a handler or as a sequence.

import Platform

/// The changes of a result, one after another. It does not end by itself; the subscription ends with the loop.
///
/// Differences follow each other without a gap, also if states between them were left out for a reader that is behind.
public struct ResultChanges<Element: Atom & Equatable>: AsyncSequence, Sendable {
  let start: FetchedResult<Element>
  let results: AsyncStream<FetchedResult<Element>>

  /// Reads the changes. They are there for one reader.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(previous: start, results: results.makeAsyncIterator())
  }

  /// The reader of the changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var previous: FetchedResult<Element>
    var results: AsyncStream<FetchedResult<Element>>.Iterator

    /// The next change; nil if the task is cancelled.
    public mutating func next() async -> ResultChange<Element>? {
      while let result = await results.next() {
        let change = ResultChange(from: previous, to: result)
        previous = result
        // Of states that were left out, the later may undo the earlier.
        if !change.isEmpty { return change }
      }
      return nil
    }
  }
}
