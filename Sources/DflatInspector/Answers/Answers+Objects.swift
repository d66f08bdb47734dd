// Pages of objects, one object, what it refers to and what refers to it, and whole values.

import DflatTools
import Foundation

/// An object in a table.
struct RowAnswer: Encodable {
  /// The id of its row, which JavaScript could not hold as a number.
  let row: String?
  let key: [String]
  /// Shows whether an object has changed.
  let version: String
  let values: ShownValue

  init(_ object: StoredObject, _ limits: ShownLimits = .row) throws {
    row = object.rowID.map { "\($0)" }
    key = object.key
    version = object.version
    values = try ShownValue(object, limits)
  }
}

/// A page of a type.
struct RowsAnswer: Encodable {
  let table: String
  let columns: [String]
  let rows: [RowAnswer]
  let isLast: Bool
}

/// One object.
struct ObjectAnswer: Encodable {
  /// A field that refers to an object.
  struct Reference: Encodable {
    let field: String
    let table: String
    let type: String
    let key: String
    /// The object's row; nil if there is none.
    let row: String?
  }

  /// A field of a type that can refer to the object.
  struct Referrer: Encodable {
    let table: String
    let type: String
    let field: String
  }

  let table: String
  let type: String
  let row: String?
  let key: [String]
  let bytes: Int
  let version: String
  let values: ShownValue
  let references: [Reference]
  let referrers: [Referrer]
}

/// What refers to an object by one field.
struct ReferrersAnswer: Encodable {
  struct Object: Encodable {
    let row: String?
    let key: [String]
  }

  let objects: [Object]
  let hasMore: Bool
  let isIndexed: Bool
  let isAnswered: Bool
}

/// Where an object with a key is.
struct FoundAnswer: Encodable {
  let table: String
  let row: String?
}

extension Answers {
  private static let pageSize = 50
  /// More references of an object are not looked up.
  private static let referenceLimit = 50

  func rows(_ question: Question) throws -> RowsAnswer {
    let type = try type(question)
    let limit = min(max(question.limit ?? Self.pageSize, 1), 200)
    let page = try store.page(of: type, after: question.after, limit: limit)
    let rows = try page.objects.map { try RowAnswer($0) }
    return RowsAnswer(
      table: type.table, columns: Self.columns(type, rows), rows: rows, isLast: page.isLast)
  }

  /// The names of the columns: the fields, or what unnamed rows have.
  static func columns(_ type: StoredType, _ rows: [RowAnswer]) -> [String] {
    let names = type.fields.map(\.name)
    if !names.isEmpty { return names }
    var found: [String] = []
    for name in rows.flatMap({ $0.values.fields.map(\.name) }) where !found.contains(name) {
      found.append(name)
    }
    return found
  }

  func object(_ question: Question) throws -> ObjectAnswer {
    let type = try type(question)
    let object = try object(question, of: type)
    let values = try ShownValue(object, .object)
    let isTarget = type.keyFields.count == 1 && type.origin != .unknown
    return ObjectAnswer(
      table: type.table, type: type.name, row: object.rowID.map { "\($0)" }, key: object.key,
      bytes: object.byteCount, version: object.version, values: values,
      references: try references(of: values, type),
      referrers: isTarget
        ? store.types.flatMap { other in
          other.fields.filter { $0.reference == type.table }.map {
            ObjectAnswer.Referrer(table: other.table, type: other.name, field: $0.name)
          }
        } : [])
  }

  private func references(
    of values: ShownValue, _ type: StoredType
  ) throws -> [ObjectAnswer.Reference] {
    var found: [ObjectAnswer.Reference] = []
    for field in type.fields {
      guard let table = field.reference,
        let target = store.types.first(where: { $0.table == table }),
        let value = values.fields.first(where: { $0.name == field.name })?.value
      else { continue }
      let keys: [ShownValue] = if case .list(let elements, _) = value { elements } else { [value] }
      for key in keys.compactMap(\.keyText) {
        if found.count == Self.referenceLimit { return found }
        let object = try? store.object(of: target, key: [key])
        found.append(
          ObjectAnswer.Reference(
            field: field.name, table: table, type: target.name, key: key,
            row: object?.rowID.map { "\($0)" }))
      }
    }
    return found
  }

  func find(_ question: Question) throws -> FoundAnswer {
    let type = try type(question)
    let object = try store.object(of: type, key: question.key ?? [])
    return FoundAnswer(table: type.table, row: object?.rowID.map { "\($0)" })
  }

  func referrers(_ question: Question) throws -> ReferrersAnswer {
    let type = try type(question)
    let object = try object(question, of: type)
    let from = try self.type(named: question.from)
    guard let field = question.field, object.key.count == 1 else {
      throw NoAnswer(400, "the question has no field")
    }
    let limit = 20
    // A small type is looked through at once.
    let isSmall = try store.page(of: from, limit: 2000, bytes: 1 << 20).isLast
    let found = try store.objects(
      referringTo: object.key[0], by: field, of: from, limit: limit + 1,
      scanning: question.anyway == true || isSmall)
    return ReferrersAnswer(
      objects: found.objects.prefix(limit).map {
        ReferrersAnswer.Object(row: $0.rowID.map { "\($0)" }, key: $0.key)
      },
      hasMore: found.objects.count > limit, isIndexed: found.isIndexed,
      isAnswered: found.isAnswered)
  }

  // MARK: Whole values

  /// A text as it is, or another value as JSON.
  func wholeValue(_ question: Question) throws -> HTTPResponse {
    let type = try type(question)
    let values = try ShownValue(try object(question, of: type), .whole)
    guard let value = values.value(at: question.path ?? []) else {
      throw NoAnswer(404, "the object has no such value")
    }
    if case .text(let text, _) = value {
      return HTTPResponse(200, "text/plain; charset=utf-8", Data(text.utf8))
    }
    return Self.json(value)
  }

  /// An object as JSON, as it is exported, but on several lines.
  func wholeObject(_ question: Question) throws -> HTTPResponse {
    let type = try type(question)
    return Self.json(try object(question, of: type), [.prettyPrinted])
  }
}

extension ShownValue {
  /// The value of a key as text; nil for what cannot be one.
  fileprivate var keyText: String? {
    switch self {
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .real(let value): "\(value)"
    case .text(let text, let bytes): text.utf8.count == bytes ? text : nil
    case .null, .list, .object, .left: nil
    }
  }
}
