// Subscriptions with handlers and as asynchronous sequences.

internal import LMDB
internal import Platform

/// A subscription to records. Releasing the last reference cancels it.
public final class StoreSubscription: Sendable {
  private let end: @Sendable () -> Void
  /// The directory notifies observers as long as a database of it is open.
  private let database: Mutex<OpenDatabase?>

  init(keeping database: OpenDatabase, _ end: @escaping @Sendable () -> Void) {
    self.database = Mutex(database)
    self.end = end
  }

  deinit { end() }

  /// Cancels the subscription. After this returns, no new call of the handler begins; a call that
  /// is already running on another thread may still finish. Cancelling again has no effect.
  public func cancel() {
    end()
    // The directory may close, which is not done under the lock.
    withExtendedLifetime(database.withLock { $0.take() }) {}
  }
}

/// What has happened to an observed record.
public enum SubscribedRecord<Record: IndexKeyRecord> {
  /// The record was inserted, or its values changed.
  case updated(Record)
  /// The record was deleted. This is the last event, even if a record with this key is stored
  /// again.
  case deleted
  /// The record could not be read.
  case failed(any Error)
}

extension SubscribedRecord: Sendable where Record: Sendable {}

extension Store {
  /// Observes records: calls a handler once for each transaction that changes which records are in
  /// a set, their values or their order.
  ///
  ///     let subscription = try store.subscribe(to: Person.query(city: "Lima")) { people in
  ///       …
  ///     }
  ///
  /// The handler receives what reading the set right after that transaction would return. Calls are
  /// made after the commit, in commit order, and before `withTransaction` returns to its caller.
  /// Handlers run on queues of the store; those of one record type run one at a time. A handler may
  /// read, write, subscribe and cancel. A transaction that a handler runs on its thread, also in
  /// `sync` of another queue, does not wait for the handlers that it causes to be called. A handler
  /// must not wait for the thread that made the change, because that thread waits for the handler,
  /// nor for another thread that writes.
  ///
  /// Subscribing reads the records once, and does not wait for writers, except without the lock
  /// file. A transaction that is committed meanwhile may belong to the present state.
  ///
  /// Transactions that are rolled back are not reported, nor is a record that one transaction
  /// inserts and deletes. Only changes by stores of this directory in this process are reported,
  /// not those of other processes.
  ///
  /// - Parameters:
  ///   - set: The records.
  ///   - includingPresent: Whether the handler is first called with the records as they are now.
  ///   - changeHandler: Receives the records, or the error of reading them. An error does not end
  ///     the subscription.
  /// - Returns: The subscription. Keep it: releasing it cancels it.
  /// - Throws: The error of a set that can never be read, such as one with a NUL in its query;
  ///   `MDBError`.
  public func subscribe<Record: IndexKeyRecord & Sendable>(
    to set: RecordSet<Record>, includingPresent: Bool = false,
    changeHandler: @escaping @Sendable (Result<[Record], any Error>) -> Void
  ) throws -> StoreSubscription {
    try observe(set, includingPresent: includingPresent) {
      changeHandler($0)
      return true
    }
  }

  /// Observes the record with a key: calls a handler once for each transaction that changes it. The
  /// last call is `deleted`.
  ///
  /// The record need not exist yet; the first insertion is reported as an update. Otherwise the
  /// same as `subscribe(to:includingPresent:changeHandler:)`.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - includingPresent: Whether the handler is first called with the record as it is now, if
  ///     there is one.
  ///   - changeHandler: Receives what has happened to the record.
  /// - Returns: The subscription. Keep it: releasing it cancels it.
  /// - Throws: The same errors as `subscribe(to:includingPresent:changeHandler:)`.
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
          // A record that does not exist yet was not deleted.
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

  /// Observes records as a sequence of results, one for each transaction as in
  /// `subscribe(to:includingPresent:changeHandler:)`.
  ///
  /// The sequence ends when the consuming task is cancelled or the sequence is released. It throws
  /// the error of reading the records.
  ///
  /// - Parameters:
  ///   - set: The records.
  ///   - includingPresent: Whether the first result is the present one.
  ///   - bufferingPolicy: What to keep while the consumer is behind; by default the newest result.
  /// - Returns: The results.
  /// - Throws: The same errors as `subscribe(to:includingPresent:changeHandler:)`.
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

  /// Observes the record with a key as a sequence of its values. The sequence ends when the record
  /// is deleted.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - includingPresent: Whether the first value is the present one, if there is one.
  ///   - bufferingPolicy: What to keep while the consumer is behind; by default the newest value.
  /// - Returns: The values.
  /// - Throws: The same errors as `subscribe(to:includingPresent:changeHandler:)`.
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
    let observer = try Observer(
      set, includesPresent: includingPresent, core.observation, handler)
    do { try core.observation.register(observer, reading: readCommitted) } catch {
      observer.cancel()
      throw error
    }
    return StoreSubscription(keeping: database) { observer.cancel() }
  }

  /// Calls a closure with the committed state, even inside a transaction that is open on this
  /// thread.
  private func readCommitted<R>(_ body: (TransactionContext) throws -> R) throws -> R {
    if let open = openTransaction { return try open.core.withReader(body) }
    let core = database.acquireLock(readOnly: true)
    defer { database.releaseLock(of: core, readOnly: true) }
    return try core.withReader(body)
  }
}

/// A flag that resets when it is read.
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
