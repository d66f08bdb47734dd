// Entity schemas: what an engine and the planner know about an entity type.

import FlatBuffersRuntime
import Platform

/// The storage description of an entity type: its table, layout, primary key and indexes. Generated
/// code declares one per entity.
public final class EntitySchema: Sendable {
  /// The name of the main table.
  public let table: String
  /// The layout of the fields in a row.
  public let layout: TableLayout
  /// The fields of the primary key, in declaration order.
  public let primaryKey: [FieldDescriptor]
  /// Secondary indexes, including unique ones, in an order that is the same in every run.
  public let indexes: [IndexDescriptor]
  /// The fields that refer to other objects.
  public let references: [EntityReference]
  /// The types that refer to this one with a rule for its deletion.
  public let referrers: [@Sendable () -> EntitySchema]
  /// The types that a deletion can reach, once they were found.
  let reach = Mutex<[EntitySchema]?>(nil)
  /// The strings that are searched for words; nil if there are none.
  public let fullText: FullTextIndex?
  /// The vectors whose elements have an index.
  package let elementIndexes: [ElementIndex]

  /// Reads the fields of the primary key from rows.
  package let keyReaders: [ColumnReader]
  /// The positions of the indexes that queries find by their columns, not by their field.
  let compoundIndexes: [Int]

  /// The unions that must not be empty when they are written.
  let requiredUnions: [Property]
  /// The key fields whose values may be unknown. Only floating-point fields can be (NaN), so there
  /// are hardly ever any.
  let realKeys: [ColumnReader]
  /// Columns by path, for descriptors that are created later.
  let columns: [String: ColumnReference]
  /// The path to the root table, where all paths begin.
  let root: FieldPath
  /// The number of the table, which is the same for all versions of a schema that a program uses.
  let tableNumber: Int

  /// - Parameters:
  ///   - table: The name of the main table.
  ///   - layout: The layout of the fields in a row.
  ///   - primaryKey: The vtable offsets of the key's fields.
  ///   - indexes: The storage names of the indexes: the paths of indexed fields, and the names of
  ///     compound indexes.
  ///   - uniques: The same of the indexes whose values are unique.
  ///   - fullText: The paths of the strings that are searched for words.
  ///   - tokenizer: How these are divided into words.
  ///   - tokenizers: How each of them is, if they are not all divided alike.
  ///   - elements: The vtable offsets of the vectors whose elements have an index, and the names
  ///     of these indexes in the storage. The elements are scalars or strings.
  ///   - references: The fields that refer to other objects.
  ///   - referrers: The types that refer to this one with a rule for its deletion.
  public init(
    table: String, layout: TableLayout, primaryKey: [Int], indexes: [String] = [],
    uniques: [String] = [], fullText: [String] = [], tokenizer: SearchTokenizer = .unicode61,
    tokenizers: [SearchTokenizer] = [], elements: [(offset: Int, table: String)] = [],
    references: [EntityReference] = [], referrers: [@Sendable () -> EntitySchema] = []
  ) {
    self.references = references
    self.referrers = referrers
    let layout = layout.alwaysWritingStrings(at: primaryKey)
    var columns: [String: ColumnReference] = [:]
    for (position, offset) in primaryKey.enumerated() {
      columns["f\(offset)"] = .key(position)
    }
    // If a key field is also indexed, the key answers for it.
    let paths = (indexes.map { ($0, false) } + uniques.map { ($0, true) })
    for (position, path) in paths.enumerated() where columns[path.0] == nil {
      columns[path.0] = .index(position)
    }
    self.table = table
    tableNumber = TableNumbers.number(of: table)
    self.layout = layout
    self.columns = columns
    root = FieldPath(name: "", steps: [], place: .table(layout))
    // Descriptors look up their column in the schema, so they are created with a temporary schema
    // that has no fields yet.
    let names = EntitySchema(table: table, layout: layout, columns: columns)
    let root = root
    self.primaryKey = primaryKey.map { root.field($0, in: names) }
    self.indexes = paths.map {
      IndexDescriptor(
        columns: names.columns(ofIndex: $0.0), isUnique: $0.1, table: "\(table)__\($0.0)")
    }
    self.fullText =
      fullText.isEmpty
      ? nil
      : FullTextIndex(
        fullText.map { IndexColumn(names.field($0), isFolded: false) },
        tokenizers.isEmpty ? fullText.map { _ in tokenizer } : tokenizers, of: table)
    elementIndexes = elements.map { ElementIndex($0.offset, of: root, table: $0.table) }
    compoundIndexes = self.indexes.indices.filter { [indexes = self.indexes] in
      indexes[$0].isCompound
    }
    requiredUnions = layout.properties.filter {
      if case .union = $0.kind { $0.isRequired } else { false }
    }
    keyReaders = self.primaryKey.map(ColumnReader.init)
    realKeys = keyReaders.filter { $0.field.type == .float || $0.field.type == .double }
  }

  private init(table: String, layout: TableLayout, columns: [String: ColumnReference]) {
    self.table = table
    tableNumber = TableNumbers.number(of: table)
    self.layout = layout
    self.columns = columns
    primaryKey = []
    indexes = []
    references = []
    referrers = []
    fullText = nil
    elementIndexes = []
    keyReaders = []
    requiredUnions = []
    realKeys = []
    compoundIndexes = []
    root = FieldPath(name: "", steps: [], place: .table(layout))
  }

  /// The field with a storage name such as `f20__u1__f4`. It is an error in generated code if the
  /// layout has no such field.
  func field(_ path: String) -> FieldDescriptor {
    guard let field = knownField(path) else {
      preconditionFailure("\(table) has no field with the storage name \(path)")
    }
    return field
  }

  /// The field with a storage name; nil if there is none.
  func knownField(_ path: String) -> FieldDescriptor? {
    var place = root
    var parts = Self.parts(of: path)[...]
    while let part = parts.popFirst() {
      guard part.first == "f", let offset = Int(part.dropFirst()) else { return nil }
      guard let next = parts.popFirst() else { return place.fieldIfKnown(offset, in: self) }
      if next == "type" {
        return parts.isEmpty ? place.unionTagIfKnown(offset, in: self) : nil
      }
      if next.first == "u" {
        guard let tag = UInt8(next.dropFirst()) else { return nil }
        if parts.isEmpty { return place.stringMemberIfKnown(offset, tag, in: self) }
        guard let member = place.memberIfKnown(offset, tag) else { return nil }
        place = member
      } else {
        parts.insert(next, at: parts.startIndex)
        guard let target = place.referenceIfKnown(offset) else { return nil }
        place = target
      }
    }
    return nil
  }
}

extension EntitySchema: Hashable {
  /// Compares identities: generated code creates one schema per entity type.
  public static func == (lhs: EntitySchema, rhs: EntitySchema) -> Bool { lhs === rhs }
  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Numbers the tables of the program's schemas.
private enum TableNumbers {
  private static let known = Mutex<[String: Int]>([:])

  static func number(of table: String) -> Int {
    known.withLock { known in
      if let number = known[table] { return number }
      known[table] = known.count
      return known.count - 1
    }
  }
}

// MARK: Unknown keys
extension EntitySchema {
  /// The name of a key field whose value in a row is NaN; nil if the key is known.
  func unknownKey(_ bytes: UnsafeRawBufferPointer) -> String? {
    guard !realKeys.isEmpty, let table = TableReader(root: bytes) else { return nil }
    let unknown = realKeys.first { if case .null = $0.read(table) { true } else { false } }
    guard case .scalar(let offset)? = unknown?.field.leaf else { return nil }
    return layout.property(at: offset)?.name
  }

  /// The primary key of a row; nil if a value is unknown, or a text is not UTF-8.
  package func keyValues(of row: Row) -> KeyValues? {
    var values = row.read { table in
      keyReaders.compactMap { reader -> Value? in
        let value = reader.read(table)
        let constant = value.constant(reader.field.type)
        guard case .text(let bytes) = value, case .string(let text)? = constant else {
          return constant
        }
        return text.utf8.elementsEqual(bytes) ? constant : nil
      }
    }
    guard values.count == keyReaders.count else { return nil }
    return KeyValues(first: values.removeFirst(), rest: values)
  }

  func hasSameKey(_ left: Row, _ right: Row) -> Bool {
    left.read { left in
      right.read { right in keyReaders.allSatisfy { $0.read(left).isSame(as: $0.read(right)) } }
    }
  }
}
