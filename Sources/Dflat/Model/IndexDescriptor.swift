// Indexes: which columns they have, and how their storage names tell it.
//
// The index of a single field has the field's storage name, `f10`. The name of a compound index
// lists its columns, each behind an `x`: `x__f6__x__f14__f4__nocase`. A column whose name ends in
// `nocase` has folded text. So the name depends on the columns alone, whatever else the schema has,
// and no field is called like a compound index.

/// A secondary index: one or several columns, in the order of their significance.
package struct IndexDescriptor: Sendable {
  /// The columns, the most significant one first.
  package let columns: [IndexColumn]
  /// Whether no two objects may have the same values in all columns; unknown values are exempt.
  package let isUnique: Bool
  /// The name of the side table.
  package let table: String

  /// Whether queries find it by its columns. The index of a single field is found by its field.
  var isCompound: Bool { columns.count > 1 || columns[0].isFolded }

  /// Whether it has the values of all these fields.
  func covers(_ fields: [FieldDescriptor]) -> Bool {
    fields.allSatisfy { position(of: $0) != nil }
  }

  /// The position of the column with a field's own values; nil if there is none.
  func position(of field: FieldDescriptor) -> Int? {
    columns.firstIndex { !$0.isFolded && $0.field == field }
  }
}

/// A column of an index.
@usableFromInline package struct IndexColumn: Sendable {
  /// The indexed field.
  let indexed: FieldDescriptor
  /// What reads it from rows; see `reader`.
  let reading = DerivedValue()
  /// Whether the column has folded text instead of the field's own values; see `CaseFolding`.
  package let isFolded: Bool
  /// What predicates call the column: the field, or for folded text a field that only indexes have.
  package let field: FieldDescriptor

  /// The column's name.
  package var name: String { field.path }

  init(_ field: FieldDescriptor, isFolded: Bool) {
    indexed = field
    self.isFolded = isFolded
    self.field = isFolded ? field.folded : field
  }
}

extension FieldDescriptor {
  fileprivate static let foldedSuffix = "__nocase"

  /// The column with this field's folded text.
  fileprivate var folded: FieldDescriptor {
    FieldDescriptor(
      path: path + Self.foldedSuffix, type: .string, steps: steps, leaf: leaf, defaultValue: nil,
      domain: nil, column: nil)
  }
}

extension EntitySchema {
  /// Whether a name has the form of a storage name: `f10`, `f20__type`, `f20__u1__f4`.
  package static func isStorageName(_ name: String) -> Bool {
    let parts = parts(of: name)
    func isNumber(_ text: Substring) -> Bool { !text.isEmpty && text.allSatisfy(\.isASCIIDigit) }
    guard let first = parts.first, first.first == "f", isNumber(first.dropFirst()) else {
      return false
    }
    return parts.dropFirst().enumerated().allSatisfy { index, part in
      (part == "type" && index == parts.count - 2)
        || ((part.first == "f" || part.first == "u") && isNumber(part.dropFirst()))
    }
  }

  /// The names of the columns of an index with a storage name: of `f10` itself, of
  /// `x__f6__x__f10__nocase` the names `f6` and `f10__nocase`. Empty if no index has such a name.
  package static func columnNames(ofIndex name: String) -> [String] {
    if isStorageName(name) { return [name] }
    var names: [String] = []
    for part in parts(of: name) {
      if part == "x" {
        names.append("")
      } else if let last = names.last {
        names[names.count - 1] = last.isEmpty ? String(part) : "\(last)__\(part)"
      } else {
        return []
      }
    }
    return names.allSatisfy({ isStorageName(plainName($0).name) }) ? names : []
  }

  /// The column of an index with a name; nil if this version of the schema has no such field.
  package func column(named name: String) -> IndexColumn? {
    let (name, isFolded) = Self.plainName(name)
    guard let field = knownField(name), !isFolded || field.type == .string else { return nil }
    return IndexColumn(field, isFolded: isFolded)
  }

  /// The columns of an index with a storage name. It is an error in generated code if the layout
  /// lacks a field.
  func columns(ofIndex name: String) -> [IndexColumn] {
    let columns = Self.columnNames(ofIndex: name).map { column in
      self.column(named: column)
    }
    guard !columns.isEmpty, columns.allSatisfy({ $0 != nil }) else {
      preconditionFailure("\(table) has no fields for an index with the storage name \(name)")
    }
    return columns.compactMap { $0 }
  }

  private static func plainName(_ name: String) -> (name: String, isFolded: Bool) {
    guard name.hasSuffix(FieldDescriptor.foldedSuffix) else { return (name, false) }
    return (String(name.dropLast(FieldDescriptor.foldedSuffix.count)), true)
  }

  /// The parts of a name between double underscores; empty if it has other underscores.
  ///
  /// Splitting by a string would be shorter, but its first use in a process takes longer than most
  /// queries.
  static func parts(of name: String) -> [Substring] {
    let pieces = name.split(separator: "_" as Character, omittingEmptySubsequences: false)
    var parts: [Substring] = []
    for (index, piece) in pieces.enumerated() {
      if index.isMultiple(of: 2) { parts.append(piece) } else if !piece.isEmpty { return [] }
    }
    return pieces.count.isMultiple(of: 2) ? [] : parts
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { "0"..."9" ~= self }
}
