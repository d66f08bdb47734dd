// StoredUpload: an upload as it waits in a store, beside the values that it is about.
//
// Its id is greater than those of all uploads that were enqueued before and are still there, so the
// order of ids is the order of transactions.

public import Foundation

@Persistable(
  version: 1, table: "silo_uploads",
  shape:
    "id:I64 queue:S orderingKey:S key:U payload:X attempts:I=0 nextAttempt:D? isParked:B=false lastError:S? wasSent:B=false"
)
struct StoredUpload: Identifiable, Sendable {
  var id: Int64
  @Indexed var queue: String
  @Indexed var orderingKey: String
  /// The idempotency key.
  @Unique var key: UUID
  /// The upload as JSON.
  var payload: Data
  var attempts = 0
  /// When it may be sent again; nil if it has not failed.
  var nextAttempt: Date?
  var isParked = false
  var lastError: String?
  /// Whether a server may have got it.
  var wasSent = false
}

extension SilosTransaction {
  /// Enqueues an upload: it is sent if this transaction is committed, and only then.
  ///
  ///     try await silos.write { txn in
  ///       try txn[Task.self].save(task)
  ///       try txn.enqueue(TaskUpload.update(task.id))
  ///     }
  ///
  /// - Returns: The idempotency key.
  /// - Throws: The errors of the encoding and of the storage.
  @discardableResult
  public func enqueue<U: Upload>(_ upload: U) throws -> UUID {
    let payload = try JSONEncoder().encode(upload)
    let uploads = self[StoredUpload.self]
    let last = try uploads.values(orderBy: [StoredUpload.id.descending], limit: 1).first
    let (id, isOver) = (last?.id ?? 0).addingReportingOverflow(1)
    if isOver {
      throw StorageError(
        .invalidValue, table: Canonical<StoredUpload>._schema.table,
        message: "no id is left for an upload, because the last one has the greatest id",
        advice: "remove that upload")
    }
    let stored = StoredUpload(
      id: id, queue: U.queueName, orderingKey: upload.orderingKey, key: UUID(),
      payload: payload)
    try uploads.save(stored)
    return stored.key
  }
}
