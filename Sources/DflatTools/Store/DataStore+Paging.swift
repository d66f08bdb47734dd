// Objects by pages, and by what they refer to.
//
//  - A page goes on behind a row id, so that the thousandth page costs as much as the first one,
//    and objects with unreadable keys are on a page, too.
//  - What a page reads is bounded in bytes, too, and not in objects only.

import Dflat

/// Some objects of a type, in the order of their row ids.
public struct ObjectPage: Sendable {
  /// The objects.
  public let objects: [StoredObject]
  /// Whether there are no more behind them.
  public let isLast: Bool
}

/// The objects that refer to an object.
public struct Referrers: Sendable {
  /// The objects; not all, if the limit is reached.
  public let objects: [StoredObject]
  /// Whether an index knows them. Without one every object of the type is looked at.
  public let isIndexed: Bool
  /// Whether they were looked for.
  public let isAnswered: Bool
}

extension DataStore {
  /// The objects with row ids above one, in one state.
  ///
  /// - Parameters:
  ///   - type: The type.
  ///   - id: The row id; nil for the first page.
  ///   - limit: How many objects are wanted.
  ///   - bytes: The page ends with the object that reaches this size. There is at least one object.
  /// - Throws: ``ToolError`` if the file cannot be read.
  public func page(
    of type: StoredType, after id: Int64? = nil, limit: Int, bytes: Int = 1 << 22
  ) throws -> ObjectPage {
    var objects: [StoredObject] = []
    var size = 0
    var last = id
    func isFull() -> Bool { objects.count >= limit || size >= bytes }
    func read() throws -> ObjectPage {
      while true {
        // Objects may be large. One more than wanted tells whether there are more.
        let portion = try self.objects(of: type, after: last, limit: isFull() ? 1 : 4)
        for object in portion {
          if isFull() { return ObjectPage(objects: objects, isLast: false) }
          objects.append(object)
          size += object.byteCount
          last = object.rowID ?? last
        }
        if portion.isEmpty { return ObjectPage(objects: objects, isLast: true) }
      }
    }
    return try withToolErrors {
      // Rows without a schema are read beside the workspace's own reading, which may have the only
      // connection.
      if type.entity == nil { return try read() }
      return try core.fetchWithinASnapshot { () throws in try read() }
    }
  }

  /// The object with a row id; nil if there is none.
  /// - Throws: ``ToolError`` if the file cannot be read.
  public func object(of type: StoredType, rowID id: Int64) throws -> StoredObject? {
    return try withToolErrors {
      try objects(of: type, after: id == .min ? nil : id - 1, limit: 1).first { $0.rowID == id }
    }
  }

  private func objects(
    of type: StoredType, after id: Int64?, limit: Int
  ) throws -> [StoredObject] {
    guard let entity = type.entity else {
      return try _objectsWithoutSchema(of: type, key: nil, after: id, limit: limit)
    }
    let rows = try core.rows(of: entity, after: id, limit: limit)
    return (0..<rows.count).map { StoredObject(rows[$0], of: entity) }
  }

  /// The objects of a type one of whose fields has a key.
  ///
  /// - Parameters:
  ///   - key: The value of the key, as ``object(of:key:)`` takes it.
  ///   - field: The name of a field of `type` that is a reference, or a vector of references.
  ///   - type: The type.
  ///   - limit: How many objects are wanted.
  ///   - scanning: Whether to look at every object if no index knows them.
  /// - Throws: ``ToolError`` if the field is no reference, or the file cannot be read.
  public func objects(
    referringTo key: String, by field: String, of type: StoredType, limit: Int,
    scanning: Bool = false
  ) throws -> Referrers {
    let entity = try type.requireEntity()
    guard let condition = Self.condition(field, holds: key, entity) else {
      throw ToolError(.usage, "\(field) of \(type.name) does not refer to '\(key)'")
    }
    let query = Query(schema: entity, condition: condition, limit: limit)
    return try withToolErrors {
      let isIndexed = try !core.explain(query).indexes.isEmpty
      if !isIndexed, !scanning {
        return Referrers(objects: [], isIndexed: false, isAnswered: false)
      }
      let rows = try core.fetch(query)
      return Referrers(
        objects: (0..<rows.count).map { StoredObject(rows[$0], of: entity) },
        isIndexed: isIndexed, isAnswered: true)
    }
  }

  private static func condition(
    _ name: String, holds key: String, _ entity: EntitySchema
  ) -> Node? {
    func equal(_ member: NamedMember) -> Node? {
      guard case .value(let field, let kind, _) = member,
        let value = keyValue(key, field.type, kind)
      else { return nil }
      return .comparison(.equal, .field(field), .constant(value, field.type), field.type)
    }
    switch FieldScope(entity).member(name) {
    case .value(let field, let kind, let target)?:
      return equal(.value(field, kind, target: target))
    case .vector(let vector)?:
      let (variable, member) = vector.element()
      return equal(member).map { .quantified(.any, variable, $0) }
    default: return nil
    }
  }
}
