// Tables that are plain values.

import DflatSchema

extension Generator {
  func write(_ definition: TableDefinition, to text: inout SourceText) {
    let fields = fields(of: definition)
    value(
      definition.name, definition.documentation, fields, as: "FlatBuffersTable", to: &text
    ) { text in
      let reader = names.fresh("table", beside: fields)
      text.gap()
      text.documentation(["Reads the fields; what is absent reads as its default."])
      text.function("\(access)init", ["_ \(reader): \(names.runtime("TableReader"))"]) { text in
        for field in fields {
          text.statement(field.initialised(field.property, by: field.read(from: reader)))
        }
      }

      text.gap()
      encode(fields, slots: definition.slotCount, to: &text)

      text.gap()
      text.documentation(["Where the fields lie, for Dflat."])
      // Layouts may refer to each other in cycles, so their type is written and not inferred.
      let layoutType = names.dflat("TableLayout")
      text.line("\(access)static let _layout: \(layoutType) = \(layoutType)(")
      text.nest { layout(definition, fields, ")", to: &$0) }
    }
  }

  /// The arguments of a `TableLayout`.
  func layout(
    _ definition: TableDefinition, _ fields: [SwiftField], _ close: String,
    to text: inout SourceText
  ) {
    let version = definition.version.map { ", version: \(Literal.string($0))" } ?? ""
    let name = names.layoutName(definition.name)
    text.line("\(name)\(version), slots: \(definition.slotCount),")
    text.array(fields.map(\.layout), close)
  }

  /// `_encode(to:)` of a plain value.
  private func encode(_ fields: [SwiftField], slots: Int, to text: inout SourceText) {
    let builder = names.fresh("builder", beside: fields)
    let type = names.runtime("FlatBufferBuilder")
    text.documentation(["Writes the fields; defaults are left out."])
    text.returning("\(access)func _encode(to \(builder): \(type))", "\(type).Offset") { text in
      // Of an entity only some fields may be written; a transaction checks the others.
      for field in fields where field.isRequiredUnion {
        text.line(
          "\(builder).require(self.\(field.member) != nil, \(Literal.string(field.name)))")
      }
      encoding(of: fields, slots: slots, with: builder, to: &text)
    }
  }

  /// The statements that write fields: children in slot order, then the table by size, so that
  /// equal content has equal bytes.
  func encoding(
    of fields: [SwiftField], slots: Int, with builder: String, to text: inout SourceText
  ) {
    for field in fields.sorted(by: { $0.offset < $1.offset }) {
      guard let child = field.encodeChild(with: builder) else { continue }
      text.statement(child)
    }
    text.line("\(builder).startTable(slotCount: \(slots))")
    let steps = fields.flatMap { $0.add(to: builder) }
      .sorted { ($1.size, $0.offset) < ($0.size, $1.offset) }
    for step in steps { text.statement(step.statement) }
    text.line("return \(builder).endTable()")
  }
}
