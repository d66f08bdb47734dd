// Reading binary schemas. The bytes come from a file, so nothing in them is trusted: what does not
// fit is an error, and no position is followed without a check.

package import Dflat
import FlatBuffersRuntime

/// Why bytes are no binary schema.
package struct BinarySchemaError: Error {
  package let reason: String
}

extension BinarySchema {
  /// Reads the bytes of `flatc --schema --binary`.
  /// - Throws: `BinarySchemaError` that says what is wrong with them.
  package init(bytes: [UInt8]) throws(BinarySchemaError) {
    let result = bytes.withUnsafeBytes { raw -> Result<BinarySchema, BinarySchemaError> in
      guard let root = TableReader(root: raw) else {
        return .failure(BinarySchemaError(reason: "the bytes are no FlatBuffer"))
      }
      return Result { () throws(BinarySchemaError) in try Self.schema(root) }
    }
    self = try result.get()
  }

  private static func schema(_ table: TableReader) throws(BinarySchemaError) -> BinarySchema {
    let objectTables = tables(table, Slot.Schema.objects)
    let enumTables = tables(table, Slot.Schema.enums)
    let names = Names(
      objects: objectTables.map { $0.string(at: Slot.Object.name) ?? "" },
      enums: enumTables.map { $0.string(at: Slot.Enumeration.name) ?? "" })
    guard let root: TableReader = table.table(at: Slot.Schema.root),
      let rootName: String = root.string(at: Slot.Object.name)
    else { throw BinarySchemaError(reason: "no root table is named") }
    var objects: [Object] = []
    for object in objectTables { objects.append(try self.object(object, names)) }
    var enums: [Enumeration] = []
    for enumeration in enumTables { enums.append(try self.enumeration(enumeration, names)) }
    return BinarySchema(root: rootName, objects: objects, enums: enums)
  }

  /// The full names by position.
  private struct Names {
    let objects: [String]
    let enums: [String]
  }

  private static func tables(_ table: TableReader, _ field: Int) -> [TableReader] {
    guard let vector = table.vector(at: field, stride: 4) else { return [] }
    return (0..<vector.count).compactMap { vector.table($0) }
  }

  private static func attributes(_ table: TableReader, _ field: Int) -> [Attribute] {
    tables(table, field).map {
      Attribute(
        $0.string(at: Slot.Attribute.key) ?? "", $0.string(at: Slot.Attribute.value) ?? "")
    }
  }

  private static func base(_ raw: Int8) throws(BinarySchemaError) -> BaseType {
    if let base = BaseType(rawValue: raw) { return base }
    throw BinarySchemaError(reason: "there is no base type \(raw)")
  }

  private static func type(
    _ table: TableReader?, _ names: Names
  ) throws(BinarySchemaError) -> FieldType {
    guard let table else { throw BinarySchemaError(reason: "a type is missing") }
    var type = FieldType(try base(table.scalar(at: Slot.FieldType.base, default: 0)))
    type.element = try base(table.scalar(at: Slot.FieldType.element, default: 0))
    type.count = Int(table.scalar(at: Slot.FieldType.count, default: UInt16(0)))
    let index = Int(table.scalar(at: Slot.FieldType.index, default: Int32(-1)))
    let inner = type.element == .none ? type.base : type.element
    if index >= 0 {
      let list = inner == .object ? names.objects : names.enums
      guard list.indices.contains(index) else {
        throw BinarySchemaError(reason: "there is no type at \(index)")
      }
      type.name = list[index]
    } else if inner == .object || inner == .union || inner == .unionTag {
      throw BinarySchemaError(reason: "a type has no name")
    }
    return type
  }

  private static func enumeration(
    _ table: TableReader, _ names: Names
  ) throws(BinarySchemaError) -> Enumeration {
    let underlying = try type(table.table(at: Slot.Enumeration.underlying), names).base
    var result = Enumeration(
      table.string(at: Slot.Enumeration.name) ?? "", over: underlying)
    result.isUnion = table.scalar(at: Slot.Enumeration.isUnion, default: false)
    result.attributes = attributes(table, Slot.Enumeration.attributes)
    for value in tables(table, Slot.Enumeration.values) {
      let number = value.scalar(at: Slot.EnumValue.value, default: Int64(0))
      let type: FieldType? =
        result.isUnion && number != 0
        ? try type(value.table(at: Slot.EnumValue.type), names) : nil
      result.values.append(
        EnumValue(value.string(at: Slot.EnumValue.name) ?? "", number, type))
    }
    return result
  }

  private static func object(
    _ table: TableReader, _ names: Names
  ) throws(BinarySchemaError) -> Object {
    var result = Object(table.string(at: Slot.Object.name) ?? "")
    result.isStruct = table.scalar(at: Slot.Object.isStruct, default: false)
    result.alignment = Int(table.scalar(at: Slot.Object.alignment, default: Int32(0)))
    result.size = Int(table.scalar(at: Slot.Object.size, default: Int32(0)))
    result.attributes = attributes(table, Slot.Object.attributes)
    for field in tables(table, Slot.Object.fields) {
      result.fields.append(try self.field(field, names))
    }
    result.fields.sort { $0.id < $1.id }
    return result
  }

  private static func field(
    _ table: TableReader, _ names: Names
  ) throws(BinarySchemaError) -> ObjectField {
    var result = ObjectField(
      table.string(at: Slot.ObjectField.name) ?? "",
      try type(table.table(at: Slot.ObjectField.type), names),
      id: Int(table.scalar(at: Slot.ObjectField.id, default: UInt16(0))),
      offset: Int(table.scalar(at: Slot.ObjectField.offset, default: UInt16(0))))
    result.integer = table.scalar(at: Slot.ObjectField.integer, default: Int64(0))
    result.real = table.scalar(at: Slot.ObjectField.real, default: 0.0)
    result.isDeprecated = table.scalar(at: Slot.ObjectField.isDeprecated, default: false)
    result.isRequired = table.scalar(at: Slot.ObjectField.isRequired, default: false)
    result.isOptional = table.scalar(at: Slot.ObjectField.isOptional, default: false)
    result.attributes = attributes(table, Slot.ObjectField.attributes)
    return result
  }
}
