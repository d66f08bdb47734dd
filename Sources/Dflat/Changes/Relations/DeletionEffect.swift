// DeletionEffect: what a deletion would do, before it is done.

/// What the deletion of an object does to the objects of a type.
package struct DeletionEffect: Sendable {
  /// The table of the type.
  package let table: String
  /// The row ids of the objects that are deleted, in ascending order.
  package let deleted: [Int64]
  /// Those of the objects that lose a key, in ascending order.
  package let changed: [Int64]
}
