// Deleting one object: what would be lost, and a transaction that deletes it if that is still so.

import Dflat
import Platform
import SQLiteDflat

/// What the deletion of an object would do, before it is done.
public struct ObjectDeletion: Sendable {
  /// What happens to other objects of a type, by the rules of the references to what is deleted.
  public struct Effect: Sendable, Hashable, Encodable {
    /// The name of the type.
    public let type: String
    /// How many of its objects are deleted, too.
    public let deleted: Int
    /// How many of its objects lose a key.
    public let changed: Int
  }

  /// The type of the object.
  public let type: StoredType
  /// The object.
  public let stored: StoredObject
  /// What happens to other objects; empty if nothing does.
  public let effects: [Effect]
  /// Identifies the object's bytes and the other objects that are concerned.
  public let version: String
}

extension DataStore {
  /// Finds out what the deletion of an object would do. Nothing is deleted.
  ///
  /// The rules are those of the types that the store has schemas of, or that are given.
  ///
  /// - Parameters:
  ///   - object: The object, as it was read from this store.
  ///   - type: Its type.
  /// - Throws: ``ToolError`` if an object that refers to it forbids the deletion, the store was
  ///   opened for reading, it has other versions of the type, nothing is known of the type but its
  ///   bytes, or the store cannot be read; ``DraftConflict`` if the object is gone.
  public func deletion(of object: StoredObject, in type: StoredType) throws -> ObjectDeletion {
    try consider(object, of: type) { _ in false }
  }

  /// Deletes an object, and follows the rules of the references to it, in a transaction that
  /// programs observe like any other. Blocks the calling thread until it is committed.
  ///
  /// - Parameters:
  ///   - object: The object, as it was read from this store.
  ///   - type: Its type.
  ///   - version: The ``ObjectDeletion/version`` of what a person has seen.
  /// - Throws: ``DraftConflict`` if the deletion would do something else by now; ``ToolError`` as
  ///   ``deletion(of:in:)``, and if the store cannot be written. Nothing is deleted then.
  public func delete(
    _ object: StoredObject, in type: StoredType, ifStill version: String
  ) throws {
    _ = try consider(object, of: type) { deletion in
      guard deletion.version == version else {
        throw DraftConflict(stored: deletion.stored, isOfDeletion: true)
      }
      return true
    }
  }

  /// - Parameter confirm: Says whether to delete the object.
  private func consider(
    _ object: StoredObject, of type: StoredType, _ confirm: (ObjectDeletion) throws -> Bool
  ) throws -> ObjectDeletion {
    try requireWritable()
    let entity = try type.requireEntity()
    try requireOneVersion(of: type)
    guard let known = object.row else {
      throw ToolError(.usage, "the object has no row", advice: "read it by its key")
    }
    do {
      return try withToolErrors {
        try _workspace.write(schemas: [entity]) { context in
          guard let row = try row(with: known, of: entity, as: entity) else {
            throw DraftConflict(stored: nil, isOfDeletion: true)
          }
          let deletion = ObjectDeletion(
            type: type, stored: StoredObject(row, of: entity),
            effects: try context.effects(ofDeleting: row, entity), types)
          if try confirm(deletion) { try context.delete(row, entity) }
          return deletion
        }
      }
    } catch let error as DeletionDenied {
      throw ToolError(.usage, error.problem, advice: error.advice)
    }
  }

  /// Only the program knows how the values of one version of a type follow from those of another.
  private func requireOneVersion(of type: StoredType) throws {
    let base = type.table.replacing(/_v\d+$/, with: "")
    if base == type.table { return }
    let other = types.first {
      $0.table != type.table && $0.table.replacing(/_v\d+$/, with: "") == base
    }
    guard let other else { return }
    throw ToolError(
      .usage, "the table \(other.table) has another version of \(type.name)",
      advice: "delete the object by the program, which knows what becomes of the other one")
  }
}

extension ObjectDeletion {
  /// - Parameter effects: Those on each type, the object's own first.
  fileprivate init(
    type: StoredType, stored: StoredObject, effects: [DeletionEffect], _ types: [StoredType]
  ) {
    self.type = type
    self.stored = stored
    let own = stored.rowID
    self.effects = effects.compactMap { effect in
      let deleted = effect.deleted.count { effect.table != type.table || $0 != own }
      if deleted + effect.changed.count == 0 { return nil }
      let name = types.first { $0.table == effect.table }?.name ?? effect.table
      return Effect(type: name, deleted: deleted, changed: effect.changed.count)
    }
    let concerned = effects.map { "\($0.table) \($0.deleted) \($0.changed)" }
    version = SHA256.hexadecimal(
      Array((stored.version + concerned.joined(separator: "\n")).utf8))
  }
}
