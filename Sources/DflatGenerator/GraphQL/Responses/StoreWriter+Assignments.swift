// Writes statements that give a table's fields the values of a response, in the table's types.

import DflatSchema
import GraphQLSchema

extension StoreWriter {
  /// Sets the selected fields of a table.
  ///
  /// Where a field is selected several times, one value is stored: that of the best selection that
  /// the response has.
  /// - Parameters:
  ///   - target: The draft or value whose properties are set.
  ///   - type: The object's own type.
  ///   - base: The value that has the selected fields.
  func writeAssignments(
    to target: String, _ table: TableDefinition, _ entity: EntityTables, _ object: SelectedObject,
    _ type: String, _ base: String, _ text: inout SourceText
  ) {
    let (wide, narrow) = fields(of: object, type)
    let choices = choices(wide + narrow)
    let view = object.view(of: type)
    let narrowKeys = Set(narrow.map(\.key))
    /// The condition that a selection is left out.
    func isLeftOut(_ selected: SelectedField, isInView: Bool) -> String {
      var owner = base
      var isOptional = false
      if let view, narrowKeys.contains(selected.key) {
        isOptional = !isInView
        owner = isInView ? view.property : "\(base).\(view.property)?"
      }
      guard selected.isIncludedOrNull else { return "\(owner).\(selected.property) == nil" }
      let isIncluded = "\(owner).\(selected.stored).isIncluded"
      return isOptional ? "\(isIncluded) != true" : "!\(isIncluded)"
    }
    func write(
      _ fields: [SelectedField], _ base: String, isInView: Bool = false, to text: inout SourceText
    ) {
      for selected in fields {
        let ranked = choices[selected.definition.name] ?? []
        guard let rank = ranked.firstIndex(where: { $0.key == selected.key }) else { continue }
        let others = ranked[..<rank].map { isLeftOut($0, isInView: isInView) }
        let name = selected.definition.storedName(in: table.name.name)
        guard let field = table.fields.first(where: { $0.name == name }), !field.isDeprecated,
          !field.isPrimary
        else { continue }
        argumentCheck.note(selected, in: field, of: table, entity)
        assign(
          selected, base, unless: others, to: field, "\(target).\(field.memberName)", entity, &text)
      }
    }
    write(wide, base, to: &text)
    guard let view else { return }
    var inner = SourceText()
    write(narrow, view.property, isInView: true, to: &inner)
    if inner.text.isEmpty { return }
    text.block("if let \(view.property) = \(base).\(view.property)") { text in
      write(narrow, view.property, isInView: true, to: &text)
    }
  }

  /// The fields that an object of a type has: those of all objects, and those of the type's view.
  func fields(
    of object: SelectedObject, _ type: String
  ) -> (wide: [SelectedField], narrow: [SelectedField]) {
    let narrow = object.view(of: type)?.object.fields ?? []
    let overridden = Set(narrow.map(\.key))
    return (object.fields.filter { !overridden.contains($0.key) }, narrow)
  }

  /// The selections of each field of the schema whose value may be stored, best first: the one
  /// without an alias, and then the last. Each but the last one may be left out of a response.
  func choices(_ fields: [SelectedField]) -> [String: [SelectedField]] {
    Dictionary(grouping: fields, by: \.definition.name).mapValues { same in
      let ranked = same.filter(\.isUnaliased) + same.reversed().filter { !$0.isUnaliased }
      let sure = ranked.firstIndex { !$0.isConditional } ?? ranked.count - 1
      return Array(ranked[...sure])
    }
  }

  private func assign(
    _ selected: SelectedField, _ base: String, unless others: [String],
    to field: FieldDefinition, _ target: String, _ entity: EntityTables, _ text: inout SourceText
  ) {
    let others = others.map { $0 + ", " }.joined()
    let property = "\(base).\(selected.property)"
    let key = Literal.string(selected.key)
    func value(_ expression: String, isOptional: Bool) -> String? {
      self.value(
        expression, isOptional, selected.definition.type, selected.object, field, entity,
        merging: Merging(stored: target, rules: "rules[\(key)]"))
    }
    // An error in the key of an object leaves the reference to it.
    let lacksKey =
      selected.object.map { isReference(field.type, entity) && mayLackKey($0, entity) } ?? false
    if selected.isConditional, !selected.isIncludedOrNull {
      guard let value = value("selected", isOptional: false) else { return }
      let known = lacksKey ? ", \(value)" : ""
      return text.short(
        if: "\(others)let selected = \(property), rules.stores(\(key)\(known))",
        "\(target) = \(value)")
    }
    guard let value = value(property, isOptional: selected.isOptional) else { return }
    let isIncluded =
      selected.isIncludedOrNull ? "\(base).\(selected.stored).isIncluded, " : ""
    // An error below what must not be null makes null of this.
    let mayBeNull = lacksKey ? ", \(value)" : selected.isOptional ? ", \(property)" : ""
    text.short(
      if: "\(others)\(isIncluded)rules.stores(\(key)\(mayBeNull))", "\(target) = \(value)")
  }

  // MARK: Values

  /// What a value is merged into.
  struct Merging {
    /// The stored value.
    let stored: String
    /// The rules for the value.
    let rules: String
  }

  /// How a value that is there is converted.
  struct Conversion {
    /// The conversion of an expression; nil if nothing has to be done.
    var apply: ((String) -> String)?
    /// Whether the result is optional.
    var isFailable = false
  }

  /// An expression in the type of a table's field; nil if the types do not fit.
  /// - Parameter merging: What the field has, into which an object or list is merged; nil if a new
  ///   one is made.
  func value(
    _ expression: String, _ isOptional: Bool, _ type: TypeReference, _ object: SelectedObject?,
    _ field: FieldDefinition, _ entity: EntityTables, merging: Merging? = nil
  ) -> String? {
    if case .vector(let element) = field.type {
      if let merging {
        return mergedList(
          expression, isOptional, type, object, element, as: field.swiftType, entity, merging)
      }
      guard
        let list = list(
          expression, isOptional, type, object, element, as: field.swiftType, entity)
      else { return nil }
      return isOptional ? list + " ?? []" : list
    }
    guard
      var conversion = conversion(
        type.nullable, object, field.type, as: field.swiftType, entity, merging: merging)
    else { return nil }
    if field.defaultValue == .null { conversion = known(conversion, field.type, entity) }
    var result = expression
    if let apply = conversion.apply {
      let map = conversion.isFailable ? "flatMap" : "map"
      result = isOptional ? "\(expression).\(map) { \(apply("$0")) }" : apply(expression)
    }
    guard isOptional || conversion.isFailable, let initial = initial(field, entity) else {
      return result
    }
    return "\(result) ?? \(initial)"
  }

  /// A conversion that has no result for an unknown value of an enum, and not the first value,
  /// where there is something else to store.
  private func known(
    _ conversion: Conversion, _ stored: FieldType, _ entity: EntityTables
  ) -> Conversion {
    guard case .enumeration(let name) = stored, conversion.apply != nil,
      case .enumeration(let definition) = entity.schema.types[name]
    else { return conversion }
    initialisers.keepUnknown(of: definition, in: entity)
    let path = swift(name, of: entity)
    return Conversion(apply: { "\(path)._known(\($0))" }, isFailable: true)
  }

  /// The conversion of a list's elements. An unknown value of an enum is left out, as null is.
  func elementConversion(
    _ type: TypeReference, _ object: SelectedObject?, _ stored: FieldType, as form: SwiftType?,
    _ entity: EntityTables, merging: Merging? = nil
  ) -> Conversion? {
    conversion(type.nullable, object, stored, as: form, entity, merging: merging)
      .map { known($0, stored, entity) }
  }

  /// An expression for a vector; nil elements are left out.
  private func list(
    _ expression: String, _ isOptional: Bool, _ type: TypeReference, _ object: SelectedObject?,
    _ stored: FieldType, as form: SwiftType?, _ entity: EntityTables
  ) -> String? {
    guard let element = type.element,
      let conversion = elementConversion(element, object, stored, as: form, entity)
    else { return nil }
    let base = isOptional ? expression + "?" : expression
    guard let apply = conversion.apply else {
      return element.isNonNull ? expression : "\(base).compactMap { $0 }"
    }
    let applied = apply("$0")
    if element.isNonNull {
      return "\(base).\(conversion.isFailable ? "compactMap" : "map") { \(applied) }"
    }
    return "\(base).compactMap { $0.\(conversion.isFailable ? "flatMap" : "map") { \(applied) } }"
  }

  /// - Parameter form: The Swift type of the stored value, if the schema names one: operations have
  ///   the same.
  func conversion(
    _ type: TypeReference, _ object: SelectedObject?, _ stored: FieldType,
    as form: SwiftType? = nil, _ entity: EntityTables, merging: Merging? = nil
  ) -> Conversion? {
    if type.element != nil { return nestedList(type, object, stored, entity, merging) }
    if let object { return conversion(of: object, stored, entity, merging) }
    let swift = types.leaf(type.name)
    if let form {
      if schema.type(named: type.name)?.kind == .enumeration { storeText(of: type.name, as: form) }
      return Conversion()
    }
    switch stored {
    case .string:
      if swift == "String" { return Conversion() }
      if schema.type(named: type.name)?.kind == .enumeration {
        return Conversion(apply: { "\($0).rawValue" })
      }
      let isPlain = ["Int", "Double", "Bool"].contains(swift)
      return Conversion(apply: { isPlain ? "String(\($0))" : "String(graphQL: \($0))" })
    case .scalar(let scalar):
      if swift == scalar.swiftName { return Conversion() }
      let name = types.known(scalar.swiftName)
      if swift == "String" {
        return Conversion(apply: { "\(name)(\($0))" }, isFailable: true)
      }
      // JSON has wider numbers than the schema says; they are kept as far as they fit.
      let isInteger = scalar != .float && scalar != .double
      let label = swift == "Int" && isInteger ? "clamping: " : ""
      if scalar == .bool || swift == "Bool" { return nil }
      return Conversion(apply: { "\(name)(\(label)\($0))" })
    case .enumeration(let name):
      guard let enumeration = schema.type(named: type.name), enumeration.kind == .enumeration,
        case .enumeration(let definition) = entity.schema.types[name]
      else { return nil }
      initialisers.add(definition, from: enumeration, to: entity)
      let path = self.swift(name, of: entity)
      return Conversion(apply: { "\(path)(\($0))" })
    default: return nil
    }
  }

  /// Notes that an enum is the Swift type of stored texts; another type cannot be it.
  private func storeText(of name: String, as form: SwiftType) {
    let swift = types.leaf(name)
    if case .program(_, swift) = form { return types.storeText(of: name) }
    guard let type = schema.type(named: name), reportedEnums.insert(name).inserted else { return }
    sink.error(
      "'\(name)' cannot be stored in this type: the enum is '\(swift)' in Swift", at: type.range,
      notes: [.hint("write --scalar \(name)=string:\(swift), or --scalar \(name)=string")])
  }

  /// A list in a list is a table with one vector.
  private func nestedList(
    _ type: TypeReference, _ object: SelectedObject?, _ stored: FieldType, _ entity: EntityTables,
    _ merging: Merging?
  ) -> Conversion? {
    guard let table = entity.table(stored),
      let field = table.fields.first(where: { !$0.isDeprecated }),
      case .vector(let element) = field.type,
      let inner = list("$0", false, type, object, element, as: field.swiftType, entity)
    else { return nil }
    let path = swift(table.name, of: entity)
    if let merging {
      let inner = Merging(
        stored: "\(merging.stored)?.\(field.memberName) ?? []", rules: merging.rules)
      return Conversion(apply: { expression in
        let list = self.mergedList(
          expression, false, type, object, element, as: field.swiftType, entity, inner)
        return "\(path)(\(field.swiftName): \(list ?? expression))"
      })
    }
    return Conversion(apply: { expression in
      // `$0` of an inner closure is not that of the outer one, so only the first is replaced.
      let value = expression + inner.dropFirst("$0".count)
      return "\(path)(\(field.swiftName): \(value))"
    })
  }

  private func conversion(
    of object: SelectedObject, _ stored: FieldType, _ entity: EntityTables, _ merging: Merging?
  ) -> Conversion? {
    switch stored {
    case .table:
      guard let table = entity.table(stored) else { return nil }
      if let target = compositeTarget(of: table, in: entity) {
        return compositeReference(to: target, object, table, entity)
      }
      if merging != nil { reportMissingKey(object, in: table, entity) }
      convert(object, to: table, of: entity)
      let path = swift(table.name, of: entity)
      guard let merging else { return Conversion(apply: { "\(path)(\($0))" }) }
      return Conversion(
        apply: { "\(path)._merged(\(merging.stored), \($0), \(merging.rules))" },
        isFailable: !keyFields(of: table, object, entity).isEmpty)
    case .string, .scalar:
      return reference(to: object, stored, entity)
    default: return nil
    }
  }

  /// The entity that an object is.
  /// - Parameter entity: The one with the object, which it is if it is no other.
  private func target(of object: SelectedObject, _ entity: EntityTables) -> EntityTables {
    entities.first { $0.part(of: object) == .all }
      ?? entities.first { $0.part(of: object) == .some } ?? entity
  }

  /// Whether an object that is stored as its key may come without it.
  private func mayLackKey(_ object: SelectedObject, _ entity: EntityTables) -> Bool {
    let target = target(of: object, entity)
    let keys =
      key(of: object, nil, target).map { [$0] }
      ?? object.possible.compactMap { key(of: object, $0, target) }
    return keys.contains { $0.parts.contains(where: \.isOptional) }
  }

  /// A reference to an entity is its key.
  private func reference(
    to object: SelectedObject, _ stored: FieldType, _ entity: EntityTables
  ) -> Conversion? {
    let target = target(of: object, entity)
    guard let part = key(of: object, nil, target)?.parts.first else {
      // A union has no fields, so its key is selected under conditions.
      let types = object.possible
      guard !types.isEmpty, types.allSatisfy({ self.key(of: object, $0, target) != nil }),
        var key = target.keys.first
      else {
        reportMissingKey(object, target)
        return nil
      }
      key.field.type = stored
      guard keyOfViews(key, of: object, "$0", target, types) != nil else { return nil }
      return Conversion(
        apply: { base in
          self.keyOfViews(key, of: object, base, target, types)?.text ?? base
        }, isFailable: true)
    }
    guard let field = part.way.last,
      let conversion = conversion(field.definition.type.nullable, nil, stored, entity)
    else { return nil }
    return Conversion(
      apply: { base in
        let value = part.text(base)
        guard let apply = conversion.apply else { return value }
        let map = conversion.isFailable ? "flatMap" : "map"
        return part.isOptional ? "\(value).\(map) { \(apply("$0")) }" : apply(value)
      }, isFailable: conversion.isFailable || part.isOptional)
  }

  /// The value of a field that is not optional, for null; nil if the field is optional.
  func initial(_ field: FieldDefinition, _ entity: EntityTables) -> String? {
    switch field.type {
    case .string:
      if case .string(let text) = field.defaultValue { return Literal.string(text) }
      return field.isRequired ? "\"\"" : nil
    case .scalar(let scalar):
      switch field.defaultValue {
      case .null: return nil
      case .bool(let value): return "\(value)"
      case .integer(let value): return "\(value)"
      case .unsigned(let value): return "\(value)"
      case .real(let value): return Literal.real(value, isFloat: scalar == .float)
      default: return scalar == .bool ? "false" : "0"
      }
    case .enumeration(let name):
      guard field.defaultValue != .null,
        case .enumeration(let definition) = entity.schema.types[name]
      else { return nil }
      let raw = field.defaultValue?.bitPattern ?? definition.impliedDefault
      let value = definition.values.first { $0.value == raw } ?? definition.values.first
      return value.map { "." + Identifier.escaped($0.swiftName) }
    default: return nil
    }
  }
}

extension FieldDefinition {
  /// The name in Swift, as it stands after a dot.
  var memberName: String {
    ["self", "init", "Type", "Protocol"].contains(swiftName) ? "`\(swiftName)`" : swiftName
  }
}
