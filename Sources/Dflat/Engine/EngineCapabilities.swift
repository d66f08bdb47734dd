// EngineCapabilities: how engines differ, as a value that the planner and the scheduler read.

/// What a storage engine can do.
package struct EngineCapabilities: Sendable {
  /// Whether transactions may write. False for read-only storage.
  package var isWritable: Bool
  /// Whether no other connection can commit while a write transaction is open.
  ///
  /// If other connections can, nothing that was read earlier is taken for current without reading
  /// it again. `commit` must then throw a `StorageError` with `.conflict` if another connection has
  /// changed what the transaction has read.
  package var excludesOtherWriters: Bool
  /// Whether a write transaction can roll back a part of itself. If not, each transaction is
  /// committed alone.
  package var canNest: Bool
  /// Whether a write transaction is bound to the thread that begins it, as with storages that know
  /// the owner of a lock by its thread.
  ///
  /// If so, a thread of the workspace's own begins every write transaction and makes all calls of
  /// its `StorageWriter` except `mayBeJoined`, whatever threads the program's transactions run on;
  /// there is one such thread for each write transaction that can be open at once. Each call then
  /// costs two thread switches, and the functions of the program that it calls for a row, as in a
  /// condition or in `forEach`, run on that thread, too. Snapshots are not bound, and no snapshot
  /// goes on as a write transaction; see `WritableSnapshot`.
  package var bindsWritersToThread: Bool
  /// How many keys are looked up together where a call has many: more than one if each question
  /// costs a message.
  package var keysAtOnce: Int
  /// How many write transactions can be open at once. More than one only without `canNest` and
  /// `excludesOtherWriters`.
  package var writersAtOnce: Int
  /// Whether `beginWritingWithPrecedence` keeps the transactions of other connections waiting. If
  /// so, a transaction that has met several conflicts begins with it, before it reads.
  package var givesPrecedence: Bool
  /// For how long `write` runs a closure again after conflicts, if its caller does not limit the
  /// number of attempts. It runs it eight times in any case.
  package var conflictPatience: Duration
  /// Which parts of queries it answers by its keys and indexes.
  package var queries: QueryCapabilities

  /// Creates capabilities; the defaults describe an engine that can do everything.
  package init(
    isWritable: Bool = true, excludesOtherWriters: Bool = true, canNest: Bool = true,
    bindsWritersToThread: Bool = false, keysAtOnce: Int = 1, writersAtOnce: Int = 1,
    givesPrecedence: Bool = false, conflictPatience: Duration = .zero,
    queries: QueryCapabilities = QueryCapabilities()
  ) {
    self.isWritable = isWritable
    self.excludesOtherWriters = excludesOtherWriters
    self.canNest = canNest
    self.bindsWritersToThread = bindsWritersToThread
    self.keysAtOnce = keysAtOnce
    self.writersAtOnce = writersAtOnce
    self.givesPrecedence = givesPrecedence
    self.conflictPatience = conflictPatience
    self.queries = queries
  }
}
