// The encoded form: a FlatBuffer of reflection.fbs. Equal schemas have equal bytes.

import FlatBuffersRuntime
import Platform

/// A schema as bytes, with what identifies them.
package final class EncodedSchema: Sendable {
  /// A FlatBuffer with the file identifier `BFBS`.
  package let bytes: [UInt8]
  /// The SHA-256 digest of the bytes, in hexadecimal digits.
  package let digest: String

  convenience init(_ schema: BinarySchema) { self.init(schema.encoded()) }

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    digest = SHA256.hexadecimal(bytes)
  }
}

extension EntitySchema {
  /// The schema of the type's rows as bytes. It is made at its first use.
  package var encoded: EncodedSchema { encoding.get { EncodedSchema(BinarySchema(self)) } }

  /// Gives the schema the bytes that it was made from, before they are asked for. They may say more
  /// than the schema knows, such as rules for deletions.
  package func keepEncoded(_ bytes: [UInt8]) { _ = encoding.get { EncodedSchema(bytes) } }
}

extension BinarySchema {
  /// The vtable offsets of reflection.fbs.
  package enum Slot {
    package enum FieldType {
      package static let base = 4
      package static let element = 6
      package static let index = 8
      package static let count = 10
    }
    package enum Attribute {
      package static let key = 4
      package static let value = 6
    }
    package enum EnumValue {
      package static let name = 4
      package static let value = 6
      package static let type = 10
    }
    package enum Enumeration {
      package static let name = 4
      package static let values = 6
      package static let isUnion = 8
      package static let underlying = 10
      package static let attributes = 12
    }
    package enum ObjectField {
      package static let name = 4
      package static let type = 6
      package static let id = 8
      package static let offset = 10
      package static let integer = 12
      package static let real = 14
      package static let isDeprecated = 16
      package static let isRequired = 18
      package static let attributes = 22
      package static let isOptional = 26
    }
    package enum Object {
      package static let name = 4
      package static let fields = 6
      package static let isStruct = 8
      package static let alignment = 10
      package static let size = 12
      package static let attributes = 14
    }
    package enum Schema {
      package static let objects = 4
      package static let enums = 6
      package static let root = 12
    }
  }

  /// The FlatBuffer.
  package func encoded() -> [UInt8] {
    let builder = FlatBufferBuilder()
    let encoder = BinarySchemaEncoder(self, builder)
    builder.finish(encoder.root(), fileIdentifier: "BFBS")
    return Array(builder.bytes)
  }
}

private struct BinarySchemaEncoder {
  typealias Offset = FlatBufferBuilder.Offset
  typealias Slot = BinarySchema.Slot
  private let schema: BinarySchema
  private let builder: FlatBufferBuilder
  private let objects: [String: Int32]
  private let enums: [String: Int32]

  init(_ schema: BinarySchema, _ builder: FlatBufferBuilder) {
    self.schema = schema
    self.builder = builder
    func positions(_ names: [String]) -> [String: Int32] {
      Dictionary(
        names.enumerated().map { ($1, Int32($0)) }, uniquingKeysWith: { first, _ in first })
    }
    objects = positions(schema.objects.map(\.name))
    enums = positions(schema.enums.map(\.name))
  }

  func root() -> Offset {
    let enumOffsets = schema.enums.map { enumeration($0) }
    let objectOffsets = schema.objects.map { object($0) }
    let objects = builder.vector(objectOffsets)
    let enums = builder.vector(enumOffsets)
    builder.startTable(slotCount: 8)
    builder.add(objects, at: Slot.Schema.objects)
    builder.add(enums, at: Slot.Schema.enums)
    if let root = self.objects[schema.root] {
      builder.add(objectOffsets[Int(root)], at: Slot.Schema.root)
    }
    return builder.endTable()
  }

  private func type(_ type: BinarySchema.FieldType) -> Offset {
    let inner = type.element == .none ? type.base : type.element
    let index = type.name.flatMap { inner == .object ? objects[$0] : enums[$0] } ?? -1
    builder.startTable(slotCount: 6)
    builder.add(index, at: Slot.FieldType.index, default: -1)
    builder.add(UInt16(clamping: type.count), at: Slot.FieldType.count, default: 0)
    builder.add(type.base.rawValue, at: Slot.FieldType.base, default: 0)
    builder.add(type.element.rawValue, at: Slot.FieldType.element, default: 0)
    return builder.endTable()
  }

  /// The attributes; none for an empty list.
  private func attributes(_ list: [BinarySchema.Attribute]) -> Offset {
    if list.isEmpty { return .none }
    return builder.vector(
      list.map { attribute in
        let name = builder.string(attribute.name)
        let value = builder.string(attribute.value)
        builder.startTable(slotCount: 2)
        builder.add(name, at: Slot.Attribute.key)
        builder.add(value, at: Slot.Attribute.value)
        return builder.endTable()
      })
  }

  private func enumeration(_ definition: BinarySchema.Enumeration) -> Offset {
    let values = builder.vector(
      definition.values.map { value in
        let name = builder.string(value.name)
        let type = definition.isUnion ? type(value.type ?? .init(.none)) : .none
        builder.startTable(slotCount: 5)
        builder.add(value.value, at: Slot.EnumValue.value, default: 0)
        builder.add(name, at: Slot.EnumValue.name)
        builder.add(type, at: Slot.EnumValue.type)
        return builder.endTable()
      })
    let name = builder.string(definition.name)
    let underlying = type(.init(definition.underlying, named: definition.name))
    let attributes = attributes(definition.attributes)
    builder.startTable(slotCount: 7)
    builder.add(name, at: Slot.Enumeration.name)
    builder.add(values, at: Slot.Enumeration.values)
    builder.add(underlying, at: Slot.Enumeration.underlying)
    builder.add(attributes, at: Slot.Enumeration.attributes)
    builder.add(definition.isUnion, at: Slot.Enumeration.isUnion, default: false)
    return builder.endTable()
  }

  private func object(_ definition: BinarySchema.Object) -> Offset {
    let fields = builder.vector(
      definition.fields.sorted { BinarySchema.precedes($0.name, $1.name) }.map { field($0) })
    let name = builder.string(definition.name)
    let attributes = attributes(definition.attributes)
    builder.startTable(slotCount: 8)
    builder.add(name, at: Slot.Object.name)
    builder.add(fields, at: Slot.Object.fields)
    builder.add(Int32(clamping: definition.alignment), at: Slot.Object.alignment, default: 0)
    builder.add(Int32(clamping: definition.size), at: Slot.Object.size, default: 0)
    builder.add(attributes, at: Slot.Object.attributes)
    builder.add(definition.isStruct, at: Slot.Object.isStruct, default: false)
    return builder.endTable()
  }

  private func field(_ field: BinarySchema.ObjectField) -> Offset {
    let name = builder.string(field.name)
    let type = type(field.type)
    let attributes = attributes(field.attributes)
    builder.startTable(slotCount: 13)
    builder.add(field.integer, at: Slot.ObjectField.integer, default: 0)
    builder.add(field.real, at: Slot.ObjectField.real, default: 0)
    builder.add(name, at: Slot.ObjectField.name)
    builder.add(type, at: Slot.ObjectField.type)
    builder.add(attributes, at: Slot.ObjectField.attributes)
    builder.add(UInt16(clamping: field.id), at: Slot.ObjectField.id, default: 0)
    builder.add(UInt16(clamping: field.offset), at: Slot.ObjectField.offset, default: 0)
    builder.add(field.isDeprecated, at: Slot.ObjectField.isDeprecated, default: false)
    builder.add(field.isRequired, at: Slot.ObjectField.isRequired, default: false)
    builder.add(field.isOptional, at: Slot.ObjectField.isOptional, default: false)
    return builder.endTable()
  }
}
