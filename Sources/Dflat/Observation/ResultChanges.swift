// ResultChanges: the differences of a result, to a handler or as a sequence.

import Platform

/// The changes of a result, one after another. The sequence does not end by itself; the
/// subscription ends with the loop.
///
/// Each difference begins at the state where the one before ended, even if a reader that is behind
/// skips states in between.
public struct ResultChanges<Element: Atom & Equatable>: AsyncSequence, Sendable {
  let start: FetchedResult<Element>
  let results: AsyncStream<FetchedResult<Element>>

  /// Makes the iterator. The sequence supports a single iteration.
  public func makeAsyncIterator() -> AsyncIterator {
    AsyncIterator(previous: start, results: results.makeAsyncIterator())
  }

  /// The iterator over the changes.
  public struct AsyncIterator: AsyncIteratorProtocol {
    var previous: FetchedResult<Element>
    var results: AsyncStream<FetchedResult<Element>>.Iterator

    /// The next change; nil if the task is cancelled.
    public mutating func next() async -> ResultChange<Element>? {
      while let result = await results.next() {
        let change = ResultChange(from: previous, to: result)
        previous = result
        // Of several skipped states, a later one may undo an earlier one.
        if !change.isEmpty { return change }
      }
      return nil
    }
  }
}

/// The differences between states that come one after another: each begins where the one before
/// ended. Used by one thread at a time.
final class StateDifferences<Element: Atom>: Sendable {
  private let last: Mutex<FetchedResult<Element>>

  init(from start: FetchedResult<Element>) {
    last = Mutex(start)
  }

  /// The difference of the next state from the last one; nil if they are equal.
  func take(_ result: FetchedResult<Element>) -> ResultChange<Element>? {
    let previous = last.withLock { last in
      defer { last = result }
      return last
    }
    let change = ResultChange(from: previous, to: result)
    // Of several skipped states, a later one may undo an earlier one.
    return change.isEmpty ? nil : change
  }
}
