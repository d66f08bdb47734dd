// Changing one object: a draft that is compared with what is stored, and a transaction that stores
// it if the object is still the one that the draft was made of.

import Dflat
public import Foundation
import SQLiteDflat

/// An object as a person wants it, before it is stored.
public struct ObjectDraft: Sendable {
  /// Its type.
  public let type: StoredType
  /// The object with the same key as it is stored; nil if there is none.
  public let stored: StoredObject?
  /// The object as it would be stored.
  public let object: StoredObject
  /// The fields that would get other values, in the order of their names, as JSON.
  public let changes: [ObjectDifference.Field]
  fileprivate let row: Row

  /// The values of its key as text.
  public var key: [String] { object.key }
}

/// A draft was not stored, or an object was not deleted: it is not the one any more that the person
/// has seen.
public struct DraftConflict: Error, Sendable, CustomStringConvertible {
  /// The object as it is stored now; nil if it was deleted.
  public let stored: StoredObject?
  let isOfDeletion: Bool

  /// What is wrong, and what to do.
  public var description: String {
    if isOfDeletion {
      return
        "the object, or what refers to it, was changed meanwhile: nothing was deleted. Look at "
        + "it again"
    }
    return stored == nil
      ? "the object was deleted meanwhile: nothing was stored. Store it as a new one, or leave it"
      : "the object was changed meanwhile, or one with its key is there: nothing was stored. "
        + "Compare your values with those that are stored now"
  }
}

extension DataStore {
  /// Reads an object from JSON and compares it with the stored one. Nothing is stored.
  ///
  /// - Parameters:
  ///   - type: The type of the object.
  ///   - json: The object, as ``StoredObject/json()`` writes it. Fields that it lacks get their
  ///     defaults.
  /// - Throws: ``ImportProblem`` if it is no such object, with the field; ``ToolError`` if nothing
  ///   is known of the type but its bytes, the stored object has a value that JSON does not have,
  ///   such as a text that is not UTF-8, a field that is changed has what only a newer schema
  ///   knows, or the store cannot be read.
  public func draft(of type: StoredType, json: Data) throws -> ObjectDraft {
    let entity = try type.requireEntity()
    let row = try RowReading(entity).row(
      ofJSON: Array(json), line: 1, RowReading.makeDecoder())
    let object = StoredObject(row, of: entity, isStored: false)
    return try withToolErrors {
      let storedRow = try self.row(with: row, of: entity, as: entity)
      if let storedRow { try requireSameAsJSON(storedRow, of: entity) }
      let stored = storedRow.map { StoredObject($0, of: entity) }
      let changes = try StoredObject.differences(stored ?? StoredObject([]), object).map {
        ObjectDifference.Field(name: $0.name, first: $0.first.json, second: $0.second.json)
      }
      if let storedRow { try requireKnown(changes.map(\.name), in: storedRow, of: entity) }
      return ObjectDraft(type: type, stored: stored, object: object, changes: changes, row: row)
    }
  }

  /// A draft was JSON. It must not change what the person has not changed: a text that is not
  /// UTF-8, for example, is another one in JSON.
  private func requireSameAsJSON(_ row: Row, of entity: EntitySchema) throws {
    let json = try StoredObject(row, of: entity).json()
    let again = try RowReading(entity).row(ofJSON: Array(json), line: 1, RowReading.makeDecoder())
    guard let field = entity.fieldThatDiffers(row, again) else { return }
    throw ToolError(
      .badData,
      "'\(field)' of this \(entity.layout.name) has a value that JSON does not have, such as a text "
        + "that is not UTF-8: to store an edited copy would change it",
      advice: "change the object in a program, or delete it and store it anew")
  }

  /// Fields that a draft changes must not have what only a newer schema knows: the person has not
  /// seen it. All others keep it.
  private func requireKnown(
    _ changed: [String], in row: Row, of entity: EntitySchema
  ) throws {
    let part = entity.unknownPart(of: row) { property in
      property.columns.contains { changed.contains($0.name) }
    }
    guard let part else { return }
    throw ToolError(
      .badData, entity.unknownPartProblem(part, "to store an edited copy would remove it"),
      advice: "give the newer schema, --schema FILE.fbs, or leave this field as it is")
  }

  /// Stores a draft, in a transaction that programs observe like any other. Blocks the calling
  /// thread until it is committed.
  ///
  /// - Parameters:
  ///   - draft: The draft.
  ///   - version: The ``StoredObject/version`` of the object that the draft was made of; nil for a
  ///     new object.
  /// - Throws: ``DraftConflict`` if the stored object has another version; ``ToolError`` if the
  ///   store was opened for reading, another object has a unique value of the draft, or the store
  ///   cannot be written. Nothing is stored then.
  public func commit(_ draft: ObjectDraft, replacing version: String?) throws {
    try requireWritable()
    let entity = try draft.type.requireEntity()
    try withToolErrors {
      try _workspace.write(schemas: [entity]) { context in
        // What is compared here is what is replaced: if another connection commits in between, this
        // runs again.
        let stored = try row(with: draft.row, of: entity, as: entity)
          .map { StoredObject($0, of: entity) }
        guard stored?.version == version else {
          throw DraftConflict(stored: stored, isOfDeletion: false)
        }
        try context.upsert(entity, [draft.row], losingNothing: true)
      }
    }
  }
  /// - Throws: ``ToolError`` if the store was opened for reading.
  func requireWritable() throws {
    if isWritable { return }
    throw ToolError(.usage, "\(path) was opened for reading only", advice: "open it for changes")
  }
}
