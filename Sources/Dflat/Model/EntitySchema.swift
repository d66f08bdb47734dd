// Entity schemas: what an engine and the planner know about an entity type.

import FlatBuffersRuntime
import Platform

/// The storage description of an entity type: its table, layout, primary key and indexes. Generated
/// code declares one per entity.
public final class EntitySchema: Sendable {
  /// The name of the main table.
  public let table: String
  /// The layout of the fields in a row.
  @usableFromInline package let layout: TableLayout
  /// The fields of the primary key, in declaration order.
  @usableFromInline package let primaryKey: [FieldDescriptor]
  /// Secondary indexes, including unique ones, in an order that is the same in every run.
  package let indexes: [IndexDescriptor]
  /// The fields that refer to other objects.
  package let references: [EntityReference]
  /// The types that refer to this one with a rule for its deletion.
  package let referrers: [@Sendable () -> EntitySchema]
  /// The types that a deletion can reach, once they were found.
  let reach = Mutex<[EntitySchema]?>(nil)
  /// The strings that are searched for words; nil if there are none.
  package let fullText: FullTextIndex?
  /// The vectors whose elements have an index.
  package let elementIndexes: [ElementIndex]

  /// What reads the fields of the primary key from rows; see `keyReaders`.
  let keyReading = DerivedValue()
  /// The schema as bytes; see `encoded`.
  let encoding = DerivedValue()
  /// The positions of the indexes that queries find by their columns, not by their field.
  let compoundIndexes: [Int]

  /// The unions that must not be empty when they are written.
  let requiredUnions: [Property]
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
    requiredUnions = []
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
