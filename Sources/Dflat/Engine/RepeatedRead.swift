// RepeatedRead: a read that an engine has begun again, too late.
//
// Engines call the closure of a read again if what it has read turns out not to be one state, or if
// its connection is lost. One that has passed values on cannot begin anew.

/// Ends a read that cannot begin anew. An engine that knows why it has called the closure again
/// throws that instead.
package struct RepeatedRead: Error {}

extension StorageError {
  /// The storage has begun a read again after values were passed on.
  init(repeated schema: EntitySchema) {
    self.init(
      .busy, table: schema.table,
      message: "the read had to begin anew, after a part of the values was passed on",
      advice: "drop these, and ask again")
  }
}
