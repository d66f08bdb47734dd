// Subscribing: handlers and streams.

internal import LMDB
internal import Platform

/// Observes records as long as it is kept: releasing the last reference cancels it.
public final class StoreSubscription: Sendable {
  private let end: @Sendable () -> Void

  init(_ end: @escaping @Sendable () -> Void) { self.end = end }

  deinit { end() }

  /// Ends it. When this has returned no call of the handler begins; one that is running on another thread may still run. Doing it twice is
  /// fine.
  public func cancel() { end() }
}

/// What has become of a record that is observed.
public enum SubscribedRecord<Record: IndexKeyRecord> {
  /// It was stored, or stored with other values.
  case updated(Record)
  /// It was deleted. Nothing follows, also when a record with this key is stored again.
  case deleted
  /// It could not be read.
  case failed(any Error)
}

extension SubscribedRecord: Sendable where Record: Sendable {}

extension Store {
  /// Observes records: calls a handler once for each transaction that has changed which records are in a set, their values or their order.
  ///
  ///     let subscription = try store.subscribe(to: .query(Query(last: .equals("Lima")))) { (people: Result<[Person], any Error>) in
  ///       …
  ///     }
  ///
  /// The handler gets what reading the set right after that transaction would have given. It is called after the commit, in the order of
  /// commits, and before the transaction is complete: before `withTransaction` returns to its caller. Handlers run on a queue of the
  /// store, those of one type of record one at a time. A handler may read, write, subscribe and cancel; a transaction that it
  /// runs does not wait for the handlers that hear of it. It must not wait for the thread that has made the change.
  ///
  /// Transactions that are undone are not heard of, nor is a record that one transaction inserts and deletes. Changes are noticed that
  /// stores of this directory in this process make, not those of other processes.
  ///
  /// - Parameters:
  ///   - set: The records.
  ///   - includingPresent: Whether the handler is first called with the records as they are now.
  ///   - changeHandler: Gets the records, or the error of reading them; after an error it goes on.
  /// - Returns: The subscription, which must be kept: releasing it cancels.
  /// - Throws: What reading the set throws that could never succeed, as a NUL in the query; `MDBError`.
  public func subscribe<Record: IndexKeyRecord & Sendable>(
    to set: RecordSet<Record>, includingPresent: Bool = false,
    changeHandler: @escaping @Sendable (Result<[Record], any Error>) -> Void
  ) throws -> StoreSubscription {
    try observe(set, includingPresent: includingPresent) {
      changeHandler($0)
      return true
    }
  }

  /// Observes the record with a key: calls a handler once for each transaction that has changed it, at last with `deleted`.
  ///
  /// There need not be a record with this key yet; the first one that is stored is an update. All else is as in
  /// `subscribe(to:includingPresent:changeHandler:)`.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - includingPresent: Whether the handler is first called with the record as it is now, if there is one.
  ///   - changeHandler: Gets what has become of the record.
  /// - Returns: The subscription, which must be kept: releasing it cancels.
  /// - Throws: As `subscribe(to:includingPresent:changeHandler:)`.
  public func subscribe<Record: IndexKeyRecord & Sendable>(
    to recordType: Record.Type, key: Record.IndexKey, includingPresent: Bool = false,
    changeHandler: @escaping @Sendable (SubscribedRecord<Record>) -> Void
  ) throws -> StoreSubscription where Record.IndexKey: Sendable {
    let isFirst = Once(includingPresent)
    return try observe(RecordSet<Record>.key(key), includingPresent: includingPresent) { result in
      let wasFirst = isFirst.take()
      switch result {
      case .success(let records):
        guard let record = records.first else {
          // Not there yet is no deletion.
          if wasFirst { return true }
          changeHandler(.deleted)
          return false
        }
        changeHandler(.updated(record))
      case .failure(let error): changeHandler(.failed(error))
      }
      return true
    }
  }

  /// Observes records as a sequence of results, one for each transaction as in `subscribe(to:includingPresent:changeHandler:)`.
  ///
  /// It ends when its reader's task is cancelled, when the sequence is released, or with the error of reading the records.
  ///
  /// - Parameters:
  ///   - set: The records.
  ///   - includingPresent: Whether the first result is what there is now.
  ///   - bufferingPolicy: What is kept for a reader that is behind: by default the newest result.
  /// - Returns: The results.
  /// - Throws: As `subscribe(to:includingPresent:changeHandler:)`.
  public func changes<Record: IndexKeyRecord & Sendable>(
    of set: RecordSet<Record>, includingPresent: Bool = false,
    bufferingPolicy: AsyncThrowingStream<[Record], any Error>.Continuation.BufferingPolicy =
      .bufferingNewest(1)
  ) throws -> AsyncThrowingStream<[Record], any Error> {
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: [Record].self, throwing: (any Error).self, bufferingPolicy: bufferingPolicy)
    let subscription = try subscribe(to: set, includingPresent: includingPresent) { result in
      switch result {
      case .success(let records): continuation.yield(records)
      case .failure(let error): continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in subscription.cancel() }
    return stream
  }

  /// Observes the record with a key as a sequence of its values. It ends when the record is deleted.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - includingPresent: Whether the first value is that of now, if there is one.
  ///   - bufferingPolicy: What is kept for a reader that is behind: by default the newest value.
  /// - Returns: The values.
  /// - Throws: As `subscribe(to:includingPresent:changeHandler:)`.
  public func changes<Record: IndexKeyRecord & Sendable>(
    of recordType: Record.Type, key: Record.IndexKey, includingPresent: Bool = false,
    bufferingPolicy: AsyncThrowingStream<Record, any Error>.Continuation.BufferingPolicy =
      .bufferingNewest(1)
  ) throws -> AsyncThrowingStream<Record, any Error> where Record.IndexKey: Sendable {
    let (stream, continuation) = AsyncThrowingStream.makeStream(
      of: Record.self, throwing: (any Error).self, bufferingPolicy: bufferingPolicy)
    let subscription = try subscribe(
      to: recordType, key: key, includingPresent: includingPresent
    ) { event in
      switch event {
      case .updated(let record): continuation.yield(record)
      case .deleted: continuation.finish()
      case .failed(let error): continuation.finish(throwing: error)
      }
    }
    continuation.onTermination = { _ in subscription.cancel() }
    return stream
  }

  private func observe<Record: IndexKeyRecord & Sendable>(
    _ set: RecordSet<Record>, includingPresent: Bool,
    _ handler: @escaping Observer<Record>.Handler
  ) throws -> StoreSubscription {
    let core = self.core
    let observer = Observer(set, core.observation, handler)
    try core.observation.register(observer) {
      try readCommitted { try observer.begin(in: $0, includingPresent: includingPresent) }
    }
    return StoreSubscription { observer.cancel() }
  }

  /// Calls a closure with what is committed, also inside of a transaction that is open on this thread.
  private func readCommitted<R>(_ body: (TransactionContext) throws -> R) throws -> R {
    if let open = openTransaction { return try open.core.withReader(body) }
    let core = beginTurn(readOnly: true)
    defer { core.table.end(readOnly: true) }
    return try core.withReader(body)
  }
}

/// A flag that is lowered by being looked at.
private final class Once: Sendable {
  private let flag: Mutex<Bool>
  init(_ flag: Bool) { self.flag = Mutex(flag) }
  func take() -> Bool {
    flag.withLock { flag in
      defer { flag = false }
      return flag
    }
  }
}
