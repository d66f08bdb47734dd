// Making rows of the lines of an import: JSON by Foundation and by the layout of the type, as
// generated types are decoded; a record of CSV by way of the JSON that says the same.

import Dflat
import Foundation

/// Makes rows of one type.
struct RowReading: Sendable {
  let entity: EntitySchema
  private let names: Set<String>
  /// What each column of CSV is.
  private var columns: [Column] = []

  private struct Column: Sendable {
    let name: String
    let kind: Property.Kind
  }

  init(_ entity: EntitySchema) {
    self.entity = entity
    names = Set(entity.layout.properties.flatMap { $0.columns.map(\.name) })
  }

  // MARK: JSON

  /// The object of a line of JSON.
  func row(
    ofJSON bytes: [UInt8], line: Int, _ decoder: JSONDecoder
  ) throws(ImportProblem) -> Row {
    do { return try decode(Data(bytes), decoder) } catch let error as DecodingError {
      let problem = ImportProblem(error, line: line)
      if problem.field != nil { throw problem }
      throw named(problem, in: Data(bytes), decoder)
    } catch {
      throw ImportProblem(line: line, field: nil, message: "\(error)")
    }
  }

  private func decode(_ data: Data, _ decoder: JSONDecoder) throws -> Row {
    try decoder.decode(
      DecodedRow.self, from: data, configuration: RowReadingConfiguration(entity, names)
    ).row
  }

  /// The same problem with the field that has it. Foundation does not say which number is too
  /// large, so the fields are decoded one by one.
  private func named(
    _ problem: ImportProblem, in data: Data, _ decoder: JSONDecoder
  ) -> ImportProblem {
    guard let values = try? decoder.decode([String: JSONValue].self, from: data) else {
      return problem
    }
    let keys = Set(entity.primaryKey.map { entity.name(of: $0) })
    for property in entity.layout.properties.sorted(by: {
      keys.contains($0.name) && !keys.contains($1.name)
    }) {
      let columns = keys.union(property.columns.map(\.name))
      let part = values.filter { columns.contains($0.key) }
      do { _ = try decode(try ToolJSON.line(part), decoder) } catch {
        return ImportProblem(line: problem.line, field: property.name, message: problem.cause)
      }
    }
    return problem
  }

  static func makeDecoder() -> JSONDecoder {
    let decoder = JSONDecoder()
    decoder.nonConformingFloatDecodingStrategy = .convertFromString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return decoder
  }

  // MARK: CSV

  /// Reads the names of the columns.
  mutating func readHeader(_ bytes: [UInt8], line: Int) throws(ImportProblem) {
    let known = entity.layout.properties.flatMap(\.columns)
    columns = []
    for field in try Self.fields(bytes, line) {
      guard let column = known.first(where: { $0.name == field.text }) else {
        throw ImportProblem(line: line, field: field.text, message: unknown(field.text))
      }
      if columns.contains(where: { $0.name == field.text }) {
        throw ImportProblem(line: line, field: field.text, message: "the column is there twice")
      }
      columns.append(Column(name: column.name, kind: column.kind))
    }
    let missing = entity.primaryKey.map { entity.name(of: $0) }
      .first { name in !columns.contains { $0.name == name } }
    if let missing {
      throw ImportProblem(line: line, field: missing, message: "there is no column for the key")
    }
  }

  /// The object of a record of CSV.
  func row(
    ofCSV bytes: [UInt8], line: Int, _ decoder: JSONDecoder
  ) throws(ImportProblem) -> Row {
    let fields = try Self.fields(bytes, line)
    if fields.count != columns.count {
      throw ImportProblem(
        line: line, field: nil,
        message: "there are \(fields.count) fields, and \(columns.count) columns")
    }
    var values: [String: JSONValue] = [:]
    for (column, field) in zip(columns, fields) where !field.isAbsent {
      values[column.name] = try Self.value(field.text, column, line, decoder)
    }
    let json: Data
    do { json = try ToolJSON.line(values) } catch {
      throw ImportProblem(line: line, field: nil, message: "\(error)")
    }
    return try row(ofJSON: Array(json), line: line, decoder)
  }

  private static func fields(_ bytes: [UInt8], _ line: Int) throws(ImportProblem) -> [CSVField] {
    do throws(CSVRecord.Malformed) { return try CSVRecord.fields(of: bytes) } catch {
      throw ImportProblem(line: line, field: nil, message: error.reason)
    }
  }

  private static func value(
    _ text: String, _ column: Column, _ line: Int, _ decoder: JSONDecoder
  ) throws(ImportProblem) -> JSONValue {
    func refused(_ type: String) -> ImportProblem {
      ImportProblem(line: line, field: column.name, message: "'\(text)' is no \(type)")
    }
    switch column.kind {
    case .string: return .string(text)
    case .enumeration: return Int64(text).map { .integer($0) } ?? .string(text)
    case .scalar(.bool, _):
      guard let value = Bool(text) else { throw refused("Boolean: it is true or false") }
      return .bool(value)
    case .scalar(let type, _):
      if let value = Int64(text) { return .integer(value) }
      if let value = UInt64(text) { return .unsigned(value) }
      guard type == .float || type == .double else { throw refused("\(type)") }
      if ["nan", "inf", "-inf"].contains(text) { return .string(text) }
      guard let value = Double(text), value.isFinite else { throw refused("\(type)") }
      return .real(value)
    case .structure, .table, .union, .vector, .array:
      do { return try decoder.decode(JSONValue.self, from: Data(text.utf8)) } catch {
        throw refused("JSON")
      }
    }
  }

  private func unknown(_ name: String) -> String {
    "\(entity.layout.name) has no such field"
      + (suggestion(for: name, among: names).map { ": \($0)" } ?? "")
  }
}

extension Property {
  /// What a field has in exported objects: a union also has the name of its member.
  var columns: [(name: String, kind: Property.Kind)] {
    switch kind {
    case .union: [("\(name)_type", .string(default: nil)), (name, kind)]
    case .vector(.union): [("\(name)_type", .vector(.string(default: nil))), (name, kind)]
    default: [(name, kind)]
    }
  }
}

/// What the fields of an object are.
private struct RowReadingConfiguration {
  let entity: EntitySchema
  let names: Set<String>

  init(_ entity: EntitySchema, _ names: Set<String>) {
    self.entity = entity
    self.names = names
  }
}

/// A row that a decoder of Foundation makes.
private struct DecodedRow: DecodableWithConfiguration {
  let row: Row

  init(from decoder: any Decoder, configuration: RowReadingConfiguration) throws {
    let container = try decoder.container(keyedBy: NameKey.self)
    for key in container.allKeys where !configuration.names.contains(key.stringValue) {
      let name = key.stringValue
      let hint = suggestion(for: name, among: configuration.names)
      throw DecodingError.dataCorruptedError(
        forKey: key, in: container,
        debugDescription: "\(configuration.entity.layout.name) has no such field"
          + (hint.map { ": \($0)" } ?? ""))
    }
    row = try Row(from: decoder, of: configuration.entity)
  }
}

extension ImportProblem {
  init(_ error: DecodingError, line: Int) {
    let context: DecodingError.Context
    var path: [any CodingKey] = []
    switch error {
    case .keyNotFound(let key, let found):
      context = found
      path = [key]
    case .dataCorrupted(let found), .typeMismatch(_, let found), .valueNotFound(_, let found):
      context = found
    @unknown default:
      self.init(line: line, field: nil, message: "\(error)")
      return
    }
    path = context.codingPath + path
    let field = path.map { key in
      key.intValue.map { "[\($0)]" } ?? key.stringValue
    }.joined(separator: ".").replacing(".[", with: "[")
    var message = context.debugDescription
    if path.isEmpty, case .dataCorrupted = error, let cause = context.underlyingError {
      let reason = (cause as NSError).userInfo[NSDebugDescriptionErrorKey]
      message = Self.noJSON + "\(reason ?? cause)"
    }
    self.init(line: line, field: field.isEmpty ? nil : field, message: message)
  }

  private static let noJSON = "this is no JSON: "

  /// The message about a line that is JSON after all.
  fileprivate var cause: String {
    message.hasPrefix(Self.noJSON) ? String(message.dropFirst(Self.noJSON.count)) : message
  }
}
