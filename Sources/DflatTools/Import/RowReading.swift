// Making rows of the lines of an import: JSON by Foundation and by the layout of the type, as
// generated types are decoded, after a check of its own; a record of CSV by way of the JSON that
// says the same.

import Dflat
import Foundation
import Platform

/// Makes rows of one type.
struct RowReading: Sendable {
  let entity: EntitySchema
  /// What each column of CSV is.
  private var columns: [Column] = []

  private struct Column: Sendable {
    let name: String
    let kind: Property.Kind
  }

  init(_ entity: EntitySchema) {
    self.entity = entity
  }

  // MARK: JSON

  /// The object of a line of JSON.
  func row(
    ofJSON bytes: [UInt8], line: Int, _ decoder: JSONDecoder
  ) throws(ImportProblem) -> Row {
    let checked: [UInt8]
    do throws(JSONCheck.Problem) {
      checked = try JSONCheck.checked(bytes, as: entity.layout)
    } catch {
      throw ImportProblem(line: line, field: error.field, message: error.message)
    }
    do {
      return try decoder.decode(DecodedRow.self, from: Data(checked), configuration: entity).row
    } catch let error as DecodingError {
      let isText = String(validating: bytes, as: UTF8.self) != nil
      throw isText
        ? ImportProblem(error, line: line)
        : ImportProblem(line: line, field: nil, message: "the text is not UTF-8")
    } catch {
      throw ImportProblem(line: line, field: nil, message: "\(error)")
    }
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
    let names = known.map(\.name)
    columns = []
    for field in try Self.fields(bytes, line) {
      guard let column = known.first(where: { $0.name == field.text }) else {
        throw ImportProblem(
          line: line, field: field.text.shortened, message: unknown(field.text, names))
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
    var json: [String] = []
    for (column, field) in zip(columns, fields) where !field.isAbsent {
      let value = try Self.json(field.text, column, line)
      json.append("\(JSONValue.string(column.name).json):\(value)")
    }
    let object = "{\(json.joined(separator: ","))}"
    return try row(ofJSON: Array(object.utf8), line: line, decoder)
  }

  private static func fields(_ bytes: [UInt8], _ line: Int) throws(ImportProblem) -> [CSVField] {
    do throws(CSVRecord.Malformed) { return try CSVRecord.fields(of: bytes) } catch {
      throw ImportProblem(line: line, field: nil, message: error.reason)
    }
  }

  /// The JSON of a field. What has parts is JSON already, and stays as it is.
  private static func json(
    _ text: String, _ column: Column, _ line: Int
  ) throws(ImportProblem) -> String {
    func refused(_ type: String) -> ImportProblem {
      ImportProblem(
        line: line, field: column.name, message: "'\(text.shortened)' is no \(type)")
    }
    switch column.kind {
    case .string: return JSONValue.string(text).json
    case .enumeration:
      return Int64(text).map { "\($0)" } ?? JSONValue.string(text).json
    case .scalar(.bool, _):
      guard let value = Bool(text) else { throw refused("Boolean: it is true or false") }
      return "\(value)"
    case .scalar(let type, _):
      if text == "-0" { return "-0.0" }
      if let value = Int64(text) { return "\(value)" }
      if let value = UInt64(text) { return "\(value)" }
      guard type == .float || type == .double else { throw refused("\(type)") }
      if ["nan", "inf", "-inf"].contains(text) { return JSONValue.string(text).json }
      guard let value = Double(text), value.isFinite else { throw refused("\(type)") }
      return "\(value)"
    case .structure, .table, .union, .vector, .array:
      do throws(JSONCheck.Problem) { _ = try JSONCheck.checked(Array(text.utf8), as: nil) } catch {
        throw ImportProblem(
          line: line, field: error.field.map { "\(column.name).\($0)" } ?? column.name,
          message: "'\(text.shortened)': \(error.message)")
      }
      return text
    }
  }

  private func unknown(_ name: String, _ names: [String]) -> String {
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

/// A row that a decoder of Foundation makes.
private struct DecodedRow: DecodableWithConfiguration {
  let row: Row

  init(from decoder: any Decoder, configuration: EntitySchema) throws {
    row = try Row(from: decoder, of: configuration)
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
      message = "this is no JSON: \(reason ?? cause)"
    }
    self.init(line: line, field: field.isEmpty ? nil : field, message: message)
  }
}
