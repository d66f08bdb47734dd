// Names in SQL: quoted, and no longer than the server allows.

import Dflat

/// The longest name in bytes; the server cuts longer ones without an error.
private let longestName = 63

extension String {
  /// The name, quoted. A name that is too long keeps its beginning and gets a hash of all of it.
  var quotedName: String { "\"\(shortName.doubling("\""))\"" }

  /// The name as the server writes it in definitions: without quotes if it needs none. Names of
  /// columns are no key words of SQL.
  var nameAsStored: String {
    let name = shortName
    let isPlain = name.utf8.allSatisfy {
      "abcdefghijklmnopqrstuvwxyz0123456789_".utf8.contains($0)
    }
    let beginsPlainly = name.utf8.first.map { !("0123456789".utf8.contains($0)) } == true
    return isPlain && beginsPlainly ? name : quotedName
  }

  /// The name as the server stores it.
  var shortName: String {
    if utf8.count <= longestName { return self }
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    let digits = String(hash, radix: 16)
    let suffix = "_" + String(repeating: "0", count: 16 - digits.count) + digits
    var start = self[...]
    while start.utf8.count > longestName - suffix.utf8.count { start.removeLast() }
    return start + suffix
  }

  /// The text as a literal. It has no NUL, which no statement can contain.
  var quotedText: String { "'\(doubling("'").doubling("\\"))'".escapedIfNeeded }

  private var escapedIfNeeded: String { unicodeScalars.contains("\\") ? "E" + self : self }

  /// By scalars: the server does not know that an accent behind a quote belongs to it.
  private func doubling(_ scalar: Unicode.Scalar) -> String {
    var text = UnicodeScalarView()
    for each in unicodeScalars {
      text.append(each)
      if each == scalar { text.append(each) }
    }
    return String(text)
  }
}

extension ValueType {
  /// The type of a column with values of this type.
  var columnType: String {
    switch self {
    case .string: "bytea"
    case .bool: "boolean"
    case .float, .double: "double precision"
    default: "bigint"
    }
  }
}

extension IndexColumn {
  /// The name of the column in the table of the objects: the field's storage name, and the value
  /// for objects that lack the field if that is not the usual one. Versions of a schema that read
  /// the field differently have different columns.
  var columnName: String {
    switch reader.absentValue {
    case .ordinary: name
    case .unknown: "\(name) default null"
    case .value(let value): "\(name) default \(value.columnText)"
    }
  }
}

extension Value {
  /// The value as a part of a column's name, in ASCII: names that Swift takes for equal are the
  /// same bytes then.
  fileprivate var columnText: String {
    switch self {
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .real(let value): "\(value)"
    case .string(let value):
      value.unicodeScalars.map { scalar in
        scalar.isASCII && scalar != "\0" && scalar != "\\"
          ? String(scalar) : "\\u{" + String(scalar.value, radix: 16) + "}"
      }.joined()
    }
  }
}

extension IndexColumn {
  /// What an index has of the column.
  /// - Parameter bytes: Of a text, at most these many bytes.
  func indexedSQL(_ bytes: Int = String.indexedBytes) -> String {
    let name = columnName.quotedName
    return field.type == .string ? name.indexedText(bytes) : name
  }

  /// The same as the server writes it in definitions.
  func storedSQL(_ bytes: Int) -> String {
    let name = columnName.nameAsStored
    return field.type == .string ? name.indexedText(bytes) : name
  }
}

extension [IndexColumn] {
  /// For each column, how many bytes of a text an index over all of them has.
  ///
  /// An entry has at most 2704 bytes. If ten texts or so have filled it, there is little room for
  /// those behind them. Queries compare the usual number of bytes, so the index is of no use for
  /// these.
  var indexedBytes: [Int] {
    // A text has a length beside it, and a value of another type is aligned. So is what all begin
    // with. The last column is the row id.
    let texts = count { $0.field.type == .string }
    var room = 2704 - 16 - 4 * texts - 12 * (count - texts + 1)
    var others = texts
    return map { column in
      if column.field.type != .string { return String.indexedBytes }
      others -= 1
      let bytes = Swift.min(String.indexedBytes, (room - 16 * others) / 4 * 4)
      room -= bytes
      return bytes
    }
  }
}

extension String {
  /// Of the text that this SQL gives, the part that an index has.
  func indexedText(_ bytes: Int = indexedBytes) -> String { "substr(\(self), 1, \(bytes))" }

  /// The usual number of bytes of this part.
  static let indexedBytes = 256
}

/// The name of the field in the name of a column.
func fieldName(ofColumn name: String) -> String {
  guard let end = name.utf8.firstIndex(of: UInt8(ascii: " ")) else { return name }
  return String(name[..<end])
}
