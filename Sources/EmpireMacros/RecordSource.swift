// The Swift that @IndexKeyRecord expands to.

/// Writes the extension of a record.
struct RecordSource {
  private let record: RecordDescription
  /// The modifier of every member. As accessible as the type, and inside of private types no more than that.
  private let access: String

  init(_ record: RecordDescription) {
    self.record = record
    access = record.access
  }

  var text: String {
    ([types, tags, values, writing, reading] + indexing + selecting + [deleting])
      .joined(separator: "\n\n")
      .wrapped(in: "nonisolated extension \(record.name): Empire.IndexKeyRecord")
  }

  private typealias Property = RecordDescription.Property

  private var types: String {
    let fields = record.fields.isEmpty ? ["Empire.EmptyValue"] : record.fields.map(\.type)
    return """
      \(access)typealias IndexKey = Empire.Tuple<\(record.keys.map(\.type).commas)>
      \(access)typealias Fields = Empire.Tuple<\(fields.commas)>
      """
  }

  private var tags: String {
    """
    \(access)static var keyPrefix: Empire.IndexKeyRecordHash { \(record.keyPrefix) }
    \(access)static var fieldsVersion: Empire.IndexKeyRecordHash { \(record.fieldsVersion) }
    """
  }

  private var values: String {
    let keys = record.keys.map { "self.\($0.identifier)" }
    let fields =
      record.fields.isEmpty
      ? ["Empire.EmptyValue()"] : record.fields.map { "self.\($0.identifier)" }
    return """
      \(access)var indexKey: IndexKey { Empire.Tuple(\(keys.commas)) }
      \(access)var fields: Fields { Empire.Tuple(\(fields.commas)) }
      """
  }

  private var writing: String {
    let keys = record.keys.map { "self.\($0.identifier).serializeKey(into: &_buffer.keyBuffer)" }
    let keysAtOnce = record.keys.map { "self.\($0.identifier).serializeKey(to: &_writer)" }
    let sizes = record.fields.map { "try _size.add(self.\($0.identifier))" }
    let fields = record.fields.map { "self.\($0.identifier).serialize(into: &_buffer)" }
    return [
      (keys + ["self.serialize(fields: &_buffer.valueBuffer)"]).lines.wrapped(
        in: "\(access)func serialize(into _buffer: inout Empire.SerializationBuffer)"),
      keysAtOnce.lines.wrapped(
        in: "\(access)func serialize(key _writer: inout Empire.KeyWriter)"),
      sizes.lines.wrapped(
        in: "\(access)func serialize(measuring _size: inout Empire.FieldsSize) "
          + "throws(Empire.SerializeError)"),
      fields.lines.wrapped(
        in: "\(access)func serialize(fields _buffer: inout Swift.UnsafeMutableRawBufferPointer)"),
    ].joined(separator: "\n\n")
  }

  private var reading: String {
    let numbers = Dictionary(
      uniqueKeysWithValues: record.all.enumerated().map { ($1.name, "_\($0)") })
    func unpack(_ property: Property, _ call: String) -> String {
      let number = numbers[property.name] ?? ""
      return "let \(number) = try (\(property.type)).\(call))"
    }
    // The order of the bytes; the initialiser has the order of declaration.
    let lines =
      record.keys.map { unpack($0, "unpackKey(with: &_deserializer.keyDeserializer") }
      + record.fields.map { unpack($0, "unpack(with: &_deserializer.fieldsDeserializer") }
    let arguments = record.all.map { "\($0.label): \(numbers[$0.name] ?? "")" }
    return (lines + ["return Self(\(arguments.commas))"]).lines.wrapped(
      in: """
        \(access)static func deserialize(
          with _deserializer: consuming Empire.RecordDeserializer
        ) throws(Empire.DeserializeError) -> sending Self
        """)
  }

  private var indexing: [String] {
    if record.indexes.isEmpty { return [] }
    let cases = record.indexes.enumerated().flatMap { position, index in
      ["case \(position):"] + index.properties.map { "  try _entry.append(self.\($0.identifier))" }
    }
    let body = ["switch _index {"] + cases + ["default: break", "}"]
    return [
      """
      \(access)static var indexTags: [Empire.IndexKeyRecordHash] { [\(record.indexes.map { "\($0.tag)" }.commas)] }
      """,
      body.lines.wrapped(
        in: "\(access)func serialize(index _index: Int, into _entry: inout Empire.IndexEntry) "
          + "throws(Empire.SerializeError)"),
    ]
  }

  /// For every number of components, of the key and of each index: a value or an operator for the last one, in a context or in a store.
  private var selecting: [String] {
    var seen: Set<[String]> = []
    let orders = [(nil, record.keys)] + record.indexes.enumerated().map { ($0, $1.properties) }
    return orders.flatMap { (index: Int?, properties: [Property]) in
      properties.indices.flatMap { position -> [String] in
        let fixed = Array(properties[..<position])
        let last = properties[position]
        // The key, or an index before this one, answers it.
        guard seen.insert((fixed + [last]).map(\.name)).inserted else { return [] }
        return [(true, "context"), (true, "store"), (false, "context"), (false, "store")].map {
          (isOperator: Bool, place: String) in
          select(fixed, last, index: index, isOperator: isOperator, place: place)
        }
      }
    }
  }

  private func select(
    _ fixed: [Property], _ last: Property, index: Int?, isOperator: Bool, place: String
  ) -> String {
    let type = isOperator ? "Empire.ComparisonOperator<\(last.type)>" : last.type
    let parameters =
      fixed.enumerated().map { "\($1.label) _\($0): \($1.type)" }
      + ["\(last.label) _\(fixed.count): \(type)"]
    let components = fixed.indices.map { "_\($0)" }
    let comparison = isOperator ? "_\(fixed.count)" : ".equals(_\(fixed.count))"
    let context = place == "context"
    func function(limit: [String], _ limitArgument: String) -> String {
      let query =
        "Empire.Query(\((components + ["last: \(comparison)", limitArgument]).commas))"
      let body = "try _place.select(query: \(query)\(index.map { ", index: \($0)" } ?? ""))"
      let all = ["in _place: \(context ? "Empire.TransactionContext" : "Empire.Store")"]
      return body.wrapped(
        in: "\(access)static func select(\((all + limit + parameters).commas)) throws -> [Self]")
    }
    let withLimit = function(limit: ["limit _limit: Int? = nil"], "limit: _limit")
    // A component that is called `limit` as well could not be given without the other one.
    guard (fixed + [last]).contains(where: { $0.name == "limit" }) else { return withLimit }
    return withLimit + "\n\n" + function(limit: [], "limit: nil")
  }

  private var deleting: String {
    let parameters = record.keys.enumerated().map { "\($1.label) _\($0): \($1.type)" }
    let components = record.keys.indices.map { "_\($0)" }
    return "try _place.delete(recordType: Self.self, key: Empire.Tuple(\(components.commas)))"
      .wrapped(
        in: "\(access)static func delete("
          + (["in _place: Empire.TransactionContext"] + parameters).commas + ") throws")
  }
}

extension [String] {
  var commas: String { joined(separator: ", ") }
  var lines: String { joined(separator: "\n") }
}

extension String {
  /// The text in braces, indented.
  func wrapped(in head: String) -> String {
    let body = split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.isEmpty ? "" : "  \($0)" }.joined(separator: "\n")
    return "\(head) {\n\(body)\n}"
  }
}
