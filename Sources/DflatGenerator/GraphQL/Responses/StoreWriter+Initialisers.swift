// The initialisers of entities, and of the tables below them, from an operation's structures.
//
// An entity has one for each object that may be one of its own: a whole object, in which everything
// that is not selected has its default. The tables below are also made when responses are stored.

import DflatSchema
import GraphQLSchema

extension StoreWriter {
  /// Adds the initialisers of all entities in a response, and of all tables that these or the
  /// storing of the response need.
  func writeInitialisers(_ data: SelectedObject) {
    writeRoots(in: data, isView: false)
    var next = 0
    while next < pending.count {
      let conversion = pending[next]
      next += 1
      initialisers.add(to: conversion.entity) { write(conversion, to: &$0) }
    }
  }

  /// The collector of selections limits the depth.
  private func writeRoots(in object: SelectedObject, isView: Bool) {
    if !isView {
      for entity in entities where entity.part(of: object) != .none { write(object, as: entity) }
    }
    for field in object.fields {
      if let inner = field.object { writeRoots(in: inner, isView: false) }
    }
    for view in object.views { writeRoots(in: view.object, isView: true) }
  }

  /// The type of rules.
  private var rules: String { types.known("GraphQLMergeRules") }

  // MARK: Entities

  /// Adds the initialiser that makes an entity of an object.
  private func write(_ object: SelectedObject, as entity: EntityTables) {
    // Only the objects of one type have its fields; a union has those of each of its members.
    let own = entity.subtype == nil ? entity.name : nil
    let view = own.flatMap(object.view(of:))
    let isPart = entity.part(of: object) == .some
    let isBound = view != nil || isPart
    let isMerged = own != nil && entity.isStored
    let arguments =
      isMerged
      ? []
      : own.map { self.arguments(of: entity, object, $0, isBound: isBound) }
        ?? subtype(of: entity, object)
    let selected = entity.keys.map { keyValue($0, of: object, entity, own, isBound: isBound) }
    let isSelected = selected.allSatisfy { $0 != nil }
    let keys = zip(entity.keys, selected).map { key, value in
      EntityInitialiser.Key(
        name: key.field.swiftName,
        origin: value.flatMap { isSelected ? .selected($0) : nil }
          ?? .parameter(types.known(keyType(key.field))))
    }
    var conditions: [String] = []
    // A view may have objects of other types, too.
    let isTold = view.map { $0.types.isSubset(of: entity.types) } ?? false
    if isPart, !isTold {
      let names = object.possible.filter(entity.types.contains).map(Literal.string)
      conditions.append(
        names.count == 1
          ? "obj.__typename == \(names[0])"
          : "[\(names.joined(separator: ", "))].contains(obj.__typename)")
    }
    if let view {
      let values = arguments.map(\.value) + (isSelected ? selected.compactMap { $0 } : [])
      let isUsed = values.contains { $0.text.contains("\(view.property).") }
      conditions.append(
        isUsed
          ? "let \(view.property) = obj.\(view.property)" : "obj.\(view.property) != nil")
    }
    let initialiser = EntityInitialiser(
      type: swift(entity.root.name, of: entity), source: object.path, keys: keys,
      conditions: conditions, arguments: arguments, mergeRules: isMerged ? rules : nil,
      access: initialisers.access)
    initialisers.add(to: entity) { text in
      initialiser.write(to: &text)
      if isMerged {
        text.gap()
        text.block("nonisolated extension \(swift(entity.root.name, of: entity))._Draft") { text in
          text.function("func _merge", ["_ obj: \(object.path)", "_ rules: \(rules)"]) {
            writeAssignments(to: "self", entity.root, entity, object, entity.name, "obj", &$0)
          }
        }
      }
      guard case .union(let union)? = entity.subtype?.type else { return }
      let conversion = TableConversion(entity: entity, table: entity.root, object: object)
      text.gap()
      write(conversion, as: union, members: entity.members(of: entity.subtype), to: &text)
    }
  }

  /// The argument for the object that an interface's or union's is.
  private func subtype(
    of entity: EntityTables, _ object: SelectedObject
  ) -> [EntityInitialiser.Argument] {
    guard let field = entity.subtype, case .union(let union) = field.type else { return [] }
    let type = swift(union, of: entity)
    return [
      .init(
        name: field.swiftName, value: .init(text: "\(type)(obj)", isOptional: false), type: type)
    ]
  }

  /// The arguments for the fields of an entity, in the order of their declaration.
  /// - Parameter isBound: Whether the view of the entity's type is bound to a name.
  private func arguments(
    of entity: EntityTables, _ object: SelectedObject, _ type: String, isBound: Bool
  ) -> [EntityInitialiser.Argument] {
    let (wide, narrow) = fields(of: object, type)
    let keys = Set(choices(wide + narrow).values.map(\.[0].key))
    let view = isBound ? object.view(of: type)?.property : nil
    return entity.root.fields.filter { !$0.isDeprecated && !$0.isPrimary }.compactMap { field in
      func argument(
        _ fields: [SelectedField], _ base: String
      ) -> EntityInitialiser.Argument? {
        let table = entity.root.name.name
        return
          fields
          .first { $0.definition.storedName(in: table) == field.name && keys.contains($0.key) }
          .flatMap { selected in
            value(
              "\(base).\(selected.property)", selected.isOptional, selected.definition.type,
              selected.object, field, entity
            ).map {
              // Every parameter but the key is optional.
              .init(
                name: field.swiftName, value: .init(text: $0, isOptional: true),
                type: swiftType(of: field, entity))
            }
          }
      }
      return argument(wide, "obj") ?? view.flatMap { argument(narrow, $0) }
    }
  }

  /// The type of a field's values in Swift.
  private func swiftType(of field: FieldDefinition, _ entity: EntityTables) -> String {
    guard let name = field.swiftType?.name else { return swiftType(field.type, of: entity) }
    initialisers.importFoundation(for: name, in: entity)
    return if case .vector = field.type { "[\(types.known(name))]" } else { types.known(name) }
  }

  /// The type of stored values in Swift.
  func swiftType(_ type: FieldType, of entity: EntityTables) -> String {
    switch type {
    case .scalar(let scalar): types.known(scalar.swiftName)
    case .string: "String"
    case .enumeration(let name), .structure(let name), .table(let name), .union(let name):
      swift(name, of: entity)
    case .vector(let element), .array(let element, _): "[\(swiftType(element, of: entity))]"
    }
  }

  // MARK: Tables

  /// The initialiser of a table below an entity, and that of its union; and how the fields that an
  /// object has are set in a stored table, while it keeps the others.
  private func write(_ conversion: TableConversion, to text: inout SourceText) {
    let (entity, table, object) = (conversion.entity, conversion.table, conversion.object)
    if let target = compositeTarget(of: table, in: entity) {
      return writeReference(to: target, table, entity, object, to: &text)
    }
    let subtype = EntityTables.subtype(of: table)
    let type = object.type.isAbstract ? table.name.name : object.type.name
    text.block("nonisolated extension \(swift(table.name, of: entity))") { text in
      text.documentation(["Makes a whole object of what is selected here."])
      text.function(initialisers.access.modifier + "init", ["_ obj: \(object.path)"]) { text in
        text.line("self.init()")
        text.line("self._merge(obj, \(rules)())")
      }
      text.gap()
      let parameters = ["_ obj: \(object.path)", "_ rules: \(rules)"]
      text.function("mutating func _merge", parameters) { text in
        writePage(table, entity, object, to: &text)
        writeAssignments(to: "self", table, entity, object, type, "obj", &text)
        writeKeys(table, entity, object, &text)
        if let subtype, case .union(let union) = subtype.type {
          let value = "self.\(subtype.memberName)"
          text.line("\(value) = \(swift(union, of: entity))._merged(\(value), obj, rules)")
        }
      }
      text.gap()
      writeMerged(table, entity, object, to: &text)
    }
    guard let subtype, case .union(let union) = subtype.type else { return }
    text.gap()
    write(conversion, as: union, members: entity.members(of: subtype), to: &text)
  }

  /// The parameters of a function that merges an object into a stored one.
  private func merging(_ object: SelectedObject, into type: String) -> [String] {
    ["_ stored: \(type)?", "_ obj: \(object.path)", "_ rules: \(rules)"]
  }

  /// The function that merges an object into a stored one, or makes a new one. Where the table has
  /// a key, an object with another key is another object, and one without its key changes nothing.
  private func writeMerged(
    _ table: TableDefinition, _ entity: EntityTables, _ object: SelectedObject,
    to text: inout SourceText
  ) {
    let names = keyFields(of: table, object, entity).map(\.field.memberName)
    let type = types.itself(swift(table.name, of: entity))
    let result = names.isEmpty ? type : type + "?"
    text.function("static func _merged", merging(object, into: type), returns: result) { text in
      if names.isEmpty {
        text.line("var merged = stored ?? .init()")
      } else {
        if let condition = keyCondition(of: object, table, entity) {
          text.statement("guard \(condition) else { return stored }")
        }
        text.line("var whole = self.init()")
        text.line("whole._merge(obj, rules.ofNewObject)")
        let isSame = names.map { "whole.\($0) == merged.\($0)" }.joined(separator: ", ")
        text.block("guard var merged = stored, \(isSame) else") { text in
          text.line("return rules.isPart ? stored : whole")
        }
      }
      text.line("merged._merge(obj, rules)")
      text.line("return merged")
    }
  }

  /// The initialiser of the union of an interface's or union's types, and the function that merges
  /// an object into a stored one of the same type.
  private func write(
    _ conversion: TableConversion, as union: QualifiedName,
    members: [String: UnionDefinition.Member], to text: inout SourceText
  ) {
    let (entity, object) = (conversion.entity, conversion.object)
    let itself = types.itself(swift(union, of: entity))
    text.block("nonisolated extension \(swift(union, of: entity))") { text in
      text.documentation(["Makes the object that it is; nil if it is of an unknown type."])
      text.function(initialisers.access.modifier + "init?", ["_ obj: \(object.path)"]) { text in
        text.line(
          "guard let union = \(itself)._merged(nil, obj, \(rules)()) else { return nil }")
        text.line("self = union")
      }
      text.gap()
      let parameters = merging(object, into: itself)
      text.function("static func _merged", parameters, returns: "\(itself)?") { text in
        func write(_ type: String, to text: inout SourceText) {
          guard let member = members[type], let table = entity.table(member.type) else {
            return text.line("return nil")
          }
          let name = Identifier.escaped(member.swiftName)
          if let reference = reference(object, to: table, of: entity) {
            return text.line("return \(reference)(obj).map { .\(name)($0) }")
          }
          text.line("var member = \(swift(table.name, of: entity))()")
          text.short(if: "case .\(name)(let stored)? = stored", "member = stored")
          writeAssignments(to: "member", table, entity, object, type, "obj", &text)
          text.line("return .\(name)(member)")
        }
        guard object.type.isAbstract else { return write(object.type.name, to: &text) }
        text.line("switch obj.__typename {")
        for type in object.possible where members[type] != nil {
          text.line("case \(Literal.string(type)):")
          text.nest { write(type, to: &$0) }
        }
        text.line("default: return nil")
        text.line("}")
      }
    }
  }
}

extension SwiftType {
  /// The name of the type.
  var name: String {
    switch self {
    case .date: "Date"
    case .duration: "Duration"
    case .uuid: "UUID"
    case .url: "URL"
    case .decimal: "Decimal"
    case .data: "Data"
    case .int: "Int"
    case .program(_, let name): name
    }
  }
}
