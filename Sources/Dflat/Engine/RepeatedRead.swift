// RepeatedRead: a read that an engine has repeated, too late.
//
// Engines call the closure of a read again if what it has read turns out not to be one state, or if
// its connection is lost. A read that has passed values to the program cannot be repeated.

/// Ends a read that cannot be repeated. An engine that knows why it has called the closure again
/// throws that instead.
package struct RepeatedRead: Error {}

extension StorageError {
  /// The storage has repeated a read after the program had got values of it.
  init(repeated schema: EntitySchema) {
    self.init(
      .busy, table: schema.table,
      message: "the storage has interrupted the read, after it had given a part of the values",
      advice: "drop these, and read again")
  }
}
