// The Swift code that @IndexKeyRecord expands to.

internal import MacroSupport

/// Generates the code of a record.
struct RecordSource {
  private let record: RecordDescription
  /// The access modifier of every member: that of the type.
  private let access: String
  private let initializer: String?
  /// Whether one of the properties is deprecated.
  private let isDeprecated: Bool

  init(_ record: RecordDescription, initializer: String?, isDeprecated: Bool) {
    self.record = record
    self.initializer = initializer
    self.isDeprecated = isDeprecated
    access = record.access
  }

  /// What stands in the body of the struct.
  var members: [String] {
    // Callers know what names the properties by the protocol, which is not deprecated.
    [checkedTypes, initializer].compactMap { $0 } + types + tags
      + (values + writing + [reading] + indexing).inDeprecated(isDeprecated) + selecting
      + [deleting]
  }

  /// The extension of the struct with a name, which is qualified with those of the enclosing types.
  func conformance(of name: String) -> String {
    let prefix = record.keyPrefix ?? typeHash(name)
    return "\(access)static var keyPrefix: Empire.IndexKeyRecordHash { \(prefix) }"
      .wrapped(in: "nonisolated extension \(name): Empire.IndexKeyRecord")
  }

  private typealias Property = RecordDescription.Property

  private var types: [String] {
    let fields = record.fields.isEmpty ? ["Empire.EmptyValue"] : record.fields.map(component)
    return [
      "\(access)typealias IndexKey = Empire.Tuple<\(record.keys.map(component).commas)>",
      "\(access)typealias Fields = Empire.Tuple<\(fields.commas)>",
    ]
  }

  /// A type alias for each type that may not be storable. The compiler reports a type that is not
  /// at the alias, which is in the line of the property, and not again where the alias is used.
  private var checkedTypes: String? {
    let all = record.all.compactMap(\.check)
    return all.isEmpty ? nil : all.lines.wrapped(in: "nonisolated \(access)enum RecordTypes")
  }

  /// The type of a property in the key or the fields.
  private func component(_ property: Property) -> String {
    property.isChecked ? "\(property.checkedType).Value" : property.type
  }

  /// A call of a function for a property's value: on the value itself, or through the type alias.
  private func call(_ function: String, _ property: Property, _ arguments: String) -> String {
    property.isChecked
      ? "\(property.checkedType).\(function)(self.\(property.identifier), \(arguments))"
      : "self.\(property.identifier).\(function)(\(arguments))"
  }

  private var tags: [String] {
    let hash = "Empire.IndexKeyRecordHash"
    let version =
      "nonisolated \(access)static var fieldsVersion: \(hash) { \(record.fieldsVersion) }"
    // Only where a default value or a comment follows the type of a field.
    let versions = record.equalFieldsVersions.map { "\($0)" }.commas
    let equal = "nonisolated \(access)static var equalFieldsVersions: [\(hash)] { [\(versions)] }"
    return [version] + (versions.isEmpty ? [] : [equal]) + [names]
  }

  private var names: String {
    func list(_ names: [String]) -> String { "[\(names.map(\.literal).commas)]" }
    let arguments = [
      "keys: \(list(record.keys.map(\.name)))", "fields: \(list(record.fields.map(\.name)))",
      "indexes: [\(record.indexes.map { list($0.names) }.commas)]",
      "hasHashedPrefix: \(record.keyPrefix == nil)",
    ]
    return "Empire.RecordDescription(\(arguments.commas))".wrapped(
      in: "nonisolated \(access)static var recordDescription: Empire.RecordDescription")
  }

  private var values: [String] {
    let keys = record.keys.map { "self.\($0.identifier)" }
    let fields =
      record.fields.isEmpty
      ? ["Empire.EmptyValue()"] : record.fields.map { "self.\($0.identifier)" }
    return [
      "nonisolated \(access)var indexKey: IndexKey { Empire.Tuple(\(keys.commas)) }",
      "nonisolated \(access)var fields: Fields { Empire.Tuple(\(fields.commas)) }",
    ]
  }

  private var writing: [String] {
    let keys = record.keys.map { call("serializeKey", $0, "into: &_buffer.keyBuffer") }
    let checkedKeys = record.keys.map { call("serializeKey", $0, "to: &_writer") }
    let sizes = record.fields.map { property in
      property.isChecked
        ? "try " + call("add", property, "to: &_size")
        : "try _size.add(self.\(property.identifier))"
    }
    let fields = record.fields.map { call("serialize", $0, "into: &_buffer") }
    return [
      (keys + ["self.serialize(fields: &_buffer.valueBuffer)"]).lines.wrapped(
        in: "nonisolated \(access)func serialize(into _buffer: inout Empire.SerializationBuffer)"),
      checkedKeys.lines.wrapped(
        in: "nonisolated \(access)func serialize(key _writer: inout Empire.KeyWriter)"),
      sizes.lines.wrapped(
        in: "nonisolated \(access)func serialize(measuring _size: inout Empire.FieldsSize) "
          + "throws(Empire.SerializeError)"),
      fields.lines.wrapped(
        in:
          "nonisolated \(access)func serialize(fields _buffer: inout Swift.UnsafeMutableRawBufferPointer)"
      ),
    ]
  }

  private var reading: String {
    func unpack(_ property: Property, _ role: String, _ call: String) -> String {
      // A type argument is never taken for a property of the same name, as an expression would be.
      let type = property.isChecked ? property.checkedType : "Empire.\(role)<\(property.type)>"
      return "let _\(property.position) = try \(type).\(call))"
    }
    // Reads in the order of the bytes; the initialiser takes the order of declaration.
    let lines =
      record.keys.map { unpack($0, "StoredKey", "unpackKey(with: &_deserializer.keyDeserializer") }
      + record.fields.map {
        unpack($0, "StoredField", "unpack(with: &_deserializer.fieldsDeserializer")
      }
    let arguments = record.all.map { "\($0.label): _\($0.position)" }
    // A version that is given by hand may be that of other fields, too.
    let check = record.isVersionGiven ? "of: Self.self, ignoringFields: true" : "of: Self.self"
    let end = ["try _deserializer.checkEnd(\(check))", "return Self(\(arguments.commas))"]
    return (lines + end).lines.wrapped(
      in: """
        nonisolated \(access)static func deserialize(
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
      nonisolated \(access)static var indexTags: [Empire.IndexKeyRecordHash] { [\(record.indexes.map { "\($0.tag)" }.commas)] }
      """,
      body.lines.wrapped(
        in:
          "nonisolated \(access)func serialize(index _index: Int, into _entry: inout Empire.IndexEntry) "
          + "throws(Empire.SerializeError)"),
    ]
  }

  /// Where a generated function looks for records.
  private enum Destination: CaseIterable {
    case context, store
    /// Nowhere: it returns a set of records.
    case set
  }

  /// The query functions: one for every number of components of the key and of each index, with a
  /// value or an operator for the last one, in a context, in a store, or for a set of records.
  private var selecting: [String] {
    var seen: Set<[Int]> = []
    let orders = [(nil, record.keys)] + record.indexes.enumerated().map { ($0, $1.properties) }
    return orders.flatMap { (index: Int?, properties: [Property]) in
      properties.indices.flatMap { position -> [String] in
        let fixed = Array(properties[..<position])
        let last = properties[position]
        // The key or an earlier index already has this function.
        guard seen.insert((fixed + [last]).map(\.position)).inserted else { return [] }
        return [true, false].flatMap { isOperator in
          Destination.allCases.map { destination in
            select(fixed, last, index: index, isOperator: isOperator, destination: destination)
          }
        }
      }
    }
  }

  private func select(
    _ fixed: [Property], _ last: Property, index: Int?, isOperator: Bool, destination: Destination
  ) -> String {
    let type = isOperator ? "Empire.ComparisonOperator<\(last.type)>" : last.type
    let parameters =
      fixed.enumerated().map { "\($1.label) _\($0): \($1.type)" }
      + ["\(last.label) _\(fixed.count): \(type)"]
    let components = fixed.indices.map { "_\($0)" }
    let comparison =
      isOperator ? "_\(fixed.count)" : ".equals(_\(fixed.count))"
    func function(limit: [String], _ limitArgument: String) -> String {
      let query =
        "Empire.Query(\((components + ["last: \(comparison)", limitArgument]).commas))"
      let order = index.map { ", index: \($0)" } ?? ""
      let all = limit + parameters
      switch destination {
      case .context, .store:
        let type = destination == .context ? "Empire.TransactionContext" : "Empire.Store"
        return "try _place._select(query: \(query)\(order))".wrapped(
          in:
            "nonisolated \(access)static func select(\((["in _place: \(type)"] + all).commas)) throws -> sending [Self]"
        )
      case .set:
        return "Empire.RecordSet._query(\(query)\(order))".wrapped(
          in: "nonisolated \(access)static func query(\(all.commas)) -> Empire.RecordSet<Self>")
      }
    }
    let withLimit = function(limit: ["limit _limit: Swift.Int? = nil"], "limit: _limit")
    // A component that is also called `limit` could not be passed without the other one.
    guard (fixed + [last]).contains(where: { $0.name == "limit" }) else { return withLimit }
    return withLimit + "\n\n" + function(limit: [], "limit: nil")
  }

  private var deleting: String {
    let parameters = record.keys.enumerated().map { "\($1.label) _\($0): \($1.type)" }
    let components = record.keys.indices.map { "_\($0)" }
    return "try _place.delete(recordType: Self.self, key: Empire.Tuple(\(components.commas)))"
      .wrapped(
        in: "nonisolated \(access)static func delete("
          + (["in _place: Empire.TransactionContext"] + parameters).commas + ") throws")
  }
}
