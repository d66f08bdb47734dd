// Tables and structs: their fields' types, slots and offsets.
//
// A table's slots are assigned in order or by `id`, without gaps; a union or a vector of unions
// takes two, the tag's first. A struct's fields are at multiples of their alignment, and its size
// is a multiple of its own.

/// A field after parsing and before it enters the model.
struct FieldDraft {
  var syntax: FieldSyntax
  var definition: FieldDefinition
  var attributes: Resolver.AttributeList

  var hasTag: Bool { definition.type.hasTag }
}

/// The meaning of a path that begins with the name of a scalar, or `string`.
struct BuiltInType {
  /// nil after an error.
  var type: FieldType?
}

extension FieldType {
  /// Whether a table stores a tag or a vector of tags with it.
  var hasTag: Bool {
    switch self {
    case .union, .vector(.union): true
    default: false
    }
  }

  /// Whether it is a number, a Boolean or an enum.
  var isScalar: Bool {
    switch self {
    case .scalar, .enumeration: true
    default: false
    }
  }
}

extension Resolver {
  /// The maximum number of slots that a vtable's 16-bit offsets can address.
  static let slotLimit = 32_000
  /// The maximum size of a buffer, and so of a struct.
  static let sizeLimit = 1 << 31 - 1

  // MARK: Tables

  func defineTable(_ syntax: RecordSyntax, _ context: Context) {
    let name = QualifiedName(namespace: context.namespace, name: syntax.name.text)
    let attributes = attributes(syntax.attributes, on: .table)
    var definition = TableDefinition(
      name: name, version: attributes["v"]?.value?.text, position: syntax.name.range.position)
    definition.attributes = attributes.model
    definition.chosenName = swiftName(attributes)
    definition.documentation = syntax.documentation
    var drafts = drafts(of: syntax, context)
    for index in drafts.indices { checkDefault(of: &drafts[index], inStruct: false, context) }
    checkDerivedNames(drafts)
    checkKey(drafts)
    for draft in drafts { checkTableAttributes(draft, context) }
    definition.slotCount = assignSlots(&drafts, of: syntax.name)
    definition.fields = drafts.map(\.definition)
    schema.types[name] = .table(definition)
    collectReferences(drafts, of: name)
    if let list = attributes["references"] { collectCompoundReferences(list, of: name) }
    if let index = attributes["index"] { indexLists.append((name, index)) }
  }

  /// Assigns a vtable offset to every field, and returns the number of slots.
  private func assignSlots(_ drafts: inout [FieldDraft], of name: NameSyntax) -> Int {
    var slotCount = 0
    for draft in drafts { slotCount += draft.hasTag ? 2 : 1 }
    if slotCount > Self.slotLimit {
      sink.error(
        "'\(name.text)' needs \(slotCount) slots; a table has at most \(Self.slotLimit)",
        at: name.range)
      return slotCount
    }
    guard drafts.contains(where: { $0.attributes["id"] != nil }) else {
      var slot = 0
      for index in drafts.indices {
        if drafts[index].hasTag { slot += 1 }
        drafts[index].definition.offset = 4 + 2 * slot
        slot += 1
      }
      return slotCount
    }
    assignSlotsByID(&drafts, slotCount)
    return slotCount
  }

  private func assignSlotsByID(_ drafts: inout [FieldDraft], _ slotCount: Int) {
    /// The field of each slot; missing ones are reported at the end.
    var owners: [Int: NameSyntax] = [:]
    var isComplete = !hasBrokenText
    for index in drafts.indices {
      let field = drafts[index].syntax.name
      guard let id = drafts[index].attributes["id"] else {
        sink.error(
          "'\(field.text)' has no 'id'; either all fields of a table have one or none",
          at: field.range)
        isComplete = false
        continue
      }
      let range = id.value?.range ?? id.name.range
      guard let literal = integer(of: id), (0...65535).contains(literal) else {
        sink.error("an 'id' is a number from 0 to 65535", at: range)
        isComplete = false
        continue
      }
      let slot = Int(literal.magnitude)
      let hasTag = drafts[index].hasTag
      if hasTag, slot == 0 {
        sink.error(
          "a union takes two ids, the first for its tag, and 'id' names the second; 0 is too small",
          at: range)
        isComplete = false
        continue
      }
      for taken in hasTag ? [slot - 1, slot] : [slot] {
        if let other = owners[taken] {
          let what = hasTag && taken < slot ? ", which is the tag's of '\(field.text)'," : ""
          sink.error(
            "the id \(taken)\(what) is given to '\(other.text)' already", at: range,
            notes: [other.range.note("'\(other.text)' is here")])
          isComplete = false
        }
        owners[taken] = field
      }
      drafts[index].definition.offset = 4 + 2 * slot
    }
    guard isComplete, let missing = (0..<slotCount).first(where: { owners[$0] == nil }) else {
      return
    }
    // The error points at the field after the gap.
    let behind = owners.filter { $0.key > missing }.min { $0.key < $1.key }
    let name = behind?.value ?? drafts[0].syntax.name
    sink.error(
      "ids must be consecutive from 0: no field has the id \(missing)", at: name.range,
      notes: [.hint("a field that is no longer wanted stays, as 'deprecated'")])
  }

  // MARK: Structs

  func defineStruct(_ syntax: RecordSyntax, _ context: Context) {
    let name = QualifiedName(namespace: context.namespace, name: syntax.name.text)
    let attributes = attributes(syntax.attributes, on: .structure)
    var definition = StructDefinition(name: name, position: syntax.name.range.position)
    definition.version = attributes["v"]?.value?.text
    definition.attributes = attributes.model
    definition.chosenName = swiftName(attributes)
    definition.documentation = syntax.documentation
    let errorsBefore = sink.errorCount
    var drafts = drafts(of: syntax, context)
    if syntax.fields.isEmpty, !hasBrokenText {
      sink.error(
        "the struct '\(name)' has no fields", at: syntax.name.range,
        notes: [.hint("a struct has a size; an empty table is possible")])
    }
    for index in drafts.indices { checkDefault(of: &drafts[index], inStruct: true, context) }
    checkKey(drafts)
    for draft in drafts { checkStructAttributes(draft, context) }
    layOut(&drafts, &definition, attributes, syntax.name)
    definition.fields = drafts.map(\.definition)
    if syntax.isBroken || sink.errorCount > errorsBefore { broken.insert(name) }
    schema.types[name] = .structure(definition)
  }

  private func layOut(
    _ drafts: inout [FieldDraft], _ definition: inout StructDefinition,
    _ attributes: AttributeList, _ name: NameSyntax
  ) {
    for index in drafts.indices {
      guard let (size, alignment) = layout(of: drafts[index].definition.type) else { continue }
      definition.size = roundUp(definition.size, to: alignment)
      drafts[index].definition.offset = definition.size
      definition.size += size
      definition.alignment = max(definition.alignment, alignment)
      // Sizes stay far from overflow: each addend is at most 65535 times an accepted size.
      if definition.size > Self.sizeLimit {
        sink.error(
          "the struct '\(name.text)' is larger than a buffer can be, 2 GiB",
          at: drafts[index].syntax.name.range)
        definition.size = 0
        return
      }
    }
    if let forced = attributes["force_align"] {
      let natural = definition.alignment
      let range = forced.value?.range ?? forced.name.range
      if let literal = integer(of: forced), (natural...32).contains(literal),
        literal.magnitude.nonzeroBitCount == 1
      {
        definition.alignment = Int(literal.magnitude)
      } else {
        sink.error(
          "'force_align' must be a power of two, here from \(natural) to 32", at: range)
      }
    }
    definition.size = roundUp(definition.size, to: definition.alignment)
  }

  /// Size and alignment of a type that is allowed in a struct.
  private func layout(of type: FieldType) -> (size: Int, alignment: Int)? {
    switch type {
    case .scalar(let scalar):
      return (scalar.size, scalar.size)
    case .enumeration(let name):
      guard case .enumeration(let definition) = schema.types[name] else { return nil }
      return (definition.underlying.size, definition.underlying.size)
    case .structure(let name):
      guard case .structure(let definition) = schema.types[name] else { return nil }
      return (definition.size, definition.alignment)
    case .array(let element, let count):
      guard let (size, alignment) = layout(of: element) else { return nil }
      return (size * count, alignment)
    default:
      return nil
    }
  }

  private func roundUp(_ value: Int, to alignment: Int) -> Int {
    (value + alignment - 1) & ~(alignment - 1)
  }

  // MARK: Fields

  /// The fields with valid names and types.
  private func drafts(of record: RecordSyntax, _ context: Context) -> [FieldDraft] {
    var names: [String: SourceRange] = [:]
    var result: [FieldDraft] = []
    for field in record.fields {
      if let taken = recordInTheWay(of: field.name.text, context) {
        sink.error(
          "a field cannot be called like a table or struct, '\(taken.name)'", at: field.name.range,
          notes: [taken.range.note("which is declared here")])
      }
      if let other = names.updateValue(field.name.range, forKey: field.name.text) {
        sink.error(
          "there is a field '\(field.name.text)' already", at: field.name.range,
          notes: [other.note("declared here")])
        continue
      }
      let attributes = attributes(field.attributes, on: .field)
      guard let type = type(of: field, in: record, context) else { continue }
      var definition = FieldDefinition(
        name: field.name.text, type: type, offset: 0, position: field.name.range.position)
      definition.attributes = attributes.model
      definition.documentation = field.documentation
      definition.isDeprecated = attributes["deprecated"] != nil
      definition.isRequired = attributes["required"] != nil
      definition.isPrimary = attributes["primary"] != nil
      definition.isUnique = attributes["unique"] != nil
      definition.isIndexed = definition.isUnique || attributes["indexed"] != nil
      definition.isFullText = attributes["fulltext"] != nil
      definition.tokenizer = attributes["fulltext"].flatMap { tokenizer($0, of: definition) }
      definition.chosenName = swiftName(attributes)
      definition.swiftType = swiftType(attributes, of: type, name: field.name.text)
      result.append(FieldDraft(syntax: field, definition: definition, attributes: attributes))
    }
    return result
  }

  private func type(
    of field: FieldSyntax, in record: RecordSyntax, _ context: Context
  ) -> FieldType? {
    guard let type = resolve(field.type, context) else { return nil }
    return record.isStruct
      ? checkedForStruct(type, field, record, context) : checkedForTable(type, field)
  }

  private func resolve(_ syntax: TypeSyntax, _ context: Context) -> FieldType? {
    switch syntax {
    case .vector(let element, _):
      return resolve(element, context).map { .vector($0) }
    case .array(let element, let count, _):
      return resolve(element, context).map { .array($0, count: count) }
    case .named(let path):
      if let builtIn = builtInType(path) { return builtIn.type }
      guard let symbol = type(named: path.parts, context) else {
        unknownType(path, context)
        return nil
      }
      return symbol.fieldType
    }
  }

  /// A scalar or string; nil for any other name. Nothing follows the name of such a type, so a
  /// namespace that is called like one cannot be written here.
  func builtInType(_ path: PathSyntax) -> BuiltInType? {
    let first = path.parts[0]
    guard
      let type = ScalarType(schemaName: first).map(FieldType.scalar)
        ?? (first == "string" ? .string : nil)
    else { return nil }
    if path.parts.count == 1 { return BuiltInType(type: type) }
    sink.error(
      "'\(path.text)' begins with the type '\(first)', which has no parts", at: path.range,
      notes: [.hint("rename the namespace, or leave it out inside of it")])
    return BuiltInType(type: nil)
  }

  private func checkedForTable(_ type: FieldType, _ field: FieldSyntax) -> FieldType? {
    guard case .array = type else { return type }
    sink.error(
      "an array of fixed length can only be in a struct", at: field.type.range,
      notes: [.hint("use a vector, or a struct with the array in it")])
    return nil
  }

  /// In a struct the size of every type must be known when its line is read.
  private func checkedForStruct(
    _ type: FieldType, _ field: FieldSyntax, _ record: RecordSyntax, _ context: Context
  ) -> FieldType? {
    var inner = type
    if case .array(let element, _) = type { inner = element }
    switch inner {
    case .scalar, .enumeration:
      return type
    case .structure(let name):
      guard let order = symbols[name]?.order, order < context.order else {
        let isItself = symbols[name]?.order == context.order
        sink.error(
          isItself
            ? "the struct '\(record.name.text)' contains itself"
            : "the struct '\(name)' must be declared above the struct that contains it",
          at: field.type.range,
          notes: isItself ? [] : ranges[name].map { [$0.note("it is declared here")] } ?? [])
        return nil
      }
      return type
    default:
      sink.error(
        "a struct holds scalars, enums and other structs; '\(field.name.text)' is "
          + inner.described, at: field.type.range, notes: [.hint("use a table instead")])
      return nil
    }
  }
}

extension FieldType {
  /// The kind of type, worded for a message.
  var described: String {
    switch self {
    case .scalar: "a scalar"
    case .string: "a string"
    case .enumeration: "an enum"
    case .structure: "a struct"
    case .table: "a table"
    case .union: "a union"
    case .vector: "a vector"
    case .array: "an array"
    }
  }
}
