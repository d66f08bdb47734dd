// Reading objects where the storage has them.

public import FlatBuffersRuntime

extension ObjectQuery {
  /// Calls a closure with each object in place, in the query's order: nothing is copied, and no
  /// object is made.
  ///
  ///     var total = 0
  ///     try dflat.query(Order.self).where(Order.isOpen).scan { total += $0.scalar(at: 6, default: 0) }
  ///
  /// Use it to read many objects into types of your own. The fields are those of the schema, by
  /// their vtable offsets.
  ///
  /// - Parameter body: Reads the fields. The reader is valid during the call only; the closure must
  ///   neither keep it nor use the workspace. Its errors end the scan.
  /// - Throws: The errors of `body`; `StorageError`; `WorkspaceError`; `FunctionError`;
  ///   `CancellationError` in a `read` whose task was cancelled.
  public func scan(_ body: (_ object: TableReader) throws -> Void) throws {
    let query = query
    try reading(query) { reader in
      try reader.scan(query) { bytes in
        guard let table = TableReader(root: bytes) else {
          preconditionFailure("a row was verified that cannot be read")
        }
        try body(table)
        return true
      }
    }
  }
}
