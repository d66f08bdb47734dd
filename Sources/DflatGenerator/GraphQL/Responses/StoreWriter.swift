// Writes how the entities of a response are merged into what is stored.
//
// An object of the response is an entity if its type is the entity's type or one of those that
// implement it. Each such place adds a closure that sets the selected fields on a change request.
// How fields are set, and how objects that are no entities become tables of the entity's schema, is
// in the files of the entities' initialisers.

import Diagnostics
import DflatSchema
import GraphQLSchema

final class StoreWriter {
  let types: ResponseTypes
  let entities: [EntityTables]
  /// Where initialisers go.
  let initialisers: EntityInitialisers
  /// The arguments of all selections that are stored.
  let argumentCheck: ArgumentCheck
  let sink: DiagnosticSink
  let schema: GraphQLSchema.Schema
  /// The keys of interfaces and unions, by their names.
  let keys: [String: EntityKey]
  /// The names in this operation's structures, which hide entities with the same name.
  private var innerNames: Set<String> = []
  private var isInsideData = true
  private var aliases: [String: String] = [:]
  private var storing: [ObjectIdentifier: Bool] = [:]
  /// Tables that objects are to be converted to.
  private(set) var pending: [TableConversion] = []
  private var seen: Set<String> = []
  /// The elements of lists that pages can be added to.
  var pageable: Set<ObjectIdentifier> = []
  /// The fields whose objects have no key, which were reported.
  private var reported: Set<ObjectIdentifier> = []
  /// The enums that were reported.
  var reportedEnums: Set<String> = []

  struct TableConversion {
    let entity: EntityTables
    let table: TableDefinition
    let object: SelectedObject
  }

  init(
    types: ResponseTypes, entities: [EntityTables], initialisers: EntityInitialisers,
    argumentCheck: ArgumentCheck, sink: DiagnosticSink, schema: GraphQLSchema.Schema,
    keys: [String: EntityKey]
  ) {
    self.types = types
    self.entities = entities
    self.initialisers = initialisers
    self.argumentCheck = argumentCheck
    self.sink = sink
    self.schema = schema
    self.keys = keys
  }

  /// Writes the extensions for an operation's data, and adds the initialisers that it needs.
  /// - Returns: The aliases that the file needs.
  func write(
    _ data: SelectedObject, _ innerNames: Set<String>, _ access: AccessLevel,
    to text: inout SourceText
  ) -> [(name: String, type: String)] {
    self.innerNames = innerNames
    writeStore(data, isView: false, access, to: &text)
    // Initialisers are outside of these structures.
    self.innerNames = []
    isInsideData = false
    writeInitialisers(data)
    writeLists(data, access, to: &text)
    return aliases.sorted { $0.key < $1.key }.map { (name: $0.value, type: $0.key) }
  }

  /// The Swift name of an entity's type, also from inside any structure of the operation.
  func swift(_ name: QualifiedName, of entity: EntityTables) -> String {
    let parts = entity.swift(name).split(separator: ".").map(String.init)
    guard let first = parts.first, isInsideData, innerNames.contains(first) || first == "Data"
    else {
      return parts.map(Identifier.escaped).joined(separator: ".")
    }
    // The conditions of an interface's or union's fields may have such a name.
    let others = entities.filter { $0.subtype != nil }.map { $0.name + "Entity" }
    let alias = Identifier.fresh(first + "Entity", avoiding: innerNames.union(others))
    aliases[Identifier.escaped(first)] = alias
    return ([alias] + parts.dropFirst().map(Identifier.escaped)).joined(separator: ".")
  }

  // MARK: Entities

  private func isStoring(_ object: SelectedObject, isView: Bool = false) -> Bool {
    if let known = storing[ObjectIdentifier(object)] { return known }
    let result =
      (!isView && entities.contains { $0.isStored && $0.part(of: object) != .none })
      || object.fields.contains { $0.object.map { isStoring($0) } ?? false }
      || object.views.contains { isStoring($0.object, isView: true) }
    storing[ObjectIdentifier(object)] = result
    return result
  }

  private func writeStore(
    _ object: SelectedObject, isView: Bool, _ access: AccessLevel, to text: inout SourceText
  ) {
    guard isStoring(object, isView: isView) else { return }
    text.gap()
    text.type("nonisolated extension \(object.path)", [types.known("GraphQLStorable")]) { text in
      text.line("/// Hands every entity in it to a merge.")
      text.block("\(access.modifier)func _store(in merge: \(types.known("GraphQLMerge"))) throws") {
        text in
        if !isView {
          for entity in entities where entity.isStored && entity.part(of: object) != .none {
            write(object, as: entity, to: &text)
          }
        }
        for field in object.fields where field.object.map({ isStoring($0) }) == true {
          text.statement("try merge.store(self.\(field.property), \(Literal.string(field.key)))")
        }
        for view in object.views where isStoring(view.object, isView: true) {
          text.line("try self.\(view.property)._store(in: merge)")
        }
      }
    }
    for field in object.fields {
      if let inner = field.object { writeStore(inner, isView: false, access, to: &text) }
    }
    for view in object.views { writeStore(view.object, isView: true, access, to: &text) }
  }

  private func write(
    _ object: SelectedObject, as entity: EntityTables, to text: inout SourceText
  ) {
    let candidates =
      object.type.isAbstract ? object.possible.filter(entity.types.contains) : [object.type.name]
    let types = candidates.filter { type in
      let hasKey = key(of: object, type, entity) != nil
      if !hasKey { reportMissingKey(object, type, entity) }
      return hasKey
    }
    if let key = key(of: object, nil, entity), entity.part(of: object) == .all {
      // Also an object of a type that was added to the schema later is stored, without fields.
      return write(object, key, as: entity, to: &text)
    }
    let keys = types.compactMap { type in key(of: object, type, entity).map { (type, $0) } }
    guard object.type.isAbstract else {
      for (_, key) in keys { write(object, key, as: entity, to: &text) }
      return
    }
    if keys.isEmpty { return }
    text.line("switch __typename {")
    var rest = keys[...]
    while let (_, key) = rest.first {
      let same = rest.prefix { $0.1.text == key.text }
      rest = rest.dropFirst(same.count)
      text.list("case ", same.map { Literal.string($0.0) }, ":")
      text.nest { write(object, key, as: entity, to: &$0) }
    }
    text.line("default: break")
    text.line("}")
  }

  /// Merges an object that has its key in one place.
  private func write(
    _ object: SelectedObject, _ key: Key, as entity: EntityTables, to text: inout SourceText
  ) {
    func add(to text: inout SourceText) {
      write(key, entity, to: &text) { text in
        guard let subtype = entity.subtype, case .union(let union) = subtype.type else {
          return text.line("draft._merge(self, rules)")
        }
        let stored = "draft.\(subtype.memberName)"
        let merged = "\(swift(union, of: entity))._merged(\(stored), self, rules)"
        text.short(if: "let member = \(merged)", "\(stored) = member")
      }
    }
    guard let view = key.view else { return add(to: &text) }
    text.block("if let \(view.property) = self.\(view.property)") { add(to: &$0) }
  }

  /// Reports an object that is not stored because its key is not selected.
  private func reportMissingKey(
    _ object: SelectedObject, _ type: String, _ entity: EntityTables
  ) {
    let fields = object.fields + (object.view(of: type)?.object.fields ?? [])
    guard fields.contains(where: { $0.definition.name != "__typename" }) else { return }
    // Without such a field the response cannot have a key; the program makes these objects.
    guard let definition = schema.type(named: type),
      entity.keys.allSatisfy({ $0.part.resolve(in: definition, schema) != nil })
    else { return }
    reportMissingKey(object, entity)
  }

  func reportMissingKey(_ object: SelectedObject, _ entity: EntityTables) {
    guard entity.isStored, let origin = object.origin,
      reported.insert(ObjectIdentifier(origin)).inserted
    else { return }
    let definition = schema.type(named: entity.name)
    let impossible = entity.keys.first { key in
      definition.map { key.part.resolve(in: $0, schema) == nil } ?? false
    }
    let advice =
      impossible.map { key in
        "\(entity.name) has no field '\(key.part.selection)': name one that identifies its objects, "
          + "with --primary-key \(entity.name)=FIELD"
      }
      ?? "add '\(entity.keys.map(\.part.selection).joined(separator: " "))' to this selection, "
      + "without @include or @skip"
    sink.warning(
      "'\(origin.responseKey)' selects objects of the entity \(entity.name) without their key, so "
        + "they are not stored, and references to them stay as they are",
      at: (origin.alias ?? origin.name).range,
      notes: [.hint(advice)])
  }

  /// Reports objects of an interface or union that are a part of an entity and are not stored
  /// because their key is not selected. Where nothing is selected of them, there is nothing to say.
  /// - Parameter place: Where the key has to be selected, if anything is to be said of that.
  func reportMissingKey(
    _ object: SelectedObject, _ keys: [KeyField], of types: [String], _ place: String
  ) {
    let isLost = types.contains { type in
      (object.fields + (object.view(of: type)?.object.fields ?? []))
        .contains { $0.definition.name != "__typename" }
    }
    guard isLost, let origin = object.origin,
      reported.insert(ObjectIdentifier(origin)).inserted
    else { return }
    sink.warning(
      "'\(origin.responseKey)' selects objects of \(object.type.name) without their key\(place), so "
        + "they are not stored",
      at: (origin.alias ?? origin.name).range,
      notes: [
        .hint(
          "add '\(keys.map(\.part.selection).joined(separator: " "))' to this selection\(place)")
      ])
  }

  // MARK: Tables

  /// Notes that an object is converted to a table.
  func convert(_ object: SelectedObject, to table: TableDefinition, of entity: EntityTables) {
    if seen.insert("\(entity.name) \(table.name) \(object.path)").inserted {
      pending.append(TableConversion(entity: entity, table: table, object: object))
    }
  }
}

extension SourceText {
  /// `head { opening … }` over several lines.
  mutating func block(
    _ head: String, opening: String, _ body: (inout SourceText) -> Void
  ) {
    line("\(head) { \(opening)")
    nest(body)
    line("}")
  }
}
