// Subscriptions of a background store. They report the changes of every store of the directory.

extension BackgroundStore {
  /// Observes records, like `Store.subscribe(to:includingPresent:changeHandler:)`. Transactions
  /// that share a commit are reported one by one.
  ///
  /// - Parameters:
  ///   - set: The records.
  ///   - includingPresent: Whether the handler is first called with the records as they are now.
  ///   - changeHandler: Receives the records, or the error of reading them. An error does not end
  ///     the subscription.
  /// - Returns: The subscription. Keep it: releasing it cancels it.
  /// - Throws: The same errors as `Store.subscribe(to:includingPresent:changeHandler:)`.
  public nonisolated func subscribe<Record: IndexKeyRecord & Sendable>(
    to set: RecordSet<Record>, includingPresent: Bool = false,
    changeHandler: @escaping @Sendable (Result<[Record], any Error>) -> Void
  ) throws -> StoreSubscription {
    try store.subscribe(to: set, includingPresent: includingPresent, changeHandler: changeHandler)
  }

  /// Observes the record with a key, like
  /// `Store.subscribe(to:key:includingPresent:changeHandler:)`.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - includingPresent: Whether the handler is first called with the record as it is now, if
  ///     there is one.
  ///   - changeHandler: Receives what has happened to the record.
  /// - Returns: The subscription. Keep it: releasing it cancels it.
  /// - Throws: The same errors as `Store.subscribe(to:includingPresent:changeHandler:)`.
  public nonisolated func subscribe<Record: IndexKeyRecord & Sendable>(
    to recordType: Record.Type, key: Record.IndexKey, includingPresent: Bool = false,
    changeHandler: @escaping @Sendable (SubscribedRecord<Record>) -> Void
  ) throws -> StoreSubscription where Record.IndexKey: Sendable {
    try store.subscribe(
      to: recordType, key: key, includingPresent: includingPresent, changeHandler: changeHandler)
  }

  /// Observes records as a sequence of results, like
  /// `Store.changes(of:includingPresent:bufferingPolicy:)`.
  ///
  /// - Parameters:
  ///   - set: The records.
  ///   - includingPresent: Whether the first result is the present one.
  ///   - bufferingPolicy: What to keep while the consumer is behind; by default the newest result.
  /// - Returns: The results.
  /// - Throws: The same errors as `Store.subscribe(to:includingPresent:changeHandler:)`.
  public nonisolated func changes<Record: IndexKeyRecord & Sendable>(
    of set: RecordSet<Record>, includingPresent: Bool = false,
    bufferingPolicy: AsyncThrowingStream<[Record], any Error>.Continuation.BufferingPolicy =
      .bufferingNewest(1)
  ) throws -> AsyncThrowingStream<[Record], any Error> {
    try store.changes(
      of: set, includingPresent: includingPresent, bufferingPolicy: bufferingPolicy)
  }

  /// Observes the record with a key as a sequence of its values, like
  /// `Store.changes(of:key:includingPresent:bufferingPolicy:)`.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - key: The complete key.
  ///   - includingPresent: Whether the first value is the present one, if there is one.
  ///   - bufferingPolicy: What to keep while the consumer is behind; by default the newest value.
  /// - Returns: The values.
  /// - Throws: The same errors as `Store.subscribe(to:includingPresent:changeHandler:)`.
  public nonisolated func changes<Record: IndexKeyRecord & Sendable>(
    of recordType: Record.Type, key: Record.IndexKey, includingPresent: Bool = false,
    bufferingPolicy: AsyncThrowingStream<Record, any Error>.Continuation.BufferingPolicy =
      .bufferingNewest(1)
  ) throws -> AsyncThrowingStream<Record, any Error> where Record.IndexKey: Sendable {
    try store.changes(
      of: recordType, key: key, includingPresent: includingPresent,
      bufferingPolicy: bufferingPolicy)
  }
}
