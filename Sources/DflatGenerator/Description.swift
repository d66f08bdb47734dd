// The JSON description of a schema, for tools that do not want to parse `.fbs` files.
//
// It is an object with the file's types in source order. Keys are in a fixed order; attributes with
// default values are left out.

import Diagnostics
import DflatSchema

extension Generator {
  func description() -> String {
    var entries: [String] = [Self.pair("file", quoted(base + ".fbs"))]
    if let root = file.root { entries.append(Self.pair("root", quoted(root.description))) }
    if let value = file.fileIdentifier {
      entries.append(Self.pair("identifier", quoted(value)))
    }
    if let value = file.fileExtension { entries.append(Self.pair("extension", quoted(value))) }
    let types = file.types.compactMap { names.definition($0).map(Self.object) }
    entries.append(Self.pair("types", Self.array(types, indent: 2)))
    return "{\n" + entries.map { "  " + $0 }.joined(separator: ",\n") + "\n}\n"
  }

  private static func object(_ definition: TypeDefinition) -> String {
    var entries: [String]
    func head(_ kind: String, _ name: QualifiedName, _ documentation: [String]) -> [String] {
      var entries = [pair("kind", quoted(kind)), pair("name", quoted(name.description))]
      if definition.swiftName != camel(name.name) {
        entries.append(pair("swift_name", quoted(definition.swiftName)))
      }
      if !documentation.isEmpty {
        entries.append(pair("documentation", quoted(documentation.joined(separator: "\n"))))
      }
      return entries
    }
    switch definition {
    case .enumeration(let value):
      entries = head(value.isBitFlags ? "bit_flags" : "enum", value.name, value.documentation)
      entries.append(pair("type", quoted(value.underlying.rawValue)))
      entries.append(
        pair(
          "values",
          array(
            value.ordered.map {
              "{" + pair("name", quoted($0.name)) + ", "
                + pair("value", value.literal($0.value)) + "}"
            }, indent: 6)))
    case .structure(let value):
      entries = head("struct", value.name, value.documentation)
      entries.append(pair("size", "\(value.size)"))
      entries.append(pair("alignment", "\(value.alignment)"))
      entries.append(pair("fields", array(value.fields.map(field), indent: 6)))
    case .table(let value):
      entries = head("table", value.name, value.documentation)
      if let version = value.version { entries.append(pair("version", quoted(version))) }
      entries.append(pair("slots", "\(value.slotCount)"))
      if !value.compoundIndexes.isEmpty {
        let indexes = value.compoundIndexes.map {
          "{" + pair("fields", quoted($0.name)) + ", " + pair("name", quoted($0.storageName))
            + ($0.isUnique ? ", " + pair("unique", "true") : "") + "}"
        }
        entries.append(pair("indexes", array(indexes, indent: 6)))
      }
      entries.append(pair("fields", array(value.fields.map(field), indent: 6)))
    case .union(let value):
      entries = head("union", value.name, value.documentation)
      entries.append(
        pair(
          "members",
          array(
            value.members.map {
              "{" + pair("name", quoted($0.name)) + ", " + pair("tag", "\($0.tag)") + ", "
                + pair("type", quoted($0.type.description)) + "}"
            }, indent: 6)))
    }
    return "{\n" + entries.map { "      " + $0 }.joined(separator: ",\n") + "\n    }"
  }

  private static func field(_ field: FieldDefinition) -> String {
    var entries = [
      pair("name", quoted(field.name)), pair("type", quoted(field.type.description)),
      pair("offset", "\(field.offset)"),
    ]
    switch field.defaultValue {
    case nil: break
    case .null: entries.append(pair("default", "null"))
    case .bool(let value): entries.append(pair("default", "\(value)"))
    case .integer(let value): entries.append(pair("default", "\(value)"))
    case .unsigned(let value): entries.append(pair("default", "\(value)"))
    // JSON cannot represent these as numbers.
    case .real(let value):
      entries.append(pair("default", value.isFinite ? "\(value)" : quoted("\(value)")))
    case .string(let value): entries.append(pair("default", quoted(value)))
    }
    for (name, isSet) in [
      ("deprecated", field.isDeprecated), ("required", field.isRequired),
      ("primary", field.isPrimary), ("indexed", field.isIndexed), ("unique", field.isUnique),
      ("fulltext", field.isFullText),
    ] where isSet { entries.append(pair(name, "true")) }
    if let tokenizer = field.tokenizer {
      entries.append(pair("tokenizer", quoted(tokenizer.schemaText)))
    }
    for name in ["swift", "swift_name"] {
      if let value = field.attributes.first(where: { $0.name == name })?.value {
        entries.append(pair(name, quoted(value)))
      }
    }
    if !field.documentation.isEmpty {
      entries.append(pair("documentation", quoted(field.documentation.joined(separator: "\n"))))
    }
    return "{" + entries.joined(separator: ", ") + "}"
  }

  private static func pair(_ key: String, _ value: String) -> String { "\"\(key)\": \(value)" }

  private static func array(_ elements: [String], indent: Int) -> String {
    if elements.isEmpty { return "[]" }
    let blanks = String(repeating: " ", count: indent)
    return "[\n" + elements.map { "\(blanks)  \($0)" }.joined(separator: ",\n") + "\n\(blanks)]"
  }
}
