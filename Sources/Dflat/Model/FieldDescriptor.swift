// Field descriptors: a scalar, string or union tag and the path to it from the root of a row.
//
// The path is a list of steps, so that it can be followed on bytes. The storage name consists of
// the same steps: `f<offset>` for a reference, `f<offset>__u<tag>` for a union member, `f<offset>`
// for the leaf, `f<offset>__type` for a union's tag.

/// A field that conditions, orders, keys and indexes can read.
public final class FieldDescriptor: Sendable, Equatable {
  /// The storage name: `f10`, `f20__u1__f4`. If there are alternatives, the names of all of them.
  package let path: String
  /// How values are compared and stored.
  package let type: ValueType
  let steps: [FieldStep]
  let leaf: FieldLeaf
  /// The value of an absent field in a table that is present; nil if it is unknown.
  let defaultValue: Value?
  /// The meaning of the stored values of enums and union tags; see `FieldDomain`.
  let domain: FieldDomain?
  /// How values are stored if their Swift type differs from the stored type. Constants are
  /// converted by it.
  @usableFromInline let form: (any StoredForm.Type)?
  /// The key or index that contains the field's value.
  package let column: ColumnReference?
  /// If a union on the path has aliases for one type, the field of each alias. At most one of them
  /// is known, and gives the value. The other properties are those of the first, without a column.
  let alternatives: [FieldDescriptor]
  /// The value, if it depends on other objects. The steps and the leaf then belong to those.
  let related: (any RelatedValue)?

  init(
    path: String, type: ValueType, steps: [FieldStep], leaf: FieldLeaf, defaultValue: Value?,
    domain: FieldDomain?, form: (any StoredForm.Type)? = nil, column: ColumnReference?,
    related: (any RelatedValue)? = nil
  ) {
    self.related = related
    self.form = form
    self.path = path
    self.type = type
    self.steps = steps
    self.leaf = leaf
    self.defaultValue = defaultValue
    self.domain = domain
    self.column = column
    alternatives = []
  }

  /// A field of several union members; the value is that of the stored member.
  ///
  /// - Parameter fields: The same field of several members.
  init(oneOf fields: [FieldDescriptor]) {
    let first = fields[0]
    path = fields.map(\.path).joined(separator: "|")
    type = first.type
    steps = first.steps
    leaf = first.leaf
    defaultValue = first.defaultValue
    domain = first.domain
    form = first.form
    column = nil
    // The fields of one related object have the same way to it.
    if let target = first.related as? TargetField {
      let inner = fields.compactMap { ($0.related as? TargetField)?.field }
      related = TargetField(target.path, FieldDescriptor(oneOf: inner))
      alternatives = []
    } else {
      related = nil
      alternatives = fields
    }
  }

  /// Fields of one entity type are equal if their storage names are equal.
  public static func == (lhs: FieldDescriptor, rhs: FieldDescriptor) -> Bool {
    lhs === rhs || lhs.path == rhs.path
  }
}

extension FieldDescriptor {
  /// The field of the root table that contains this field, or is this field.
  package var rootField: Int {
    if let related { return related.key.rootField }
    if let element { return element.vectors[0].rootField }
    switch (steps.first, leaf) {
    case (.table(let field), _), (.structure(let field, _), _), (.tableMember(let field, _), _),
      (.structureMember(let field, _, _), _):
      return field
    case (nil, .scalar(let field)), (nil, .structScalar(let field)), (nil, .string(let field)),
      (nil, .unionTag(let field)), (nil, .stringMember(let field, _)),
      (nil, .vectorCount(let field, _)), (nil, .unionCount(let field, _)):
      return field
    case (.element?, _), (.elementStructure?, _), (.elementMember?, _),
      (.elementStructureMember?, _), (nil, .element), (nil, .elementTag), (nil, .elementString):
      preconditionFailure("the path of an element begins at its variable")
    case (nil, .presence): preconditionFailure("the root table is always present")
    }
  }
}

extension FieldDescriptor {
  /// The fields of the root table that the value depends on; see `FieldSet.mask`.
  var rootMask: UInt64 {
    if let related { return related.keys.reduce(0) { $0 | $1.rootMask } }
    if let element { return element.rootMask }
    var fields = FieldSet.none
    if alternatives.isEmpty { fields.insert(rootField) }
    for field in alternatives { fields.insert(field.rootField) }
    return fields.mask
  }
}

/// Where an engine stores a field's value outside of the row.
@usableFromInline package enum ColumnReference: Sendable, Hashable {
  /// The n-th field of the primary key.
  case key(Int)
  /// The n-th of the schema's indexes.
  case index(Int)
}

/// One reference on the path to a field.
enum FieldStep: Sendable, Hashable {
  case table(Int)
  case structure(Int, size: Int)
  case tableMember(Int, tag: UInt8)
  case structureMember(Int, tag: UInt8, size: Int)
  /// The table, scalar or string that a variable stands for. Always the first step.
  case element(ElementVariable)
  /// The struct that a variable stands for. Always the first step.
  case elementStructure(ElementVariable, size: Int)
  /// The table in the union that a variable stands for. Always the first step.
  case elementMember(ElementVariable, tag: UInt8)
  /// The struct in the union that a variable stands for. Always the first step.
  case elementStructureMember(ElementVariable, tag: UInt8, size: Int)
}

/// The end of the path.
enum FieldLeaf: Sendable, Hashable {
  case scalar(Int)
  /// The byte offset from the start of the outermost struct.
  case structScalar(Int)
  case string(Int)
  case unionTag(Int)
  /// A union member that is a string.
  case stringMember(Int, tag: UInt8)
  /// The table or struct itself: true if it is stored, unknown otherwise.
  case presence
  /// The number of elements of a vector, whose elements are `stride` bytes apart.
  case vectorCount(Int, stride: Int)
  /// The number of elements of a vector of unions that contain one of these members.
  case unionCount(Int, tags: [UInt8])
  /// The element that a variable stands for, itself.
  case element
  /// The tag of the union that a variable stands for.
  case elementTag
  /// The string in the union that a variable stands for.
  case elementString(tag: UInt8)
}

/// The meaning of the stored values of an enum or union tag in this version of the schema.
struct FieldDomain: Sendable {
  /// The values that the schema knows, sorted.
  let known: [Int64]
  /// The value that all other stored values read as; nil if they are unknown.
  let others: Int64?
}

/// The path from the root of a row to a table or struct.
struct FieldPath: Sendable {
  enum Place: Sendable {
    case table(TableLayout)
    case structure(StructLayout, base: Int)
    /// An element of a vector of unions. It has no fields, and offsets have no meaning.
    case union(UnionLayout, ElementVariable)
  }

  let name: String
  let steps: [FieldStep]
  let place: Place
  /// The way to the object that the path begins at; nil if it begins at the row.
  var relation: TargetPath?

  // Each function that returns nil if the layout has no such field has a counterpart that treats
  // this as an error in generated code.

  func field(_ offset: Int, in schema: EntitySchema) -> FieldDescriptor {
    known(fieldIfKnown(offset, in: schema), offset)
  }

  func unionTag(_ offset: Int, in schema: EntitySchema) -> FieldDescriptor {
    known(unionTagIfKnown(offset, in: schema), offset)
  }

  func reference(_ offset: Int) -> FieldPath {
    known(referenceIfKnown(offset), offset)
  }

  func member(_ offset: Int, _ tag: UInt8) -> FieldPath {
    known(memberIfKnown(offset, tag), offset)
  }

  func stringMember(_ offset: Int, _ tag: UInt8, in schema: EntitySchema) -> FieldDescriptor {
    known(stringMemberIfKnown(offset, tag, in: schema), offset)
  }

  /// The scalar, enum or string field at an offset in this table or struct.
  func fieldIfKnown(_ offset: Int, in schema: EntitySchema) -> FieldDescriptor? {
    let leaf: FieldLeaf
    let isInTable: Bool
    switch place {
    case .table:
      leaf = if case .string = kind(offset) { .string(offset) } else { .scalar(offset) }
      isInTable = true
    case .structure(_, let base):
      leaf = .structScalar(base + offset)
      isInTable = false
    case .union: return nil
    }
    switch kind(offset) {
    case .scalar(let type, let value):
      return descriptor(
        "f\(offset)", type, leaf, isInTable ? value : nil, form: property(offset)?.form, in: schema)
    case .enumeration(let layout, let value):
      let layout = layout()
      // Struct fields have no defaults: an unknown enum value reads as 0, or as the first value.
      let others = isInTable ? value : (layout.knows(0) ? 0 : layout.values.first?.value)
      return descriptor(
        "f\(offset)", layout.type, leaf, isInTable ? value.map { layout.constant($0) } : nil,
        domain: layout.isBitFlags ? nil : FieldDomain(known: layout.known, others: others),
        in: schema)
    case .string(let value):
      return descriptor(
        "f\(offset)", .string, leaf, value.map { .string($0) }, form: property(offset)?.form,
        in: schema)
    default: return nil
    }
  }

  /// The tag of the union whose value is at an offset.
  func unionTagIfKnown(_ offset: Int, in schema: EntitySchema) -> FieldDescriptor? {
    guard let union = union(offset) else { return nil }
    return descriptor(
      unionName(offset) + "type", .int32, element == nil ? .unionTag(offset) : .elementTag, nil,
      domain: FieldDomain(known: union.members.map { Int64($0.tag) }.sorted(), others: nil),
      in: schema)
  }

  /// Whether the table or struct is stored. It has no column.
  var presence: FieldDescriptor {
    let field = FieldDescriptor(
      path: String(name.dropLast(2)), type: .bool, steps: steps, leaf: .presence,
      defaultValue: nil, domain: nil, column: nil)
    return relation.map { FieldDescriptor(through: $0, field) } ?? field
  }

  /// The table or struct that a field refers to.
  func referenceIfKnown(_ offset: Int) -> FieldPath? {
    let name = name + "f\(offset)__"
    switch (place, kind(offset)) {
    case (.table, .table(let layout)):
      return FieldPath(
        name: name, steps: steps + [.table(offset)], place: .table(layout()), relation: relation)
    case (.table, .structure(let layout)):
      return FieldPath(
        name: name, steps: steps + [.structure(offset, size: layout().size)],
        place: .structure(layout(), base: 0), relation: relation)
    case (.structure(_, let base), .structure(let layout)):
      return FieldPath(
        name: name, steps: steps, place: .structure(layout(), base: base + offset),
        relation: relation)
    default: return nil
    }
  }

  /// A union member that is a table or struct.
  func memberIfKnown(_ offset: Int, _ tag: UInt8) -> FieldPath? {
    let name = name + unionName(offset) + "u\(tag)__"
    switch union(offset)?.member(tag)?.kind {
    case .table(let layout):
      let steps =
        element.map { [.elementMember($0, tag: tag)] } ?? steps + [.tableMember(offset, tag: tag)]
      return FieldPath(name: name, steps: steps, place: .table(layout()), relation: relation)
    case .structure(let layout):
      let size = layout().size
      let steps =
        element.map { [.elementStructureMember($0, tag: tag, size: size)] }
        ?? steps + [.structureMember(offset, tag: tag, size: size)]
      return FieldPath(
        name: name, steps: steps, place: .structure(layout(), base: 0), relation: relation)
    default: return nil
    }
  }

  /// A union member that is a string.
  func stringMemberIfKnown(
    _ offset: Int, _ tag: UInt8, in schema: EntitySchema
  ) -> FieldDescriptor? {
    guard case .string? = union(offset)?.member(tag)?.kind else { return nil }
    let leaf: FieldLeaf =
      element == nil ? .stringMember(offset, tag: tag) : .elementString(tag: tag)
    return descriptor(unionName(offset) + "u\(tag)", .string, leaf, nil, in: schema)
  }

  private func known<T>(_ value: T?, _ offset: Int) -> T {
    guard let value else {
      preconditionFailure("there is no such field as \(name)f\(offset) in the layout")
    }
    return value
  }

  private func union(_ offset: Int) -> UnionLayout? {
    if case .union(let layout, _) = place { return layout }
    return if case .union(let layout)? = kind(offset) { layout() } else { nil }
  }

  /// The variable, if this is an element of a vector of unions.
  private var element: ElementVariable? {
    if case .union(_, let element) = place { element } else { nil }
  }

  /// The beginning of the storage names of a union's tag and members.
  private func unionName(_ offset: Int) -> String { element == nil ? "f\(offset)__" : "" }

  private func kind(_ offset: Int) -> Property.Kind? { property(offset)?.kind }

  func property(_ offset: Int) -> Property? {
    switch place {
    case .table(let layout): layout.property(at: offset)
    case .structure(let layout, _): layout.property(at: offset)
    case .union: nil
    }
  }

  private func descriptor(
    _ leafName: String, _ type: ValueType, _ leaf: FieldLeaf, _ defaultValue: Value?,
    domain: FieldDomain? = nil, form: (any StoredForm.Type)? = nil, in schema: EntitySchema
  ) -> FieldDescriptor {
    let path = name + leafName
    let columns = relation?.target.columns ?? schema.columns
    let field = FieldDescriptor(
      path: path, type: type, steps: steps, leaf: leaf, defaultValue: defaultValue,
      domain: domain, form: form, column: columns[path])
    return relation.map { FieldDescriptor(through: $0, field) } ?? field
  }
}

extension EnumLayout {
  /// A raw value as a constant for expressions.
  func constant(_ raw: Int64) -> Value {
    type == .uint64 ? .unsigned(UInt64(bitPattern: raw)) : .integer(raw)
  }
}
