// The dictionary of a file.

package import Dflat
import Foundation
import SQLiteDflat

/// An entry of the dictionary.
public struct DictionaryEntry: Sendable, Encodable {
  /// The key.
  public let key: String
  /// The dictionary that it is in: empty for that of the workspace.
  public let namespace: String
  /// What kind of value it has: `Bool`, `Int`, `UInt`, `Float`, `Double`, `String`, `Codable`,
  /// `FlatBuffers`, or `unknown` for one that only a newer release knows.
  public let kind: String
  /// The value as text: a property list for a `Codable` one, the number of bytes for FlatBuffers.
  public let value: String
}

/// A value that tools can put into a dictionary.
public enum DictionaryInput: Sendable, Hashable {
  /// A truth value.
  case bool(Bool)
  /// A whole number.
  case int(Int)
  /// A number.
  case double(Double)
  /// A text.
  case string(String)
}

private let kinds = [
  "Bool", "Int", "UInt", "Float", "Double", "String", "Codable", "FlatBuffers",
]

extension DataStore {
  /// The entries of the dictionary, in the order of their keys.
  /// - Throws: ``ToolError`` if the file cannot be read.
  public func dictionary() throws -> [DictionaryEntry] {
    let schema = DictionaryItem.schema
    return try withToolErrors {
      let rows = try core.fetch(Query(schema: schema))
      var entries: [DictionaryEntry] = []
      for index in 0..<rows.count {
        entries.append(Self.entry(try StoredObject(rows[index], of: schema).values()))
      }
      return entries.sorted { ($0.namespace, $0.key) < ($1.namespace, $1.key) }
    }
  }

  /// An entry of the workspace's dictionary; nil if there is none with the key.
  /// - Throws: ``ToolError`` if the file cannot be read.
  public func dictionaryEntry(_ key: String) throws -> DictionaryEntry? {
    try withToolErrors { try object(of: .dictionary, key: [key, ""]) }
      .map { Self.entry(try $0.values()) }
  }

  private static func entry(_ values: [String: JSONValue]) -> DictionaryEntry {
    var kind = "unknown"
    if case .integer(let number)? = values["kind"], kinds.indices.contains(Int(number)) {
      kind = kinds[Int(number)]
    }
    let value: String
    switch kind {
    case "unknown": value = ""
    case "Codable", "FlatBuffers":
      guard case .array(let elements)? = values["bytes"] else {
        value = "0 bytes"
        break
      }
      let bytes = elements.compactMap { element -> UInt8? in
        if case .integer(let byte) = element { UInt8(exactly: byte) } else { nil }
      }
      value =
        (kind == "Codable" ? propertyList(Data(bytes)) : nil) ?? "\(bytes.count) bytes"
    default: value = (values[kind.lowercased()] ?? .null).text
    }
    return DictionaryEntry(
      key: (values["key"] ?? .null).text, namespace: (values["namespace"] ?? .null).text,
      kind: kind, value: value)
  }

  /// A property list as text on one line.
  private static func propertyList(_ data: Data) -> String? {
    guard let value = try? PropertyListSerialization.propertyList(from: data, format: nil) else {
      return nil
    }
    return "\(value)".split(whereSeparator: \.isNewline)
      .map { $0.trimmingCharacters(in: .whitespaces) }.joined(separator: " ")
  }
}

extension DictionaryEntry {
  /// The entry of the workspace's dictionary that a value makes.
  package init(_ key: String, _ value: DictionaryInput) throws {
    self.key = key
    namespace = ""
    (kind, self.value) =
      switch value {
      case .bool(let value): ("Bool", "\(value)")
      case .int(let value): ("Int", "\(value)")
      case .double(let value): ("Double", try ToolJSON.value(value).text)
      case .string(let value): ("String", value)
      }
  }
}

extension DataFile {
  /// Sets or removes an entry of the dictionary in a file, in a transaction that running programs
  /// see.
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The value; nil to remove the entry.
  ///   - path: The file. It must exist.
  /// - Throws: ``ToolError`` if there is no such file, or it cannot be written.
  public static func setDictionaryValue(
    _ key: String, to value: DictionaryInput?, inFileAt path: String
  ) throws {
    try requireFile(path)
    let workspace = SQLiteWorkspace(filePath: path)
    defer { workspace.shutdown() }
    try withToolErrors {
      try workspace.write { $0.setDictionaryValue(key, to: value) }
    }
  }
}

extension WriteContext {
  /// Sets or removes an entry of the dictionary.
  package func setDictionaryValue(_ key: String, to value: DictionaryInput?) {
    var dictionary = dictionary
    switch value {
    case .bool(let value)?: dictionary[key] = value
    case .int(let value)?: dictionary[key] = value
    case .double(let value)?: dictionary[key] = value
    case .string(let value)?: dictionary[key] = value
    case nil: dictionary.removeValue(forKey: key)
    }
  }
}
