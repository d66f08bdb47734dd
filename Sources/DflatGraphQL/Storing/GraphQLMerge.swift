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
  /// The rules for the part of the response that is being walked.
  private var rules: GraphQLMergeRules

  init(_ rules: MergeRuleNode? = nil) { self.rules = GraphQLMergeRules(rules) }

  /// Adds one place in the response where an entity stands.
  ///
  /// - Parameters:
  ///   - type: The entity's type.
  ///   - key: Its primary key.
  ///   - change: Sets the fields that are selected there and that the rules say are stored, and the
  ///     key.
  public func add<Element: Atom>(
    _ type: Element.Type, _ key: Element.ID,
    _ change: @escaping (Element._Draft, GraphQLMergeRules) -> Void
  ) throws {
    guard let values = key._keyValues(in: Element._schema.primaryKey[...]) else {
      throw GraphQLKeyError(entity: "\(type)", key: "\(key)")
    }
    collection(of: type).add(values, .init(change: change, rules: rules))
  }

  /// Adds one place in the response where an entity stands whose key has several fields.
  ///
  /// - Parameters:
  ///   - type: The entity's type.
  ///   - key: The fields of its primary key, in order.
  ///   - change: Sets the fields that are selected there and that the rules say are stored, and the
  ///     key.
  public func add<Element: Atom, each Part: PrimaryKey>(
    _ type: Element.Type, fields key: repeat each Part,
    change: @escaping (Element._Draft, GraphQLMergeRules) -> Void
  ) throws where Element.ID == CompositeKey<repeat each Part> {
    try add(type, CompositeKey(repeat each key), change)
  }

  /// Hands every entity in a field's value to this merge, unless its path has failed.
  ///
  /// - Parameters:
  ///   - part: The value.
  ///   - key: The field's key in the response.
  public func store(_ part: some GraphQLStorable, _ key: String) throws {
    if rules.node == nil { return try part._store(in: self) }
    if rules.stores(key) { try store(part, rules[key]) }
  }

  /// Hands every entity in a list to this merge, unless its element has failed.
  func store(elements: [some GraphQLStorable]) throws {
    guard let node = rules.node else { return try elements.forEach { try $0._store(in: self) } }
    for (index, rules) in node.storedElements(elements.count) {
      try store(elements[index], rules)
    }
  }

  private func store(_ part: some GraphQLStorable, _ inner: GraphQLMergeRules) throws {
    let outer = rules
    defer { rules = outer }
    rules = inner
    try part._store(in: self)
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
  /// One place in the response where an object is.
  struct Place {
    let change: (Element._Draft, GraphQLMergeRules) -> Void
    let rules: GraphQLMergeRules
  }

  /// Different keys, in the order in which they were met.
  private var keys: [KeyValues] = []
  private var numbers: [KeyValues: Int] = [:]
  /// The first place of each object.
  private var first: [Place] = []
  /// The places of objects that were met again.
  private var later: [Int: [Place]] = [:]

  func add(_ key: KeyValues, _ place: Place) {
    if let number = numbers[key] { return later[number, default: []].append(place) }
    numbers[key] = keys.count
    keys.append(key)
    first.append(place)
  }

  func carryOut(in context: WriteContext) throws -> BulkChange {
    try context.upsert(Element.self, keys: keys) { draft, number in
      first[number].change(draft, first[number].rules)
      for place in later[number] ?? [] { place.change(draft, place.rules) }
    }
  }
}

extension ChangeRequest {
  /// The object that a request for a new object is about, for generated code.
  public func _object() -> Element { Element(_row: DflatRow { self._encode(to: $0) }) }
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
