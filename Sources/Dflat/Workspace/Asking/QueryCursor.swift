// QueryCursor: where a page of a query ends, to be kept and sent.
//
// A cursor has the values of the sort keys and the row id of the last object of a page, so the next
// page begins behind that object also if objects were inserted or deleted meanwhile, or if that
// object is gone. It names its query by a hash, so that it is not used for another one.

/// Where the next page of a query begins.
///
/// It may be stored or sent as JSON. It belongs to one query, with its condition and its order, and
/// to the objects of one storage.
public struct QueryCursor: Codable, Hashable, Sendable {
  /// A value of a sort key.
  private enum Item: Codable, Hashable {
    case unknown
    case bool(Bool)
    case integer(Int64)
    case unsigned(UInt64)
    /// The bits, since JSON has no infinity and rounds.
    case real(UInt64)
    case text(String)

    init(_ value: Value?) {
      switch value {
      case nil: self = .unknown
      case .bool(let value)?: self = .bool(value)
      case .integer(let value)?: self = .integer(value)
      case .unsigned(let value)?: self = .unsigned(value)
      case .real(let value)?: self = .real(value.bitPattern)
      case .string(let value)?: self = .text(value)
      }
    }

    var value: Value? {
      switch self {
      case .unknown: nil
      case .bool(let value): .bool(value)
      case .integer(let value): .integer(value)
      case .unsigned(let value): .unsigned(value)
      case .real(let bits): .real(Double(bitPattern: bits))
      case .text(let text): .string(text)
      }
    }
  }

  private let query: UInt64
  private let values: [Item]
  private let id: Int64
  /// How many objects the query's limit still allows.
  let remaining: Int?

  init(_ position: RowPosition, of query: Query, remaining: Int?) {
    self.query = query.fingerprint
    values = position.values.map(Item.init)
    id = position.id
    self.remaining = remaining
  }

  /// The position in the order of a query.
  /// - Throws: `QueryError` if the cursor belongs to another query.
  func position(in query: Query) throws -> RowPosition {
    let values = values.map(\.value)
    guard self.query == query.fingerprint, values.count == query.order.count,
      zip(values, query.order).allSatisfy({ SortKey($1).accepts($0) })
    else {
      throw QueryError(
        .foreignCursor,
        "a cursor for \(query.schema.layout.swiftName) was made by a query with another condition or "
          + "order, or by another version of the schema",
        "begin again without a cursor")
    }
    return RowPosition(values: values, id: id)
  }
}

extension Query {
  /// A hash of the type, the condition and the order, which is the same in every process.
  fileprivate var fingerprint: UInt64 {
    var text = schema.table + "\n" + (condition?.text(in: schema) ?? "")
    for term in order {
      text += "\n\(SortKey(term).type.rawValue)\(term.isDescending ? " descending " : " ")"
      text += term.positions.map { "by \($0.count) positions " } ?? ""
      text += term.node.text(in: schema)
    }
    // FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
    return text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}

extension SortKey {
  /// Whether a value can be one of this key.
  fileprivate func accepts(_ value: Value?) -> Bool {
    switch value {
    case nil: true
    case .integer?:
      positions != nil || ![.string, .float, .double, .uint64, .bool].contains(type)
    case .bool?: positions == nil && type == .bool
    case .unsigned?: positions == nil && type == .uint64
    case .real(let value)?: positions == nil && type.isReal && !value.isNaN
    case .string?: positions == nil && type == .string
    }
  }
}

extension ValueType {
  fileprivate var isReal: Bool { self == .float || self == .double }
}
