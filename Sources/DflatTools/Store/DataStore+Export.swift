// Exporting all objects of a type, with memory for a few of them.

import Dflat
public import Foundation
import Platform
import SQLiteAccess

extension DataFile {
  /// A form of exported objects.
  public enum ExportFormat: String, Sendable, CaseIterable {
    /// One JSON object in each line, with all that the objects have.
    case jsonLines = "jsonl"
    /// Comma-separated values with a line of names. A value that is no number, text or Boolean
    /// stands there as JSON.
    case csv
  }
}

extension DataStore {
  /// Passes all objects of a type on, in the order in which they were stored, as one state has
  /// them.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - format: The form.
  ///   - leftOut: Called for each object that has what only a newer schema knows, with the object's
  ///     type and key and what it is. That is left out; the newer schema has it.
  ///   - write: Receives the bytes of one or more lines. An error that it throws ends the export.
  /// - Returns: The number of objects.
  /// - Throws: ``ToolError`` if nothing is known of the type but its bytes, or the file cannot be
  ///   read; the errors of `write`.
  public func export(
    _ type: StoredType, as format: DataFile.ExportFormat = .jsonLines,
    leavingOut leftOut: (String) -> Void = { _ in }, to write: (Data) throws -> Void
  ) throws -> Int {
    let entity = try type.requireEntity()
    let columns = entity.layout.properties.flatMap { $0.columns.map(\.name) }
    if format == .csv { try write(CSV.line(columns.map { .string($0) })) }
    return try withToolErrors {
      try core.fetchWithinASnapshot { () throws -> Int in
        var count = 0
        var last = Int64.min
        while true {
          let rows = try core.rows(of: entity, after: last, limit: 500)
          if rows.count == 0 { return count }
          var lines = Data()
          for index in 0..<rows.count {
            if let part = entity.unknownPart(of: rows[index]) {
              let key = entity.keyTexts(of: rows[index]).map { " '\($0.shortened)'" }.joined()
              leftOut("\(entity.layout.name)\(key): '\(part)'")
            }
            let object = StoredObject(rows[index], of: entity)
            switch format {
            case .jsonLines:
              lines.append(try object.json())
              lines.append(UInt8(ascii: "\n"))
            case .csv:
              let values = try object.values()
              lines.append(CSV.line(columns.map { values[$0] ?? .null }))
            }
          }
          try write(lines)
          count += rows.count
          last = rows[rows.count - 1].id
        }
      }
    }
  }
}

/// Comma-separated values (RFC 4180).
enum CSV {
  /// A line with its end. An absent value is empty; an empty text stands in quotation marks.
  static func line(_ values: [JSONValue]) -> Data {
    Data((values.map(field).joined(separator: ",") + "\r\n").utf8)
  }

  private static func field(_ value: JSONValue) -> String {
    switch value {
    case .null: ""
    case .string(let text): quoted(text)
    case .bool, .integer, .unsigned, .real: value.text
    case .array, .object: quoted(value.text)
    }
  }

  private static func quoted(_ text: String) -> String {
    let isPlain =
      !text.isEmpty && !text.utf8.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0x22 || $0 == 0x2C }
    return isPlain ? text : text.quoted(by: "\"")
  }
}
