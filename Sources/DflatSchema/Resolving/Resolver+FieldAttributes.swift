// Checks the requirements of attributes on their fields.
//
// The rules of the language come first, then those of storage: keys and indexes need ordered
// values.

extension Resolver {
  // MARK: The language's rules

  /// At most one field is the key of its type.
  func checkKey(_ drafts: [FieldDraft]) {
    var first: NameSyntax?
    for draft in drafts {
      guard let key = draft.attributes["key"] else { continue }
      let type = draft.definition.type
      if !type.isScalar, type != .string {
        sink.error(
          "a 'key' is a scalar or a string; '\(draft.syntax.name.text)' is \(type.described)",
          at: key.name.range)
      } else if draft.definition.defaultValue == .null {
        sink.error("a 'key' cannot be optional", at: key.name.range)
      }
      if let first {
        sink.error(
          "a type has one 'key'", at: key.name.range,
          notes: [first.range.note("'\(first.text)' is the key already")])
      } else {
        first = draft.syntax.name
      }
    }
  }

  func checkTableAttributes(_ draft: FieldDraft, _ context: Context) {
    if let required = draft.attributes["required"], draft.definition.type.isScalar {
      sink.error(
        draft.definition.defaultValue == .null
          ? "a field cannot be both optional and 'required'"
          : "a scalar cannot be 'required': it always has a value", at: required.name.range)
    }
    if let swift = draft.attributes["swift"], case .string = draft.definition.defaultValue,
      [.uuid, .url, .decimal].contains(draft.definition.swiftType)
    {
      sink.error(
        "'\(draft.syntax.name.text)' has a default, which is text and no \(swift.value?.text ?? "")",
        at: swift.name.range, notes: [.hint("leave it out: the field is optional then")])
    }
    checkCommonAttributes(draft, context)
  }

  func checkStructAttributes(_ draft: FieldDraft, _ context: Context) {
    for name in Self.referenceAttributes.sorted() {
      guard let syntax = draft.attributes[name] else { continue }
      sink.error("'\(name)' is an attribute of a root's fields", at: syntax.name.range)
    }
    if let deprecated = draft.attributes["deprecated"] {
      sink.error(
        "a struct's field cannot be deprecated: it keeps its place and its bytes",
        at: deprecated.name.range)
    }
    if let required = draft.attributes["required"] {
      sink.error("a struct's field is always there, so not 'required'", at: required.name.range)
    }
    checkCommonAttributes(draft, context)
  }

  private func checkCommonAttributes(_ draft: FieldDraft, _ context: Context) {
    let type = draft.definition.type
    checkHash(draft)
    checkNested(draft, context)
    if let flexbuffer = draft.attributes["flexbuffer"], !isBytes(type) {
      sink.error("'flexbuffer' applies to '[ubyte]' only", at: flexbuffer.name.range)
    }
    if let shared = draft.attributes["shared"], type != .string {
      sink.error("'shared' applies to strings only", at: shared.name.range)
    }
    if let inline = draft.attributes["native_inline"] {
      switch type {
      case .structure, .vector(.structure), .vector(.table), .array(.structure, _): break
      default:
        sink.error(
          "'native_inline' applies to structs and to vectors of structs or tables",
          at: inline.name.range)
      }
    }
    if let allocator = draft.attributes["native_custom_alloc"] {
      sink.error("'native_custom_alloc' is an attribute of tables", at: allocator.name.range)
    }
    if let cpp = draft.attributes["cpp_type"], draft.attributes["hash"] == nil {
      sink.error("'cpp_type' needs 'hash' on the same field", at: cpp.name.range)
    }
    checkStorage(draft)
  }

  private func checkHash(_ draft: FieldDraft) {
    guard let hash = draft.attributes["hash"] else { return }
    var element = draft.definition.type
    if case .vector(let inner) = element { element = inner }
    guard let scalar = scalar(under: element), scalar.integerRange != nil, scalar.size > 1 else {
      sink.error(
        "'hash' applies to integers of 16, 32 and 64 bits and to vectors of them",
        at: hash.name.range)
      return
    }
    let bits = scalar.size * 8
    let algorithms = ["fnv1_\(bits)", "fnv1a_\(bits)"]
    if !algorithms.contains(hash.value?.text ?? "") {
      sink.error(
        "the hash of a type of \(bits) bits is \"\(algorithms[0])\" or \"\(algorithms[1])\"",
        at: hash.value?.range ?? hash.name.range)
    }
  }

  private func checkNested(_ draft: FieldDraft, _ context: Context) {
    guard let nested = draft.attributes["nested_flatbuffer"] else { return }
    guard let value = nested.value, case .string = value.kind else {
      sink.error(
        "'nested_flatbuffer' needs the name of a table in quotes",
        at: nested.value?.range ?? nested.name.range)
      return
    }
    guard isBytes(draft.definition.type) else {
      sink.error("'nested_flatbuffer' applies to '[ubyte]' only", at: nested.name.range)
      return
    }
    let parts = value.text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    if record(named: parts, context) == nil {
      unknownType(PathSyntax(parts: parts, range: value.range), context)
    }
  }

  /// Whether it is a vector of unsigned bytes.
  private func isBytes(_ type: FieldType) -> Bool {
    guard case .vector(let element) = type else { return false }
    return scalar(under: element) == .ubyte
  }

  /// The scalar that a scalar or enum is stored as.
  func scalar(under type: FieldType) -> ScalarType? {
    switch type {
    case .scalar(let scalar): return scalar
    case .enumeration(let name):
      guard case .enumeration(let definition) = schema.types[name] else { return nil }
      return definition.underlying
    default: return nil
    }
  }

  // MARK: Storage's rules

  private func checkStorage(_ draft: FieldDraft) {
    let type = draft.definition.type
    let name = draft.syntax.name.text
    if let primary = draft.attributes["primary"] {
      if !type.isScalar, type != .string {
        sink.error(
          "'\(name)' cannot be primary: \(type.described) is no key", at: primary.name.range,
          notes: [.hint("a primary key is a scalar, a string or an enum")])
      } else if draft.definition.defaultValue == .null {
        sink.error(
          "'\(name)' cannot be primary: it is optional, and a key is always there",
          at: primary.name.range)
      } else if draft.definition.isDeprecated {
        sink.error(
          "'\(name)' cannot be primary: it is deprecated", at: primary.name.range,
          notes: [.hint("the primary key of stored objects can never change")])
      }
    }
    for attribute in ["indexed", "unique"] {
      guard let syntax = draft.attributes[attribute] else { continue }
      let what = attribute == "unique" ? "unique" : "indexed"
      switch type {
      case .scalar, .string, .enumeration, .union: break
      case .structure, .table:
        sink.error(
          "'\(name)' cannot be \(what): \(type.described) has no order", at: syntax.name.range,
          notes: [.hint("put '\(attribute)' on the fields of '\(typeName(type))' that are wanted")])
      case .vector, .array:
        sink.error(
          "'\(name)' cannot be \(what): \(type.described) has no order", at: syntax.name.range,
          notes: [
            .hint(
              "index a scalar, string, enum or union; or keep the count in a field of its own")
          ])
      }
    }
  }

  private func typeName(_ type: FieldType) -> String {
    switch type {
    case .structure(let name), .table(let name), .enumeration(let name), .union(let name):
      name.description
    default: type.described
    }
  }
}
