// GraphQLMerge: the entities of a response, on their way into a transaction.
//
// First the whole response is walked, then each object is changed once. An object that the response
// has in several places gets the fields of all of them, in the order of the response; where two of
// them have the same field, the later one counts.

public import Dflat
public import Foundation

/// Collects the entities of a response. Generated code fills it.
public final class GraphQLMerge {
  /// The types, in the order in which they were met.
  private var types: [any EntityCollector] = []
  private var places: [ObjectIdentifier: Int] = [:]

  init() {}

  /// Adds one place in the response where an entity stands.
  ///
  /// - Parameters:
  ///   - type: The entity's type.
  ///   - key: Its primary key.
  ///   - change: Sets the fields that are selected there, and the key.
  public func add<Element: Atom>(
    _ type: Element.Type, _ key: Element.ID, _ change: @escaping (Element._Draft) -> Void
  ) throws {
    guard let values = key._keyValues(in: Element._schema.primaryKey[...]) else {
      throw GraphQLKeyError(entity: "\(type)", key: "\(key)")
    }
    collection(of: type).add(values, change)
  }

  /// A key in the type of the entity's field, for generated code.
  /// - Throws: ``GraphQLKeyError`` if the text is no value of that type.
  public func key<Key: LosslessStringConvertible>(
    _ text: some CustomStringConvertible, of type: Any.Type
  ) throws -> Key {
    guard let key = Key(text.description) else {
      throw GraphQLKeyError(entity: "\(type)", key: text.description)
    }
    return key
  }

  private func collection<Element: Atom>(of type: Element.Type) -> EntityCollection<Element> {
    let place = places[ObjectIdentifier(type)]
    if let place, let found = types[place] as? EntityCollection<Element> { return found }
    let collection = EntityCollection<Element>()
    places[ObjectIdentifier(type)] = types.count
    types.append(collection)
    return collection
  }

  /// Changes all objects.
  func carryOut(in context: WriteContext) throws -> BulkChange {
    var total = BulkChange()
    for type in types {
      let change = try type.carryOut(in: context)
      total = BulkChange(
        inserted: total.inserted + change.inserted, updated: total.updated + change.updated,
        unchanged: total.unchanged + change.unchanged)
    }
    return total
  }
}

private protocol EntityCollector: AnyObject {
  func carryOut(in context: WriteContext) throws -> BulkChange
}

/// The objects of one type.
private final class EntityCollection<Element: Atom>: EntityCollector {
  typealias Change = (Element._Draft) -> Void

  /// Different keys, in the order in which they were met.
  private var keys: [KeyValues] = []
  private var places: [KeyValues: Int] = [:]
  /// The first change of each object.
  private var changes: [Change] = []
  /// The changes of objects that were met again.
  private var laterChanges: [Int: [Change]] = [:]

  func add(_ key: KeyValues, _ change: @escaping Change) {
    if let place = places[key] { return laterChanges[place, default: []].append(change) }
    places[key] = keys.count
    keys.append(key)
    changes.append(change)
  }

  func carryOut(in context: WriteContext) throws -> BulkChange {
    try context.upsert(Element.self, keys: keys) { draft, place in
      changes[place](draft)
      for change in laterChanges[place] ?? [] { change(draft) }
    }
  }
}

/// An object of a response cannot be stored because its key does not fit the entity's key field.
public struct GraphQLKeyError: LocalizedError, Hashable, Sendable, CustomStringConvertible {
  /// The entity.
  public var entity: String
  /// The key in the response.
  public var key: String

  /// Creates an error from its parts.
  public init(entity: String, key: String) {
    self.entity = entity
    self.key = key
  }

  /// What is wrong.
  public var description: String {
    "the key \"\(key)\" of a \(entity) in the response does not fit the entity's key field"
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }
}
