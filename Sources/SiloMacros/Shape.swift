// Shape: what is stored, as a short text, and how it differs from what the properties say.
//
//     id:U title:S isDone:B=false owner:@User tags:@{Tag}
//
// Each entry is a slot of the row: a name, a type, and the default that an absent field reads as.
// What separates the parts stands as `%` and its code in a name with any characters,
// `my%20property`.

internal import MacroSupport
internal import SwiftParser
internal import SwiftSyntax

/// One slot.
struct ShapeEntry: Equatable {
  /// What a row without the slot reads as.
  enum Absence {
    /// What the type says: nil, or an empty collection. Other types cannot be absent.
    case byType
    /// The default, although it is always written: rows lack it that are older than the property.
    case byDefault
    /// Not the default, although there is one.
    case otherwise
  }

  var name: String
  var code: String
  /// The default, escaped; nil if there is none that rows can read.
  var constant: String?
  /// What shapes of earlier releases have as the default: those rows lack it that have this value.
  var formerConstant: String?
  var absence = Absence.byType
  /// The types in the code; none in a frozen shape.
  var parts: [ShapePart] = []
  /// Whether it is a case with its associated values.
  var isCase = false
  /// For each part another type that the frozen shape has there, in Swift; nil if it has the same.
  var aliased: [String?] = []

  var text: String { "\(name.shapeText):\(code)" + (constant.map { "=\($0)" } ?? "") }

  /// Whether rows without this slot can be read.
  var mayBeAbsent: Bool {
    switch absence {
    case .byDefault: true
    case .otherwise: false
    case .byType:
      constant != nil || code.hasSuffix("?") || "[{".contains(code.first ?? " ")
        || code.hasPrefix("@{") || code.hasPrefix("@[")
    }
  }

  /// Compares what is stored.
  static func == (left: ShapeEntry, right: ShapeEntry) -> Bool {
    left.name == right.name && left.code == right.code && left.constant == right.constant
  }
}

/// All slots, in order.
struct Shape: Equatable {
  var entries: [ShapeEntry]

  var text: String { entries.map(\.text).joined(separator: " ") }

  init(_ entries: [ShapeEntry]) { self.entries = entries }

  /// The frozen entry that is compared with the one at a position: that with its name, or else the
  /// one at the position.
  func entry(for new: ShapeEntry, at position: Int) -> ShapeEntry? {
    entries.first { $0.name == new.name }
      ?? (position < entries.count ? entries[position] : nil)
  }

  /// The same entries, as far as they may mean the same, as a frozen shape spells them: with plain
  /// types in the place of names, with other spellings of a default, and without defaults that no
  /// row needs.
  func spelled(asIn stored: Shape) -> Shape {
    Shape(
      entries.enumerated().map { position, entry in
        guard let before = stored.entry(for: entry, at: position) else { return entry }
        var entry = entry
        if let aliased = entry.aliased(in: before) {
          entry.aliased = aliased
          entry.code = before.code
        }
        if entry.code == before.code, entry.hasSameConstant(as: before) {
          entry.constant = before.constant
        }
        if let former = entry.formerConstant, former == before.constant { entry.constant = former }
        // A property that the shape had from its beginning is in every row.
        if before.constant == nil, entry.absence == .byDefault { entry.constant = nil }
        return entry
      })
  }

  /// The shape that a text describes; nil if it is none.
  init?(_ text: String) {
    entries = []
    for part in text.split(whereSeparator: \.isWhitespace) {
      guard let colon = part.firstIndex(of: ":"), colon != part.startIndex else { return nil }
      var code = part[part.index(after: colon)...]
      var constant: String?
      if let equal = code.firstIndex(of: "=") {
        constant = String(code[code.index(after: equal)...])
        code = code[..<equal]
      }
      if code.isEmpty { return nil }
      entries.append(
        ShapeEntry(
          name: String(part[..<colon]).removingShapeCodes, code: String(code), constant: constant))
    }
  }

  /// A difference between what is stored and what the properties say.
  struct Difference: Equatable {
    /// The position of the property that the message is about; nil if it is not there any more.
    var position: Int?
    var kind: String
    var message: String
    /// Whether stored values are read correctly nevertheless.
    var isCompatible: Bool
  }

  /// The differences from a stored shape. After one that moves other properties, the rest cannot be
  /// compared.
  func differences(from stored: Shape) -> [Difference] {
    var found: [Difference] = []
    let old = Set(stored.entries.map(\.name))
    let new = Set(entries.map(\.name))
    for (position, (before, after)) in zip(stored.entries, entries).enumerated()
    where before != after {
      func add(_ kind: String, _ message: String, isCompatible: Bool = false) {
        found.append(
          Difference(
            position: position, kind: kind, message: message, isCompatible: isCompatible))
      }
      if before.name == after.name {
        if before.code + "?" == after.code, before.constant == nil {
          add("optional", "'\(after.name)' has become optional", isCompatible: true)
        } else if before.code != after.code {
          add("retyped", "'\(after.name)' was stored as \(before.code) and is \(after.code) now")
        } else {
          add(
            "default",
            "'\(after.name)' had \(before.constant.map { "the default \($0)" } ?? "no default") and has "
              + "\(after.constant ?? "none") now; stored values may lack it")
        }
      } else if new.contains(before.name), old.contains(after.name) {
        add("exchanged", "'\(after.name)' is where '\(before.name)' is stored")
        return found
      } else if !new.contains(before.name), !old.contains(after.name), before.code == after.code {
        let isSame = before.constant == after.constant
        add(
          "renamed",
          "'\(before.name)' was renamed to '\(after.name)'"
            + (isSame ? "" : ", which has another default"), isCompatible: isSame)
      } else if new.contains(before.name) {
        add(
          "inserted",
          "'\(after.name)' is new, where '\(before.name)' is stored; move it behind the last property"
        )
        return found
      } else {
        add("removed", "'\(before.name)' was removed, and '\(after.name)' is where it is stored")
        return found
      }
    }
    for entry in stored.entries.dropFirst(entries.count) {
      found.append(
        Difference(
          position: nil, kind: "removed", message: "'\(entry.name)' was removed",
          isCompatible: false))
    }
    for position in entries.indices.dropFirst(stored.entries.count) {
      let entry = entries[position]
      found.append(
        Difference(
          position: position, kind: "appended",
          message: entry.mayBeAbsent
            ? "'\(entry.name)' was appended"
            : "'\(entry.name)' was appended, and stored values have none; "
              + (entry.absence == .otherwise
                ? "they cannot read its default, so take that away, or give it a constant one"
                : "make it optional, or give it a constant default"),
          isCompatible: entry.mayBeAbsent))
    }
    return found
  }
}

extension UInt8 {
  /// The byte in a shape, where it cannot stand as it is.
  var shapeCode: String {
    let digits = String(self, radix: 16, uppercase: true)
    return "%" + (digits.count < 2 ? "0" : "") + digits
  }
}

extension String {
  /// The name in a shape. Ordinary names stand as they are; others may have any characters.
  var shapeText: String {
    unicodeScalars.map { scalar in
      scalar.properties.isWhitespace || ":=%,()\"\\".unicodeScalars.contains(scalar)
        ? Character(scalar).utf8.map(\.shapeCode).joined() : String(scalar)
    }.joined()
  }

  /// The name that stands in a shape.
  var removingShapeCodes: String {
    var bytes: [UInt8] = []
    var rest = utf8[...]
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "%"), let code = UInt8(String(rest.prefix(2)) ?? "", radix: 16) {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
