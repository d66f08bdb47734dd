// Questions about the objects of a file or a database.

public import Dflat
import SQLiteDflat

/// What a query finds.
public struct QueryAnswer: Sendable {
  /// The type of the objects.
  public let type: StoredType
  /// The names of the values: those of the selection, or of the type's fields.
  public let columns: [String]
  /// The objects, or the selected values of each, in the order of the query.
  public let objects: [StoredObject]
}

extension DataStore {
  /// The object with a primary key.
  ///
  /// - Parameters:
  ///   - type: Its type.
  ///   - key: The values of the fields of the key, in their order: numbers in digits, enums by
  ///     name, Booleans as `true` and `false`, texts as they are.
  /// - Returns: The object; nil if there is none.
  /// - Throws: ``ToolError`` if the key has other fields, or the file or the server cannot be read.
  public func object(of type: StoredType, key: [String]) throws -> StoredObject? {
    guard let entity = type.entity else { return try unnamedObject(of: type, key: key) }
    let scope = FieldScope(entity)
    let names = entity.primaryKey.map { entity.name(of: $0) }
    guard key.count == names.count else {
      throw ToolError(
        .usage,
        "the key of \(type.name) has \(names.count == 1 ? "one value" : "\(names.count) values"), "
          + "and \(key.count) \(key.count == 1 ? "is" : "are") given",
        advice: "give \(names.joined(separator: ", "))")
    }
    var condition: Node?
    for (name, text) in zip(names, key) {
      guard case .value(let field, let kind, _)? = scope.member(name),
        let value = Self.keyValue(text, field.type, kind)
      else {
        throw ToolError(.usage, "'\(text)' is no value of \(name), a field of \(type.name)'s key")
      }
      let node = Node.comparison(
        .equal, .field(field), .constant(value, field.type), field.type)
      condition = condition.map { .conjunction($0, node) } ?? node
    }
    let query = Query(schema: entity, condition: condition, limit: 1)
    return try withToolErrors {
      let rows = try core.fetch(query)
      return rows.count > 0 ? StoredObject(rows[0], of: entity) : nil
    }
  }

  /// A value of a key that is given as text; nil if it is none of this type.
  static func keyValue(
    _ text: String, _ type: ValueType, _ kind: Property.Kind
  ) -> Value? {
    if case .enumeration(let layout, _) = kind,
      let known = layout().values.first(where: { $0.name == text })
    {
      return type == .uint64
        ? .unsigned(UInt64(bitPattern: known.value)) : .integer(known.value)
    }
    switch type {
    case .string: return .string(text)
    case .bool: return Bool(text).map { .bool($0) }
    default:
      guard Double(text) != nil, case .value(let value) = QueryNumber(text).fit(type) else {
        return nil
      }
      return value
    }
  }

  private func unnamedObject(of type: StoredType, key: [String]) throws -> StoredObject? {
    guard key.count == type.keyColumns.count else {
      throw ToolError(.usage, "the key of \(type.name) has \(type.keyColumns.count) values")
    }
    return try _objectsWithoutSchema(of: type, key: key, after: nil, limit: 1).first
  }

  // MARK: The text form

  /// Answers a query: `Post where likes > 10 order by title desc limit 5`.
  ///
  /// The conditions mean what they mean in programs; see <doc:QueriesAsText>.
  ///
  /// - Parameters:
  ///   - text: The query.
  ///   - selection: Expressions between commas, `title, likes + 1`, whose values are wanted; nil
  ///     for whole objects.
  ///   - limit: More objects are not read, whatever the limit in the text.
  /// - Returns: The objects, all of them in memory.
  /// - Throws: ``QueryTextError`` if the text is wrong; ``ToolError`` if nothing is known of the
  ///   type but its bytes, or the file or the server cannot be read.
  public func query(
    _ text: String, selecting selection: String? = nil, atMost limit: Int? = nil
  ) throws -> QueryAnswer {
    var syntax = try QueryParser.query(text)
    if let limit { syntax.limit = min(limit, syntax.limit ?? .max) }
    let type = try type(of: syntax, text)
    if type.entity == nil, syntax.condition == nil, syntax.order.isEmpty, selection == nil {
      let objects = try _objectsWithoutSchema(
        of: type, key: nil, after: nil, limit: syntax.limit ?? .max)
      return QueryAnswer(type: type, columns: try Self.columns(of: objects), objects: objects)
    }
    let entity = try type.requireEntity()
    let query = try Self.query(syntax, text, entity)
    let selected = try selection.map { try Selection($0, entity) }
    return try withToolErrors {
      let rows = try core.fetch(query)
      var objects: [StoredObject] = []
      objects.reserveCapacity(rows.count)
      for index in 0..<rows.count {
        let row = rows[index]
        objects.append(selected?.object(row) ?? StoredObject(row, of: entity))
      }
      return QueryAnswer(
        type: type, columns: selected?.names ?? entity.layout.properties.map(\.name),
        objects: objects)
    }
  }

  /// The names of rows without a schema: the key columns, and the fields by their offsets.
  private static func columns(of objects: [StoredObject]) throws -> [String] {
    let names = try objects.reduce(into: Set<String>()) { $0.formUnion(try $1.values().keys) }
    let offset = { (name: String) in name.first == "f" ? Int(name.dropFirst()) ?? 0 : 0 }
    return names.sorted { (offset($0), $0) < (offset($1), $1) }
  }

  /// The number of objects that a query finds. No object is read if an index knows the number.
  /// - Parameter text: The query.
  /// - Throws: As ``query(_:selecting:atMost:)``.
  public func count(_ text: String) throws -> Int {
    let syntax = try QueryParser.query(text)
    let type = try type(of: syntax, text)
    let query = try Self.query(syntax, text, try type.requireEntity())
    return try withToolErrors { try core.count(query) }
  }

  /// How a query is answered: the statement, its plan, and which indexes it uses.
  /// - Parameter text: The query.
  /// - Throws: As ``query(_:selecting:atMost:)``.
  public func explain(_ text: String) throws -> QueryExplanation {
    let syntax = try QueryParser.query(text)
    let type = try type(of: syntax, text)
    let query = try Self.query(syntax, text, try type.requireEntity())
    return try withToolErrors { try core.explain(query) }
  }

  private func type(of syntax: QuerySyntax, _ text: String) throws -> StoredType {
    do { return try type(named: syntax.type) } catch let error as ToolError {
      throw QueryTextError(
        message: error.message, hint: error.advice, text: text, range: syntax.typeRange)
    }
  }

  /// The query that a text stands for.
  static func query(
    _ syntax: QuerySyntax, _ text: String, _ entity: EntitySchema
  ) throws(QueryTextError) -> Query {
    let binder = QueryBinder(text, entity)
    var order: [OrderTerm] = []
    for (key, isDescending) in syntax.order {
      let operand = try binder.operand(key)
      order.append(OrderTerm(node: operand.node, operand.type, isDescending: isDescending))
    }
    var condition: Node?
    if let syntax = syntax.condition { condition = try binder.condition(syntax) }
    return Query(
      schema: entity, condition: condition, order: order, limit: syntax.limit,
      offset: syntax.offset)
  }
}

/// The values that a query selects.
private struct Selection {
  let names: [String]
  private let operands: [QueryBinder.Operand]
  private let readers: RowValues

  init(_ text: String, _ entity: EntitySchema) throws(QueryTextError) {
    let binder = QueryBinder(text, entity)
    var names: [String] = []
    var operands: [QueryBinder.Operand] = []
    let bytes = Array(text.utf8)
    for syntax in try QueryParser.expressions(text) {
      let operand = try binder.operand(syntax)
      if operand.node.readsOtherObjects {
        throw binder.error(
          "a selection has fields of the object itself only", syntax.range)
      }
      operands.append(operand)
      names.append(String(decoding: bytes[syntax.range], as: UTF8.self))
    }
    self.names = names
    self.operands = operands
    readers = RowValues(operands.map { ($0.node, $0.type) })
  }

  func object(_ row: Row) -> StoredObject {
    let values = readers.values(of: row, as: operands.map(\.type))
    return StoredObject(
      zip(names, zip(operands, values)).map { name, pair in
        let (operand, value) = pair
        guard let value else { return (name, .unknown) }
        return (name, operand.valueName(value).map { .named($0) } ?? .known(value))
      })
  }
}

extension QueryBinder.Operand {
  /// The name of an enum's value or of a union's member.
  fileprivate func valueName(_ value: Value) -> String? {
    if let union {
      guard case .integer(let tag) = value else { return nil }
      return union.members.first { Int64($0.tag) == tag }?.name
    }
    return kind?.valueName(value)
  }
}
