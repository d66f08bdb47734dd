// ShownValue: values of an object as the page gets them, cut to what a person looks at.
//
//  - Fields keep their order, so an object is a list of pairs.
//  - A cut text says how many bytes it has, a cut list how many elements: the page asks for the
//    whole.
//  - Numbers that JavaScript cannot hold exactly are texts.

import Foundation

/// How much of values is shown.
struct ShownLimits: Sendable {
  /// The bytes of a text.
  var text: Int
  /// The elements of a list.
  var elements: Int
  /// The values of an object, with all that is inside of them.
  var values: Int

  /// A row of a table.
  static let row = ShownLimits(text: 200, elements: 8, values: 400)
  /// An object that fills the page.
  static let object = ShownLimits(text: 4000, elements: 100, values: 5000)
  /// Everything.
  static let whole = ShownLimits(text: .max, elements: .max, values: .max)
}

/// A value.
indirect enum ShownValue: Sendable {
  case null
  case bool(Bool)
  case integer(Int64)
  case unsigned(UInt64)
  case real(Double)
  /// A text, perhaps only its beginning, and the number of its bytes.
  case text(String, bytes: Int)
  /// The first elements of a list, and their number.
  case list([ShownValue], count: Int)
  case object([(name: String, value: ShownValue)])
  /// There are too many values to be shown.
  case left
}

extension ShownValue {
  /// What an encodable value is.
  init(_ value: some Encodable, _ limits: ShownLimits) throws {
    let budget = ShownBudget(limits)
    let node = ShownNode()
    try value.encode(to: ShownEncoder(node, budget, []))
    self = node.shown
  }

  /// The fields of an object.
  var fields: [(name: String, value: ShownValue)] {
    if case .object(let fields) = self { return fields }
    return []
  }

  /// A value inside: names of fields, and numbers of elements. nil if there is none.
  func value(at path: [String]) -> ShownValue? {
    guard let step = path.first else { return self }
    let rest = Array(path.dropFirst())
    switch self {
    case .object(let fields):
      return fields.first { $0.name == step }?.value.value(at: rest)
    case .list(let elements, _):
      guard let place = Int(step), elements.indices.contains(place) else { return nil }
      return elements[place].value(at: rest)
    default: return nil
    }
  }
}

extension ShownValue: Encodable {
  private enum Key: String, CodingKey {
    case number = "$number"
    case text = "$text"
    case bytes = "$bytes"
    case list = "$list"
    case count = "$count"
    case object = "$object"
    case left = "$left"
  }

  /// JavaScript's numbers are exact up to here.
  private static let exact: Int64 = 1 << 53

  func encode(to encoder: any Encoder) throws {
    var plain: any SingleValueEncodingContainer { encoder.singleValueContainer() }
    func special(_ key: Key, _ value: some Encodable) throws {
      var container = encoder.container(keyedBy: Key.self)
      try container.encode(value, forKey: key)
    }
    switch self {
    case .null:
      var container = plain
      try container.encodeNil()
    case .bool(let value):
      var container = plain
      try container.encode(value)
    case .integer(let value):
      if value.magnitude > UInt64(Self.exact) { return try special(.number, "\(value)") }
      var container = plain
      try container.encode(value)
    case .unsigned(let value):
      if value > UInt64(Self.exact) { return try special(.number, "\(value)") }
      var container = plain
      try container.encode(value)
    case .real(let value):
      if !value.isFinite { return try special(.number, "\(value)") }
      var container = plain
      try container.encode(value)
    case .text(let text, let bytes):
      if text.utf8.count < bytes {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(text, forKey: .text)
        return try container.encode(bytes, forKey: .bytes)
      }
      var container = plain
      try container.encode(text)
    case .list(let elements, let count):
      if elements.count < count {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(elements, forKey: .list)
        return try container.encode(count, forKey: .count)
      }
      var container = plain
      try container.encode(elements)
    case .object(let fields): try special(.object, fields.map { ShownField($0.name, $0.value) })
    case .left: try special(.left, true)
    }
  }
}

/// A name and a value, as a list of both.
struct ShownField: Encodable {
  let name: String
  let value: ShownValue

  init(_ name: String, _ value: ShownValue) {
    self.name = name
    self.value = value
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.unkeyedContainer()
    try container.encode(name)
    try container.encode(value)
  }
}

// MARK: The encoder

/// How many values may still be shown.
private final class ShownBudget {
  let limits: ShownLimits
  var rest: Int

  init(_ limits: ShownLimits) {
    self.limits = limits
    rest = limits.values
  }
}

/// A value that is being made.
private final class ShownNode {
  private enum Content {
    case value(ShownValue)
    case list([ShownNode], count: Int)
    case object([(name: String, node: ShownNode)])
  }

  private var content = Content.value(.null)

  func set(_ value: ShownValue) { content = .value(value) }
  func beginList() { if case .list = content {} else { content = .list([], count: 0) } }
  func beginObject() { if case .object = content {} else { content = .object([]) } }

  /// An element, which is dropped if there are too many.
  func element(atMost limit: Int) -> ShownNode {
    guard case .list(var elements, let count) = content else { return ShownNode() }
    let node = ShownNode()
    // The list is not copied for each element.
    content = .value(.null)
    if elements.count < limit { elements.append(node) }
    content = .list(elements, count: count + 1)
    return node
  }

  var elementCount: Int { if case .list(_, let count) = content { count } else { 0 } }

  func field(_ name: String) -> ShownNode {
    guard case .object(var fields) = content else { return ShownNode() }
    let node = ShownNode()
    content = .value(.null)
    fields.append((name, node))
    content = .object(fields)
    return node
  }

  var shown: ShownValue {
    switch content {
    case .value(let value): value
    case .list(let elements, let count): .list(elements.map(\.shown), count: count)
    case .object(let fields): .object(fields.map { ($0.name, $0.node.shown) })
    }
  }
}

private struct ShownEncoder: Encoder, SingleValueEncodingContainer {
  let node: ShownNode
  let budget: ShownBudget
  let codingPath: [any CodingKey]
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  init(_ node: ShownNode, _ budget: ShownBudget, _ path: [any CodingKey]) {
    self.node = node
    self.budget = budget
    codingPath = path
  }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    node.beginObject()
    return KeyedEncodingContainer(ShownFields(encoder: self))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    node.beginList()
    return ShownElements(encoder: self)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }

  private func set(_ value: @autoclosure () -> ShownValue) {
    if budget.rest <= 0 { return node.set(.left) }
    budget.rest -= 1
    node.set(value())
  }

  func encodeNil() { set(.null) }
  func encode(_ value: Bool) { set(.bool(value)) }
  func encode(_ value: Double) { set(.real(value)) }
  func encode(_ value: Float) {
    // The shortest digits of a Float, not those of the Double next to it.
    set(value.isFinite ? .real(Double("\(value)") ?? Double(value)) : .real(Double(value)))
  }
  func encode(_ value: Int) { set(.integer(Int64(value))) }
  func encode(_ value: Int8) { set(.integer(Int64(value))) }
  func encode(_ value: Int16) { set(.integer(Int64(value))) }
  func encode(_ value: Int32) { set(.integer(Int64(value))) }
  func encode(_ value: Int64) { set(.integer(value)) }
  func encode(_ value: UInt) { set(.unsigned(UInt64(value))) }
  func encode(_ value: UInt8) { set(.integer(Int64(value))) }
  func encode(_ value: UInt16) { set(.integer(Int64(value))) }
  func encode(_ value: UInt32) { set(.integer(Int64(value))) }
  func encode(_ value: UInt64) { set(.unsigned(value)) }
  func encode(_ value: String) {
    set(.text(Self.beginning(of: value, budget.limits.text), bytes: value.utf8.count))
  }
  func encode(_ value: some Encodable) throws {
    if budget.rest <= 0 { return node.set(.left) }
    try value.encode(to: self)
  }

  /// The beginning of a text, with whole characters of Unicode.
  private static func beginning(of text: String, _ limit: Int) -> String {
    let bytes = text.utf8
    if bytes.count <= limit { return text }
    var end = bytes.index(bytes.startIndex, offsetBy: limit)
    while end > bytes.startIndex, bytes[end] & 0xC0 == 0x80 { bytes.formIndex(before: &end) }
    return String(text[..<end])
  }
}

private struct ShownFields<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let encoder: ShownEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }

  private func inner(_ name: String) -> ShownEncoder {
    ShownEncoder(encoder.node.field(name), encoder.budget, codingPath)
  }

  func encodeNil(forKey key: Key) { inner(key.stringValue).encodeNil() }
  func encode(_ value: some Encodable, forKey key: Key) throws {
    try inner(key.stringValue).encode(value)
  }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    inner(key.stringValue).container(keyedBy: type)
  }
  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    inner(key.stringValue).unkeyedContainer()
  }
  func superEncoder() -> any Encoder { inner("super") }
  func superEncoder(forKey key: Key) -> any Encoder { inner(key.stringValue) }
}

private struct ShownElements: UnkeyedEncodingContainer {
  let encoder: ShownEncoder
  var codingPath: [any CodingKey] { encoder.codingPath }
  var count: Int { encoder.node.elementCount }

  /// The next element; nil if it is not shown.
  private func next() -> ShownEncoder? {
    let isShown = count < encoder.budget.limits.elements && encoder.budget.rest > 0
    let node = encoder.node.element(
      atMost: isShown ? encoder.budget.limits.elements : 0)
    return isShown ? ShownEncoder(node, encoder.budget, codingPath) : nil
  }

  func encodeNil() { next()?.encodeNil() }
  func encode(_ value: some Encodable) throws { try next()?.encode(value) }
  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type
  ) -> KeyedEncodingContainer<Nested> {
    superEncoder().container(keyedBy: type)
  }
  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    superEncoder().unkeyedContainer()
  }
  func superEncoder() -> any Encoder {
    next() ?? ShownEncoder(ShownNode(), encoder.budget, codingPath)
  }
}
