// Keys: where the objects of a response have them, and how they are stored.
//
// A reference to an entity whose key is one field is the value of this field. Any other key is a
// table of its own, which has an initialiser for each selection of such objects.

import DflatSchema
import GraphQLSchema

extension StoreWriter {
  /// Where an object has its key.
  struct Key {
    /// A field of the key.
    struct Part {
      /// The fields on the way to it; the last one is that of the key.
      let way: [SelectedField]
      /// The view that has it; nil if it is selected of all objects.
      let view: SelectedView?

      var isOptional: Bool { way.contains(where: \.isOptional) }

      func text(_ base: String) -> String {
        var text = base
        for (index, field) in way.enumerated() {
          text += ".\(field.property)" + (field.isOptional && index < way.count - 1 ? "?" : "")
        }
        return text
      }
    }

    /// The fields that count on the way to a key.
    enum Fields {
      case all
      /// Those that no condition may leave out.
      case sure
      /// Those that the operation itself selects.
      case written
      /// Those that come with the object, and not later.
      case early

      func contains(_ field: SelectedField) -> Bool {
        switch self {
        case .all: true
        case .sure: !field.isConditional || field.isAlwaysSent
        case .written: !field.isAdded
        case .early: !field.isDeferred
        }
      }
    }

    let parts: [Part]
    /// The key of the only object of its type.
    var constant: String?

    var view: SelectedView? { parts.lazy.compactMap(\.view).first }
    /// Equal for keys in the same place.
    var text: String {
      constant ?? parts.map { $0.text($0.view?.property ?? "") }.joined(separator: ",")
    }
  }

  /// The key of an object of some type; nil if it is not always selected.
  func key(of object: SelectedObject, _ type: String?, _ entity: EntityTables) -> Key? {
    if let constant = rootKey(of: object, entity) { return Key(parts: [], constant: constant) }
    let view = type.flatMap(object.view(of:))
    var parts: [Key.Part] = []
    for key in entity.keys {
      let path = key.part.path[...]
      if let way = Self.way(path, in: object.fields, counting: .sure) {
        parts.append(Key.Part(way: way, view: nil))
      } else if let view, let way = Self.way(path, in: view.object.fields, counting: .sure) {
        parts.append(Key.Part(way: way, view: view))
      } else {
        return nil
      }
    }
    return parts.isEmpty ? nil : Key(parts: parts)
  }

  /// The key of the root of all queries: there is one such object, and the service gives it no key.
  private func rootKey(of object: SelectedObject, _ entity: EntityTables) -> String? {
    guard object.type.name == entity.name, entity.name == schema.rootType(of: .query)?.name,
      let key = entity.plainKey, case .string = key.type,
      schema.type(named: entity.name)?.field(named: key.name) == nil
    else { return nil }
    return entity.name
  }

  /// The selected fields on the way to a field of a key.
  private static func way(
    _ path: ArraySlice<String>, in fields: [SelectedField], counting counted: Key.Fields
  ) -> [SelectedField]? {
    let found = fields.filter { $0.definition.name == path.first && counted.contains($0) }
    func rank(_ field: SelectedField) -> Int {
      (field.isConditional && counted != .sure ? 2 : 0) + (field.isUnaliased ? 0 : 1)
    }
    let ranked = found.enumerated().sorted {
      (rank($0.element), $0.offset) < (rank($1.element), $1.offset)
    }
    for (_, field) in ranked {
      if path.count == 1 { return [field] }
      if let inner = field.object,
        let rest = way(path.dropFirst(), in: inner.fields, counting: counted)
      {
        return [field] + rest
      }
    }
    return nil
  }

  /// Adds an object to the merge.
  /// - Parameter body: Sets the fields of `draft`.
  func write(
    _ key: Key, _ entity: EntityTables, to text: inout SourceText,
    _ body: (inout SourceText) -> Void
  ) {
    let type = swift(entity.root.name, of: entity)
    var (conditions, conversions): ([String], [String]) = ([], [])
    var values = key.constant.map { [Literal.string($0)] } ?? []
    for (number, (part, stored)) in zip(key.parts, entity.keys).enumerated() {
      let suffix = key.parts.count == 1 ? "" : "\(number + 1)"
      var value = part.text(part.view?.property ?? "self")
      // An object without a key cannot be found again.
      if part.isOptional {
        conditions.append("let key\(suffix) = \(value)")
        value = "key\(suffix)"
      }
      let (from, to) = (
        types.leaf(part.way.last?.definition.type.name ?? ""), keyType(stored.field)
      )
      if from != to {
        conversions.append(
          "let converted\(suffix): \(types.known(to)) = try merge.key(\(value), of: \(type).self)")
        value = "converted\(suffix)"
      }
      values.append(value)
    }
    func add(to text: inout SourceText) {
      for conversion in conversions { text.line(conversion) }
      let label = values.count == 1 ? "" : "fields: "
      let call = "try merge.add(\(type).self, \(label)\(values.joined(separator: ", ")))"
      text.block(call, opening: "draft, rules in") { text in
        for (stored, value) in zip(entity.keys, values) {
          text.line("draft.\(stored.field.memberName) = \(value)")
        }
        body(&text)
      }
    }
    if !conditions.isEmpty {
      text.block(ifAll: conditions) { add(to: &$0) }
    } else if conversions.isEmpty {
      add(to: &text)
    } else {
      text.block("do") { add(to: &$0) }
    }
  }

  /// The type of a field of a key.
  func keyType(_ field: FieldDefinition) -> String {
    if case .scalar(let scalar) = field.type { scalar.swiftName } else { "String" }
  }

  // MARK: Whole objects

  /// A field of the key of an object; nil if it is not selected.
  func keyValue(
    _ key: KeyField, of object: SelectedObject, _ entity: EntityTables, _ own: String?,
    isBound: Bool
  ) -> SwiftExpression? {
    // A key that the operation does not select comes from the caller.
    if let value = keyValue(key, in: object.fields, "obj", entity, counting: .written) {
      return value
    }
    if isBound, let view = own.flatMap(object.view(of:)) {
      return keyValue(key, in: view.object.fields, view.property, entity, counting: .written)
    }
    return keyOfViews(
      key, of: object, "obj", entity, object.possible.filter(entity.types.contains),
      counting: .written)
  }

  /// A field of the key of an object where it is selected of single types.
  /// - Parameters:
  ///   - base: The expression for the object.
  ///   - counted: The fields that may be on the way to it.
  func keyOfViews(
    _ key: KeyField, of object: SelectedObject, _ base: String, _ entity: EntityTables,
    _ types: [String], counting counted: Key.Fields = .all
  ) -> SwiftExpression? {
    var parts: [SwiftExpression] = []
    for type in types {
      guard let view = object.view(of: type),
        let value = keyValue(
          key, in: view.object.fields, "\(base).\(view.property)?", entity, counting: counted),
        !parts.contains(where: { $0.text == value.text })
      else { continue }
      parts.append(SwiftExpression(text: value.text, isOptional: true))
    }
    return .firstValue(of: parts, swiftType(key.field.type, of: entity))
  }

  /// A field of a key among some fields, of an object that may be optional.
  private func keyValue(
    _ key: KeyField, in fields: [SelectedField], _ base: String, _ entity: EntityTables,
    counting counted: Key.Fields = .all
  ) -> SwiftExpression? {
    let way = Self.way(key.part.path[...], in: fields, counting: counted)
    guard let way, let field = way.last,
      let conversion = conversion(field.definition.type.nullable, nil, key.field.type, entity)
    else { return nil }
    var text = base
    for (index, field) in way.enumerated() {
      text += "." + Identifier.escaped(field.property)
      if field.isOptional, index < way.count - 1 { text += "?" }
    }
    let isOptional = way.contains(where: \.isOptional) || base.hasSuffix("?")
    guard let apply = conversion.apply else {
      return SwiftExpression(text: text, isOptional: isOptional)
    }
    let map = conversion.isFailable ? "flatMap" : "map"
    return SwiftExpression(
      text: isOptional ? "(\(text)).\(map) { \(apply("$0")) }" : apply(text),
      isOptional: isOptional || conversion.isFailable)
  }

  // MARK: Tables

  /// The fields of a table that have the key of an interface's or union's objects; empty if it has
  /// none.
  func keyFields(
    of table: TableDefinition, _ object: SelectedObject, _ entity: EntityTables
  ) -> [KeyField] {
    guard object.type.isAbstract else { return [] }
    func found(_ parts: [EntityKey.Part]) -> [KeyField]? {
      let found = parts.compactMap { part in
        table.fields.first { $0.name == part.name && !$0.isDeprecated }
          .map { KeyField(field: $0, part: part) }
      }
      return found.count == parts.count ? found : nil
    }
    // Where the entity is an interface, the interfaces that implement it have its key.
    return keys[object.type.name].flatMap { found($0.parts) } ?? found(entity.keys.map(\.part))
      ?? []
  }

  /// The types of an interface's or union's objects that have no such key in the schema. These are
  /// parts of the object that holds them.
  private func typesWithoutKey(_ keys: [KeyField], _ object: SelectedObject) -> [String] {
    object.possible.filter { name in
      guard let type = schema.type(named: name) else { return false }
      return keys.contains { $0.part.leaf(in: type, schema) == nil }
    }
  }

  /// A field of the key of an interface's or union's objects, from where it is selected.
  private func selectedKey(
    _ key: KeyField, of object: SelectedObject, _ entity: EntityTables
  ) -> SwiftExpression? {
    keyValue(key, in: object.fields, "obj", entity)
      ?? keyOfViews(key, of: object, "obj", entity, object.possible)
  }

  /// Reports objects of an interface or union that have a key, and come without it.
  func reportMissingKey(
    _ object: SelectedObject, in table: TableDefinition, _ entity: EntityTables
  ) {
    let keys = keyFields(of: table, object, entity)
    if keys.isEmpty { return }
    let without = typesWithoutKey(keys, object)
    func types(without counted: Key.Fields) -> [String] {
      object.possible.filter { type in
        let fields = object.fields + (object.view(of: type)?.object.fields ?? [])
        return !without.contains(type)
          && keys.contains { keyValue($0, in: fields, "obj", entity, counting: counted) == nil }
      }
    }
    reportMissingKey(object, keys, of: types(without: .all), "")
    // What comes before its key is not stored, and the key alone later neither.
    reportMissingKey(
      object, keys, of: types(without: .early), " outside of the deferred fragment")
  }

  /// The condition that an object of an interface or union comes with its key, or that it has none;
  /// nil if that is always so.
  func keyCondition(
    of object: SelectedObject, _ table: TableDefinition, _ entity: EntityTables
  ) -> String? {
    let keys = keyFields(of: table, object, entity)
    let without = typesWithoutKey(keys, object)
    if without.count == object.possible.count { return nil }
    let values = keys.map { selectedKey($0, of: object, entity) }
    let conditions = values.compactMap { $0 }.filter(\.isOptional)
      .map { "\($0.text.contains("{") ? "(\($0.text))" : $0.text) != nil" }
    let isSelected = values.allSatisfy { $0 != nil }
    if isSelected, conditions.isEmpty { return nil }
    var alternatives = ["rules.isWhole"]
    if !without.isEmpty {
      let names = without.map(Literal.string).joined(separator: ", ")
      alternatives.append("[\(names)].contains(obj.__typename)")
    }
    if isSelected { alternatives.append(conditions.joined(separator: " && ")) }
    return alternatives.joined(separator: " || ")
  }

  /// Sets the key of an interface's or union's table where it is not a field of all its objects.
  func writeKeys(
    _ table: TableDefinition, _ entity: EntityTables, _ object: SelectedObject,
    _ text: inout SourceText
  ) {
    for key in keyFields(of: table, object, entity) {
      let isAssigned = object.fields.contains { $0.definition.name == key.field.name }
      if key.part.isPlain, isAssigned { continue }
      guard let value = selectedKey(key, of: object, entity) else { continue }
      let initial =
        value.isOptional ? initial(key.field, entity).map { " ?? \($0)" } ?? "" : ""
      text.statement("self.\(key.field.memberName) = \(value.text)\(initial)")
    }
  }

  // MARK: References

  /// The entity whose key a table has; nil if that is one field, and for other tables.
  func compositeTarget(of table: TableDefinition, in entity: EntityTables) -> EntityTables? {
    guard let name = entity.referredEntity(table) else { return nil }
    return entities.first { $0.name == name && $0.isStored && $0.plainKey == nil }
  }

  /// The table with the key of an object, whose initialiser is made; nil if it is no such table.
  func reference(
    _ object: SelectedObject, to table: TableDefinition, of entity: EntityTables
  ) -> String? {
    guard compositeTarget(of: table, in: entity) != nil else { return nil }
    convert(object, to: table, of: entity)
    return swift(table.name, of: entity)
  }

  /// How objects become a table with their key; nil if it is not selected, which is reported.
  func compositeReference(
    to target: EntityTables, _ object: SelectedObject, _ table: TableDefinition,
    _ entity: EntityTables
  ) -> Conversion? {
    let isSelected =
      key(of: object, nil, target) != nil
      || object.possible.contains { key(of: object, $0, target) != nil }
    guard isSelected, let reference = reference(object, to: table, of: entity) else {
      reportMissingKey(object, target)
      return nil
    }
    return Conversion(apply: { "\(reference)(\($0))" }, isFailable: true)
  }

  /// The initialiser of the table with the key of an object.
  func writeReference(
    to target: EntityTables, _ table: TableDefinition, _ entity: EntityTables,
    _ object: SelectedObject, to text: inout SourceText
  ) {
    /// A value for each field of the table; nil if some are not selected.
    func values(_ view: SelectedView?) -> [(field: FieldDefinition, value: SwiftExpression)]? {
      let values = target.keys.compactMap { key -> (FieldDefinition, SwiftExpression)? in
        guard let field = table.fields.first(where: { $0.name == key.field.name }) else {
          return nil
        }
        let key = KeyField(field: field, part: key.part)
        let value =
          keyValue(key, in: object.fields, "obj", entity)
          ?? view.flatMap { keyValue(key, in: $0.object.fields, $0.property, entity) }
        return value.map { (field, $0) }
      }
      return values.count == target.keys.count ? values : nil
    }
    func parts(
      _ values: [(field: FieldDefinition, value: SwiftExpression)]
    ) -> (conditions: [String], call: [String]) {
      var conditions: [String] = []
      let call = values.enumerated().map { number, part in
        var value = part.value.text
        if part.value.isOptional {
          conditions.append(
            "let key\(number + 1) = " + (value.contains("{") ? "(\(value))" : value))
          value = "key\(number + 1)"
        }
        return "\(Identifier.label(part.field.swiftName)): \(value)"
      }
      return (conditions, call)
    }
    text.block("nonisolated extension \(swift(table.name, of: entity))") { text in
      text.documentation(["The key of what is selected here; nil if it is not there."])
      let head = initialisers.access.modifier + "init?"
      text.function(head, ["_ obj: \(object.path)"]) { text in
        if let values = values(nil) {
          let (conditions, call) = parts(values)
          for condition in conditions { text.statement("guard \(condition) else { return nil }") }
          return text.list("self.init(", call, ")")
        }
        var seen: Set<String> = []
        for type in object.possible where target.types.contains(type) {
          guard let view = object.view(of: type), seen.insert(view.property).inserted,
            let values = values(view)
          else { continue }
          let (conditions, call) = parts(values)
          text.block(ifAll: ["let \(view.property) = obj.\(view.property)"] + conditions) { text in
            text.list("self.init(", call, ")")
            text.line("return")
          }
        }
        text.line("return nil")
      }
    }
  }
}

extension SourceText {
  /// `if` with several conditions, over several lines if they are long.
  mutating func block(ifAll conditions: [String], _ body: (inout SourceText) -> Void) {
    let head = "if \(conditions.joined(separator: ", "))"
    if fits(head + " {") { return block(head, body) }
    for (index, condition) in conditions.enumerated() {
      let comma = index == conditions.count - 1 ? "" : ","
      line((index == 0 ? "if " : "  ") + condition + comma)
    }
    line("{")
    nest(body)
    line("}")
  }
}
