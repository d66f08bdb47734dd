// JSONTree: JSON that can be changed, and whose numbers and texts stay as they were written.
//
// Payloads of one response are put together before they are decoded. A number that went through
// `Double` on the way would not be the server's any more.

import Foundation

/// A JSON value.
indirect enum JSONTree: Sendable {
  /// A text, number, Boolean or null, as it is written.
  case atom(ArraySlice<UInt8>)
  case list([JSONTree])
  case object(Object)

  struct Object: Sendable {
    struct Member: Sendable {
      let key: String
      /// The key as it is written.
      let written: ArraySlice<UInt8>
      var value: JSONTree
    }

    private(set) var members: [Member] = []
    private var numbers: [String: Int] = [:]

    subscript(key: String) -> JSONTree? { numbers[key].map { members[$0].value } }

    /// Sets a member; of several with one key the last one counts.
    mutating func set(_ member: Member) {
      if let number = numbers[member.key] {
        members[number].value = member.value
      } else {
        numbers[member.key] = members.count
        members.append(member)
      }
    }

    /// The same keys with other values.
    func map(_ change: (String, JSONTree) -> JSONTree) -> Object {
      var object = self
      for number in members.indices {
        object.members[number].value = change(members[number].key, members[number].value)
      }
      return object
    }

    /// Changes a member in place; false if there is none.
    mutating func change(_ key: String, _ change: (inout JSONTree) throws -> Void) rethrows -> Bool
    {
      guard let number = numbers[key] else { return false }
      try change(&members[number].value)
      return true
    }
  }
}

extension JSONTree {
  static let null = JSONTree.atom(Array("null".utf8)[...])

  var isNull: Bool {
    if case .atom(let text) = self { text.elementsEqual("null".utf8) } else { false }
  }

  /// A member of an object; nil if there is none, or if it is null.
  subscript(key: String) -> JSONTree? {
    guard case .object(let object) = self, let value = object[key], !value.isNull else {
      return nil
    }
    return value
  }

  var elements: [JSONTree]? { if case .list(let list) = self { list } else { nil } }

  /// The value as JSON.
  var bytes: Foundation.Data {
    var bytes: [UInt8] = []
    write(to: &bytes)
    return Foundation.Data(bytes)
  }

  private func write(to bytes: inout [UInt8]) {
    switch self {
    case .atom(let text): bytes += text
    case .list(let list):
      bytes.append(UInt8(ascii: "["))
      for (number, element) in list.enumerated() {
        if number > 0 { bytes.append(UInt8(ascii: ",")) }
        element.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .object(let object):
      bytes.append(UInt8(ascii: "{"))
      for (number, member) in object.members.enumerated() {
        if number > 0 { bytes.append(UInt8(ascii: ",")) }
        bytes += member.written
        bytes.append(UInt8(ascii: ":"))
        member.value.write(to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    }
  }

  /// The value in another type.
  func decode<Value: Decodable>(_ type: Value.Type) throws(GraphQLDecodingError) -> Value {
    do {
      // In a list, since a text alone is not JSON for every decoder.
      let json = JSONTree.list([self]).bytes
      return try JSONDecoder.graphQL.decode([Value].self, from: json)[0]
    } catch let error as DecodingError {
      throw GraphQLDecodingError(error)
    } catch {
      throw GraphQLDecodingError(path: [], reason: "\(error)")
    }
  }

  // MARK: Changing

  /// Adds what a later payload has selected of the same object. Elements of lists are merged by
  /// their positions.
  /// - Parameters:
  ///   - path: Where this is.
  ///   - changes: Gets what is new, which is nothing where the server sends again what it has sent.
  /// - Returns: Whether this is another value now, and not the same with more in it.
  @discardableResult
  mutating func merge(
    _ other: JSONTree, at path: [GraphQLPathElement], _ changes: inout [GraphQLDelivery]
  ) -> Bool {
    switch (self, other) {
    case (.object(var object), .object(let others)):
      self = .null
      var keys: [String] = []
      for member in others.members {
        var isNew = true
        let isKnown = object.change(member.key) {
          isNew = $0.merge(member.value, at: path + [.key(member.key)], &changes)
        }
        if !isKnown { object.set(member) }
        if isNew { keys.append(member.key) }
      }
      if !keys.isEmpty { changes.append(GraphQLDelivery(path: path, keys: keys)) }
      self = .object(object)
      return false
    case (.list(var list), .list(let others)) where list.count <= others.count:
      self = .null
      let before = changes.count
      var isNew = false
      for index in list.indices
      where
        list[index].merge(others[index], at: path + [.index(index)], &changes)
      { isNew = true }
      if isNew {
        changes[before...] = [GraphQLDelivery(path: path)]
      } else if list.count < others.count {
        changes.append(GraphQLDelivery(path: path, elements: list.count..<others.count))
      }
      self = .list(list + others[list.count...])
      return false
    case (.atom(let text), .atom(let other)) where text == other: return false
    default:
      let isNew = bytes != other.bytes
      self = other
      return isNew
    }
  }

  /// The value at a path; nil if there is none.
  func value(at path: some Collection<GraphQLPathElement>) -> JSONTree? {
    var value = self
    for step in path {
      switch (step, value) {
      case (.key(let key), .object(let object)):
        guard let member = object[key] else { return nil }
        value = member
      case (.index(let index), .list(let list)) where list.indices.contains(index):
        value = list[index]
      default: return nil
      }
    }
    return value
  }

  /// Changes the value at a path; false if there is none.
  mutating func change(
    at path: ArraySlice<GraphQLPathElement>, _ change: (inout JSONTree) -> Bool
  ) -> Bool {
    switch (path.first, self) {
    case (nil, _): return change(&self)
    case (.key(let key), .object(var object)):
      self = .null
      defer { self = .object(object) }
      var isDone = false
      _ = object.change(key) { isDone = $0.change(at: path.dropFirst(), change) }
      return isDone
    case (.index(let index), .list(var list)) where list.indices.contains(index):
      self = .null
      defer { self = .list(list) }
      return list[index].change(at: path.dropFirst(), change)
    default: return false
    }
  }

  /// Adds elements to the end of a list; false if this is none.
  mutating func append(_ elements: [JSONTree]) -> Bool {
    guard case .list(var list) = self else { return false }
    self = .null
    list += elements
    self = .list(list)
    return true
  }
}

// MARK: Parsing

extension JSONTree {
  /// Parses JSON.
  init(_ json: some Sequence<UInt8>) throws(GraphQLDecodingError) {
    var parser = JSONTreeParser(bytes: Array(json))
    self = try parser.whole()
  }
}

/// Finds the parts of JSON. Whether a number or a text is a valid one is seen when it is decoded.
private struct JSONTreeParser {
  let bytes: [UInt8]
  private var position = 0

  /// Deeper values are refused, as Foundation does.
  private static let depthLimit = 500

  init(bytes: [UInt8]) { self.bytes = bytes }

  private func error(_ expected: String) -> GraphQLDecodingError {
    GraphQLDecodingError(
      path: [],
      reason: "the response is no JSON: \(expected) was expected at byte \(position)")
  }

  private mutating func skipBlanks() {
    while position < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[position]) {
      position += 1
    }
  }

  /// Goes past a character and the blanks before it, if it is there.
  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    skipBlanks()
    guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  mutating func whole() throws(GraphQLDecodingError) -> JSONTree {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    let value = try value(0)
    skipBlanks()
    if position < bytes.count { throw error("the end") }
    return value
  }

  private mutating func value(_ depth: Int) throws(GraphQLDecodingError) -> JSONTree {
    if depth > Self.depthLimit { throw error("a value that is nested less deeply") }
    if take("{") { return .object(try object(depth)) }
    if take("[") { return .list(try list(depth)) }
    guard position < bytes.count else { throw error("a value") }
    if bytes[position] == UInt8(ascii: "\"") { return .atom(try text()) }
    let start = position
    let ends = Array(",]} \t\r\n:{[\"".utf8)
    while position < bytes.count, !ends.contains(bytes[position]) { position += 1 }
    if start == position { throw error("a value") }
    return .atom(bytes[start..<position])
  }

  private mutating func list(_ depth: Int) throws(GraphQLDecodingError) -> [JSONTree] {
    var list: [JSONTree] = []
    if take("]") { return list }
    repeat { list.append(try value(depth + 1)) } while take(",")
    guard take("]") else { throw error("',' or ']'") }
    return list
  }

  private mutating func object(_ depth: Int) throws(GraphQLDecodingError) -> JSONTree.Object {
    var object = JSONTree.Object()
    if take("}") { return object }
    repeat {
      skipBlanks()
      guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
        throw error("a key")
      }
      let written = try text()
      guard let key = Self.content(of: written) else { throw error("a text as key") }
      guard take(":") else { throw error("':'") }
      object.set(.init(key: key, written: written, value: try value(depth + 1)))
    } while take(",")
    guard take("}") else { throw error("',' or '}'") }
    return object
  }

  /// A text with its quotation marks.
  private mutating func text() throws(GraphQLDecodingError) -> ArraySlice<UInt8> {
    let start = position
    position += 1
    while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
      position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    guard position < bytes.count else { throw error("'\"'") }
    position += 1
    return bytes[start..<position]
  }

  private static func content(of text: ArraySlice<UInt8>) -> String? {
    guard text.contains(UInt8(ascii: "\\")) else {
      return String(validating: text.dropFirst().dropLast(), as: UTF8.self)
    }
    let list = Array("[".utf8) + text + Array("]".utf8)
    return try? JSONDecoder().decode([String].self, from: Foundation.Data(list))[0]
  }
}
