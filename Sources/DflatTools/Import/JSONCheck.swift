// JSONCheck: what is wrong with a line of JSON, found by the layout of its object.
//
//  - Foundation's decoder passes over names that it is not asked for, takes one of two values with
//    the same name, and does not say which number it refuses, or where a text is no JSON. A line is
//    therefore checked before it is decoded.
//  - What has another type than its field, and what is missing, is left to the decoder.
//  - Foundation refuses some numbers that are zero once they are rounded, or whole and written with
//    an exponent. These are written in another form before it reads them.

import Dflat
import FlatBuffersRuntime
import Foundation
import Platform

/// Checks one line. It is read once; the values of unions twice, since the names of their members
/// may stand behind them.
struct JSONCheck {
  /// What is wrong.
  struct Problem: Error {
    /// The field, with the fields around it; nil if it is the line as a whole.
    let field: String?
    let message: String
  }

  private enum Part {
    case name(String)
    case element(Int)
  }

  /// The same limit as that of tables in a buffer, with a vector around each.
  private static let deepest = 2 * Verifier.deepestTable

  private let bytes: [UInt8]
  private var place = 0
  /// Where the value that is read stands.
  private var path: [Part] = []
  /// Numbers, in the order of the line, and what is written for them.
  private var rewritten: [Int: (end: Int, text: String)] = [:]

  private init(_ bytes: [UInt8]) { self.bytes = bytes }

  /// The line as Foundation reads it.
  ///
  /// - Parameters:
  ///   - bytes: The line.
  ///   - layout: The type of its object; nil if the value is only to be JSON.
  static func checked(_ bytes: [UInt8], as layout: TableLayout?) throws(Problem) -> [UInt8] {
    var check = JSONCheck(bytes)
    try check.value(layout.map { layout in .table { layout } })
    check.skipBlanks()
    if check.place < bytes.count { throw check.malformed("text stands behind the value") }
    if check.rewritten.isEmpty { return bytes }
    var result: [UInt8] = []
    var copied = 0
    for (start, number) in check.rewritten.sorted(by: { $0.key < $1.key }) {
      result += bytes[copied..<start] + number.text.utf8
      copied = number.end
    }
    return result + bytes[copied...]
  }

  // MARK: Values

  /// - Parameter kind: What the value is to be; nil if it is not known.
  private mutating func value(_ kind: Property.Kind?) throws(Problem) {
    skipBlanks()
    if path.count > Self.deepest {
      path = Array(path.prefix(1))
      throw problem("values are nested more than \(Self.deepest) deep")
    }
    switch current {
    case UInt8(ascii: "{"): try object(kind)
    case UInt8(ascii: "["): try array(Self.element(of: kind))
    case UInt8(ascii: "\""): _ = try text()
    case UInt8(ascii: "t"): try word("true")
    case UInt8(ascii: "f"): try word("false")
    case UInt8(ascii: "n"): try word("null")
    case UInt8(ascii: "-"): try number(kind)
    case let byte? where Self.isDigit(byte): try number(kind)
    default: throw malformed("a value is missing")
    }
  }

  private mutating func array(_ kind: Property.Kind?) throws(Problem) {
    try elements { check, _ throws(Problem) in try check.value(kind) }
  }

  /// Reads an array. `body` reads the element with an index.
  private mutating func elements(
    _ body: (inout JSONCheck, Int) throws(Problem) -> Void
  ) throws(Problem) {
    place += 1
    if take("]") { return }
    var index = 0
    repeat {
      path.append(.element(index))
      try body(&self, index)
      path.removeLast()
      index += 1
    } while take(",")
    if !take("]") { throw malformed("',' or ']' is missing") }
  }

  private mutating func object(_ kind: Property.Kind?) throws(Problem) {
    let fields = Fields(kind)
    var seen: Set<String> = []
    /// Where the values of unions, and the names of their members, begin.
    var parts: [String: Int] = [:]
    place += 1
    if take("}") { return }
    repeat {
      skipBlanks()
      if current != UInt8(ascii: "\"") { throw malformed("the name of a field is missing") }
      let name = try text()
      path.append(.name(name))
      if !seen.insert(name).inserted { throw problem("the field is there twice") }
      if !take(":") { throw malformed("':' is missing") }
      let kind = try fields.flatMap { fields throws(Problem) in
        guard let kind = fields.kind(of: name) else { throw problem(fields.unknown(name)) }
        return kind
      }
      if case .part? = kind { parts[name] = place }
      if case .known(let kind)? = kind { try value(kind) } else { try value(nil) }
      path.removeLast()
    } while take(",")
    if !take("}") { throw malformed("',' or '}' is missing") }
    if !parts.isEmpty, let fields { try unions(fields, parts) }
  }

  /// Reads the values of unions once more, as what the names of their members say.
  private mutating func unions(_ fields: Fields, _ parts: [String: Int]) throws(Problem) {
    let end = place
    for property in fields.properties {
      guard let start = parts[property.name], let names = parts[property.name + "_type"],
        let (layout, isVector) = property.union
      else { continue }
      place = names
      let members = try memberNames().map { name in layout.members.first { $0.name == name } }
      place = start
      path.append(.name(property.name))
      skipBlanks()
      if !isVector {
        try value(members.first??.kind)
      } else if current == UInt8(ascii: "[") {
        try elements { check, index throws(Problem) in
          try check.value(members.indices.contains(index) ? members[index]?.kind : nil)
        }
      }
      path.removeLast()
    }
    place = end
  }

  /// The text, or the texts, that are the next value; none if it is something else.
  private mutating func memberNames() throws(Problem) -> [String] {
    skipBlanks()
    if current == UInt8(ascii: "\"") { return [try text()] }
    guard current == UInt8(ascii: "[") else { return [] }
    var names: [String] = []
    try elements { check, _ throws(Problem) in
      check.skipBlanks()
      if check.current == UInt8(ascii: "\"") {
        names.append(try check.text())
      } else {
        names.append("")
        try check.value(nil)
      }
    }
    return names
  }

  private static func element(of kind: Property.Kind?) -> Property.Kind? {
    switch kind {
    case .vector(let element)?, .array(let element, _)?: element
    default: nil
    }
  }

  // MARK: Numbers

  private mutating func number(_ kind: Property.Kind?) throws(Problem) {
    let start = place
    if current == UInt8(ascii: "-") { place += 1 }
    if current == UInt8(ascii: "0") { place += 1 } else { try digits() }
    if current == UInt8(ascii: ".") {
      place += 1
      try digits()
    }
    if current == UInt8(ascii: "e") || current == UInt8(ascii: "E") {
      place += 1
      if current == UInt8(ascii: "+") || current == UInt8(ascii: "-") { place += 1 }
      try digits()
    }
    guard let kind else { return }
    let text = String(decoding: bytes[start..<place], as: UTF8.self)
    if let other = try form(of: text, as: kind), other != text {
      rewritten[start] = (place, other)
    }
  }

  private mutating func digits() throws(Problem) {
    let start = place
    while let byte = current, Self.isDigit(byte) { place += 1 }
    if place == start { throw malformed("a digit is missing") }
  }

  private static func isDigit(_ byte: UInt8) -> Bool {
    UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
  }

  /// The form of a number that Foundation reads as what it is; nil for its own.
  private func form(of text: String, as kind: Property.Kind) throws(Problem) -> String? {
    switch kind {
    case .scalar(.float, _): return try real(text, Float.self)
    case .scalar(.double, _): return try real(text, Double.self)
    case .scalar(let type, _): return try whole(text, type)
    case .enumeration(let layout, let standard):
      let layout = layout()
      let form = try whole(text, layout.type) ?? text
      let raw = Int64(form) ?? UInt64(form).map { Int64(bitPattern: $0) }
      // The default of a field need not have a name.
      let isKnown =
        layout.isBitFlags || raw == standard || layout.values.contains { $0.value == raw }
      if !isKnown { throw problem("\(layout.name) has no value \(text.shortened)") }
      return form
    case .string, .structure, .table, .union, .vector, .array: return nil
    }
  }

  private func real<Real: BinaryFloatingPoint & LosslessStringConvertible>(
    _ text: String, _ type: Real.Type
  ) throws(Problem) -> String? {
    guard let value = Real(text), value.isFinite else {
      throw problem("\(text.shortened) does not fit \(type)")
    }
    return value.isZero ? "\(value)" : nil
  }

  private func whole(_ text: String, _ type: ValueType) throws(Problem) -> String? {
    switch type {
    case .int8: try whole(text, Int8.self)
    case .uint8: try whole(text, UInt8.self)
    case .int16: try whole(text, Int16.self)
    case .uint16: try whole(text, UInt16.self)
    case .int32: try whole(text, Int32.self)
    case .uint32: try whole(text, UInt32.self)
    case .int64: try whole(text, Int64.self)
    case .uint64: try whole(text, UInt64.self)
    case .bool, .float, .double, .string: nil
    }
  }

  private func whole<Whole: FixedWidthInteger>(
    _ text: String, _ type: Whole.Type
  ) throws(Problem) -> String? {
    if Whole(text) != nil { return text }
    let number = Double(text) ?? .nan
    if let value = Whole(exactly: number) { return "\(value)" }
    throw problem(
      number.rounded() == number
        ? "\(text.shortened) does not fit \(type)" : "\(text.shortened) is not a whole number")
  }

  // MARK: Texts

  /// The text that begins here.
  private mutating func text() throws(Problem) -> String {
    place += 1
    let start = place
    var hasEscapes = false
    while let byte = current, byte != UInt8(ascii: "\"") {
      if byte == 0x0A || byte == 0x0D { break }
      if byte < 0x20 { throw malformed("a text has a control character without an escape") }
      place += 1
      if byte == UInt8(ascii: "\\") {
        hasEscapes = true
        try escape()
      }
    }
    if current != UInt8(ascii: "\"") { throw malformed("the end of a text is missing") }
    defer { place += 1 }
    let text = bytes[start..<place]
    if hasEscapes {
      let quoted = Data([0x22] + text + [0x22])
      if let plain = try? JSONDecoder().decode(String.self, from: quoted) { return plain }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func escape() throws(Problem) {
    guard let byte = current, "\"\\/bfnrtu".utf8.contains(byte) else {
      throw malformed("there is no such escape")
    }
    place += 1
    if byte != UInt8(ascii: "u") { return }
    let unit = try codeUnit()
    if !UTF16.isLeadSurrogate(unit), !UTF16.isTrailSurrogate(unit) { return }
    let escape = Array("\\u".utf8)
    guard UTF16.isLeadSurrogate(unit), bytes[place...].starts(with: escape) else { throw halfPair }
    place += escape.count
    if !UTF16.isTrailSurrogate(try codeUnit()) { throw halfPair }
  }

  /// The four digits of an escape.
  private mutating func codeUnit() throws(Problem) -> UInt16 {
    let digits = String(decoding: bytes[place...].prefix(4), as: UTF8.self)
    guard digits.utf8.count == 4, digits.allSatisfy(\.isHexDigit),
      let unit = UInt16(digits, radix: 16)
    else { throw malformed("an escape has four hexadecimal digits") }
    place += 4
    return unit
  }

  /// Two escapes are one character beyond U+FFFF, and one of them alone is none.
  private var halfPair: Problem { problem("the text has one half of a surrogate pair") }

  private mutating func word(_ word: StaticString) throws(Problem) {
    let end = place + word.utf8CodeUnitCount
    let isThere = word.withUTF8Buffer { bytes[place..<min(end, bytes.count)].elementsEqual($0) }
    if !isThere { throw malformed("a value is missing") }
    place = end
  }

  // MARK: Reading

  private var current: UInt8? { place < bytes.count ? bytes[place] : nil }

  private mutating func skipBlanks() {
    while let byte = current, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 {
      place += 1
    }
  }

  /// Skips a character, and blanks before it.
  /// - Returns: Whether it is there.
  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard current == UInt8(ascii: character) else { return false }
    place += 1
    return true
  }

  // MARK: Problems

  private func problem(_ message: String) -> Problem {
    var field = ""
    for part in path {
      switch part {
      case .name(let name): field += (field.isEmpty ? "" : ".") + name
      case .element(let index): field += "[\(index)]"
      }
    }
    return Problem(field: field.isEmpty ? nil : field, message: message)
  }

  /// What is no JSON here. People count characters from 1 up.
  private func malformed(_ reason: String) -> Problem {
    let column = String(decoding: bytes[..<min(place, bytes.count)], as: UTF8.self).count + 1
    return Problem(field: nil, message: "this is no JSON: column \(column): \(reason)")
  }
}

/// The fields of a table or struct.
private struct Fields {
  /// What a name stands for.
  enum Meaning {
    case known(Property.Kind)
    /// A union, or the names of its members: one says what the other is.
    case part
  }

  let type: String
  let properties: [Property]

  /// - Returns: Nil for what has no fields, or is not known.
  init?(_ kind: Property.Kind?) {
    switch kind {
    case .table(let layout)?: (type, properties) = (layout().name, layout().properties)
    case .structure(let layout)?: (type, properties) = (layout().name, layout().properties)
    default: return nil
    }
  }

  func kind(of name: String) -> Meaning? {
    if let property = properties.first(where: { $0.name == name }) {
      return property.union == nil ? .known(property.kind) : .part
    }
    guard name.hasSuffix("_type") else { return nil }
    let union = name.dropLast("_type".count)
    return properties.contains { $0.name == union && $0.union != nil } ? .part : nil
  }

  func unknown(_ name: String) -> String {
    "\(type) has no such field"
      + (suggestion(for: name, among: properties.flatMap { $0.columns.map(\.name) })
        .map { ": \($0)" } ?? "")
  }
}

extension Property {
  /// The members, if it is a union or a vector of them.
  fileprivate var union: (UnionLayout, isVector: Bool)? {
    switch kind {
    case .union(let layout): (layout(), false)
    case .vector(.union(let layout)): (layout(), true)
    default: nil
    }
  }
}
