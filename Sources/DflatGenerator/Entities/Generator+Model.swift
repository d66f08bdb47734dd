// The entity: a struct over its row, and the builder that creates one.

import DflatSchema

extension Generator {
  func writeModel(of definition: TableDefinition, to text: inout SourceText) {
    let fields = fields(of: definition)
    text.documentation(
      orElse("`\(definition.name.name)` of the schema.", definition.documentation))
    text.type(
      "\(access)nonisolated struct \(names.declared(definition.name))",
      [names.dflat(schema.fullText(of: definition.name) == nil ? "Atom" : "FullTextSearchable")]
    ) { text in
      let row = names.dflat("Row")
      let rowProperty = self.rowProperty(fields)
      text.documentation(["The bytes of the object, for Dflat."])
      text.implements("Atom", "_row", by: rowProperty, names)
      text.line("\(access)let \(rowProperty): \(row)")
      text.gap()
      text.documentation(["An object over bytes that were verified, for Dflat."])
      text.block("\(access)init(_row: \(row))") { $0.line("self.\(rowProperty) = _row") }
      text.gap()
      for field in fields {
        text.documentation(field.documentation)
        text.short(
          "\(access)var \(field.member)", field.type,
          "\(rowProperty).read { \(field.read(from: "$0")) }")
      }
      identity(fields, to: &text)
      descriptionWitness(fields, to: &text)
      hashValueWitness(fields, to: &text)
      writeInitialiser(definition, fields, to: &text)
      writeSchema(definition, fields, to: &text)
      checkOwnTypes(fields, to: &text)
    }
    text.gap()
    writeBuilder(of: definition, fields, to: &text)
  }

  /// The name of the row property; the schema may have fields with similar names.
  private func rowProperty(_ fields: [SwiftField]) -> String {
    Identifier.fresh("_row", avoiding: Set(fields.map(\.name)))
  }

  /// `id`, the primary key, unless the only key field is itself called `id`.
  private func identity(_ fields: [SwiftField], to text: inout SourceText) {
    let keys = fields.filter(\.definition.isPrimary)
    if keys.count == 1, keys[0].name == "id" { return }
    let type: String
    let value: String
    if keys.count == 1 {
      (type, value) = (keys[0].type, keys[0].property)
    } else {
      let composite = names.dflat("CompositeKey")
      type = "\(composite)<\(keys.map(\.type).joined(separator: ", "))>"
      value = "\(composite)(\(keys.map(\.property).joined(separator: ", ")))"
    }
    text.gap()
    let taken = Set(fields.map(\.name))
    guard taken.contains("id") else {
      text.documentation(["The primary key."])
      return text.short("\(access)var id", type, value)
    }
    let identifiable = names.swift("Identifiable")
    text.documentation(["The type of the primary key; `id` is a field."])
    text.line("@_implements(\(identifiable),ID)")
    text.typealiasing("\(access)typealias \(Identifier.fresh("_ID", avoiding: taken))", type)
    text.gap()
    witness(of: "id", in: identifiable, "The primary key", to: &text) {
      $0.short("\(access)var \(Identifier.fresh("_id", avoiding: taken))", type, value)
    }
  }

  private func writeInitialiser(
    _ definition: TableDefinition, _ fields: [SwiftField], to text: inout SourceText
  ) {
    text.gap()
    text.documentation(["A new object, not stored anywhere; nil stands for the default."])
    text.function("\(access)init", parameters(fields).map(\.parameter)) { text in
      // The arguments are passed directly to the encoding; a builder in between would retain each
      // of them.
      text.block("self.\(rowProperty(fields)) = \(names.dflat("Row"))") { text in
        let builder = names.companions(of: definition.name).builder
        text.list(
          "\(names.nearExpression(builder, in: scope(of: definition)))._encode(",
          ["to: $0"] + fields.map(\.argument), ")")
      }
    }
  }

  private func writeSchema(
    _ definition: TableDefinition, _ fields: [SwiftField], to text: inout SourceText
  ) {
    let paths = schema.indexPaths(of: definition.name)
    let keys = fields.filter(\.definition.isPrimary).map { "\($0.offset)" }
    text.gap()
    text.documentation(["What changes are made with, for Dflat."])
    let draft = Identifier.fresh("_Draft", avoiding: Set(fields.map(\.name)))
    let request = names.companions(of: definition.name).request
    text.implements("Atom", "_Draft", by: draft, names)
    text.line(
      "\(access)typealias \(draft) = \(names.near(request, in: scope(of: definition)))")
    text.gap()
    text.documentation(["The table, layout, key and indexes, for Dflat."])
    let relations = relationArguments(of: definition, fields)
    let schemaType = names.dflat("EntitySchema")
    // Schemas that mention each other need their types to be written.
    let annotation = relations.isEmpty ? "" : ": \(schemaType)"
    text.line("\(access)static let _schema\(annotation) = \(schemaType)(")
    text.nest { text in
      text.line("table: \(Literal.string(schema.tableName(of: definition.name))),")
      text.line("layout: \(names.dflat("TableLayout"))(")
      text.nest { layout(definition, fields, "),", to: &$0) }
      text.line("primaryKey: [\(keys.joined(separator: ", "))],")
      text.strings(
        "indexes: ", paths.filter { !$0.isUnique }.map { Literal.string($0.path) }, ",")
      let fullText = schema.fullText(of: definition.name)
      let end = relations.isEmpty ? ")" : ","
      text.strings(
        "uniques: ", paths.filter(\.isUnique).map { Literal.string($0.path) },
        fullText == nil ? end : ",")
      if let fullText {
        text.strings("fullText: ", fullText.fields.map { Literal.string($0.path) }, ",")
        if let tokenizer = fullText.tokenizer {
          text.line("tokenizer: .\(tokenizer.swiftName)\(end)")
        } else {
          text.strings("tokenizers: ", fullText.fields.map { ".\($0.tokenizer.swiftName)" }, end)
        }
      }
      for (place, argument) in relations.enumerated() {
        text.strings(
          argument.label, argument.elements, place == relations.count - 1 ? ")" : ",")
      }
    }
  }

  private func writeBuilder(
    of definition: TableDefinition, _ fields: [SwiftField], to text: inout SourceText
  ) {
    let taken = Set(fields.map(\.name))
    let path = names.companions(of: definition.name).builder
    let scope = TypeNames.Scope(
      namespace: namespacePath(definition.name.namespace), type: path, generated: .builder,
      members: taken)
    let type = names.near(names.path(definition.name), in: scope)
    let builder = names.declared(path)
    let fields = fields.map { $0.moved(to: scope) }
    text.documentation([
      "The fields of a `\(names.swiftName(definition.name))`, to be changed and built."
    ])
    text.type("\(access)nonisolated struct \(builder)", [names.dflat("EntityBuilder")]) { text in
      properties(fields, haveDefaults: true, to: &text)
      text.gap()
      text.line("init() {}")
      text.gap()
      text.documentation(["The fields of an object."])
      // Delegation, because the compiler takes very long for a call with hundreds of arguments that
      // are calls themselves.
      text.function("\(access)init", ["from object: \(type)"]) { text in
        text.line("self.init()")
        for field in fields {
          text.statement("self.\(field.member) = object.\(field.member)")
        }
      }
      text.gap()
      // A property `build` and a method without parameters cannot coexist.
      let parameters = taken.contains("build") ? "_: \(names.swift("Void")) = ()" : ""
      text.documentation(["A new object with these fields; it is not stored anywhere."])
      text.block("\(access)func build(\(parameters)) -> \(type)") { text in
        let type = names.nearExpression(names.path(definition.name), in: scope)
        text.line("\(type)(_row: \(names.dflat("Row")) { _encode(to: $0) })")
      }
      encode(fields, definition, as: names.nearExpression(path, in: scope), to: &text)
    }
  }

  /// `_encode(to:)` of a builder, or of a function's parameters.
  private func encode(
    _ fields: [SwiftField], _ definition: TableDefinition, as entityBuilder: String,
    to text: inout SourceText
  ) {
    let builder = names.fresh("builder", beside: fields)
    let type = names.runtime("FlatBufferBuilder")
    text.gap()
    text.documentation(["Writes the fields; defaults are left out."])
    text.returning("func _encode(to \(builder): \(type))", "\(type).Offset") { text in
      text.list(
        "\(entityBuilder)._encode(",
        ["to: \(builder)"] + fields.map(\.property), ")")
    }
    text.gap()
    text.function(
      "static func _encode", ["to \(builder): \(type)"] + fields.map(\.lentParameter),
      returns: "\(type).Offset"
    ) { text in
      let parameters = fields.map { field in
        var parameter = field
        parameter.isParameter = true
        return parameter
      }
      encoding(of: parameters, slots: definition.slotCount, with: builder, to: &text)
    }
  }
}
