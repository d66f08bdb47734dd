// Attribute lists: which names are known, and which values they may have.
//
// A name is known if the language or Dflat defines it, or an `attribute` declaration above. Most
// attributes are for generators of other languages; they are kept in the model and have no effect.

extension Resolver {
  /// The kind of declaration that has an attribute list.
  enum AttributeOwner { case table, structure, field, enumeration, union, service }

  static let builtInAttributes: Set<String> = Set([
    "deprecated", "required", "key", "shared", "hash", "id", "force_align", "bit_flags",
    "original_order", "nested_flatbuffer", "csharp_partial", "streaming", "idempotent", "cpp_type",
    "cpp_ptr_type", "cpp_ptr_type_get", "cpp_str_type", "cpp_str_flex_ctor", "native_inline",
    "native_custom_alloc", "native_type", "native_type_pack_name", "native_default", "flexbuffer",
    "private",
  ]).union(fieldAttributes).union(["v", "index", "swift_name", "exact"])

  private static let fieldAttributes: Set<String> = Set([
    "primary", "indexed", "unique", "swift", "fulltext",
  ]).union(referenceAttributes)

  /// The attributes with their ranges, the first of each name.
  struct AttributeList {
    var entries: [(attribute: Attribute, syntax: AttributeSyntax)] = []

    var model: [Attribute] { entries.map(\.attribute) }

    subscript(name: String) -> AttributeSyntax? {
      entries.first { $0.attribute.name == name }?.syntax
    }
  }

  /// Checks the names in a list.
  func attributes(_ list: [AttributeSyntax], on owner: AttributeOwner) -> AttributeList {
    var result = AttributeList()
    for syntax in list {
      let name = syntax.name.text
      if result[name] != nil {
        sink.warning(
          "the attribute '\(name)' is given twice; the first counts", at: syntax.name.range)
        continue
      }
      if !declaredAttributes.contains(name) {
        // The missing declaration may be the one that declares the attribute.
        guard !lacksNames else { continue }
        let hint =
          nearest(to: name, among: declaredAttributes).map { "did you mean '\($0)'?" }
          ?? "an attribute of your own is declared first: attribute \"\(name)\";"
        sink.error("unknown attribute '\(name)'", at: syntax.name.range, notes: [.hint(hint)])
        continue
      }
      if Self.fieldAttributes.contains(name), name != "references", owner != .field {
        sink.error("'\(name)' is an attribute of fields", at: syntax.name.range)
        continue
      }
      if name == "references", owner != .field, owner != .table {
        sink.error("'references' is an attribute of fields and tables", at: syntax.name.range)
        continue
      }
      if name == "index", owner != .table {
        let isField = owner == .field
        sink.error(
          "'index' is an attribute of tables", at: syntax.name.range,
          notes: isField ? [.hint("the index of a single field is '(indexed)'")] : [])
        continue
      }
      if name == "v" { checkVersion(syntax, on: owner) }
      result.entries.append((Attribute(name: name, value: syntax.value?.text), syntax))
    }
    return result
  }

  /// A version becomes part of a table name in the database.
  private func checkVersion(_ syntax: AttributeSyntax, on owner: AttributeOwner) {
    guard owner == .table || owner == .structure else {
      sink.error("'v' is an attribute of tables and structs", at: syntax.name.range)
      return
    }
    guard let value = syntax.value, !value.text.isEmpty else {
      sink.error(
        "the version is missing", at: syntax.name.range, notes: [.hint("for example (v: \"1.0\")")])
      return
    }
    let isPlain = value.text.utf8.allSatisfy {
      isIdentifierStart($0) || isDigit($0) || $0 == UInt8(ascii: ".")
    }
    if !isPlain {
      sink.error(
        "the version \"\(value.text)\" has other characters than ASCII letters, digits, '_' and '.'",
        at: value.range)
    }
  }

  /// The integer value of an attribute; 0 if it has none. Spaces around a quoted number are
  /// ignored.
  func integer(of syntax: AttributeSyntax) -> IntegerLiteral? {
    guard let value = syntax.value else { return IntegerLiteral("0") }
    return IntegerLiteral(trimmed(value.text))
  }
}

/// `text` without leading and trailing spaces.
func trimmed(_ text: String) -> String {
  var rest = Substring(text)
  while rest.first == " " { rest.removeFirst() }
  while rest.last == " " { rest.removeLast() }
  return String(rest)
}
