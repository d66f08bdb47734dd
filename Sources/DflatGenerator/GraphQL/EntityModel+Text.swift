// The text of an entity's schema.

extension EntityModel {
  /// The whole file.
  var text: String {
    var text = includes.map { "include \"\($0)\";\n" }.joined()
    text += "namespace \(entity);\n"
    for type in ordered {
      switch type {
      case .table(let table): text += Self.text(of: table, prefix: "")
      case .enumeration(let name, let values): text += Self.text(of: name, values)
      case .union(let name, let members):
        text += "union \(name) {\n" + members.map { "  \($0),\n" }.joined() + "}\n"
      }
    }
    text += "namespace;\n" + Self.text(of: root, prefix: entity + ".")
    return isStored ? text + "root_type \(entity);\n" : text
  }

  private static func text(of table: Table, prefix: String) -> String {
    let attributes = [Attribute(name: "v", value: table.version)] + table.attributes
    var text = "table \(table.name) (\(attributes.map(\.text).joined(separator: ", "))) {\n"
    for field in table.fields {
      let attributes = (field.slot.map { ["id: \($0)"] } ?? []) + field.attributes.map(\.text)
      let list = attributes.isEmpty ? "" : " (\(attributes.joined(separator: ", ")))"
      let type = field.type.text(prefix: prefix) + (field.isOptional ? " = null" : "")
      text += "  \(field.name): \(type)\(list);\n"
    }
    return text + "}\n"
  }

  private static func text(of enumeration: String, _ values: [EnumValue]) -> String {
    var text = "enum \(enumeration): int {\n"
    var next: Int64 = 0
    for value in values {
      text += "  \(value.name)\(value.number == next ? "" : " = \(value.number)"),\n"
      next = value.number + 1
    }
    return text + "}\n"
  }
}
