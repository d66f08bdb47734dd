// How engines differ, as a value that planning and scheduling read.

/// What a storage engine can do.
public struct EngineCapabilities: Sendable {
  /// Whether transactions may write. False for a storage that can only be read.
  public var isWritable: Bool
  /// Whether no other connection can commit while a write transaction is open.
  ///
  /// Where one can, nothing that was read before is taken for current without reading it again, and `commit` must throw a
  /// `StorageError` with `.conflict` if another connection has changed what the transaction has read.
  public var excludesOtherWriters: Bool
  /// Whether a write transaction can undo a part of itself. Where it cannot, each transaction is committed alone.
  public var canNest: Bool
  /// Which parts of queries it answers by its keys and indexes.
  public var queries: QueryCapabilities

  /// Capabilities of an engine that can do everything, but for what is said otherwise.
  public init(
    isWritable: Bool = true, excludesOtherWriters: Bool = true, canNest: Bool = true,
    queries: QueryCapabilities = QueryCapabilities()
  ) {
    self.isWritable = isWritable
    self.excludesOtherWriters = excludesOtherWriters
    self.canNest = canNest
    self.queries = queries
  }
}
