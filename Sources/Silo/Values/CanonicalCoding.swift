// Writing and reading the fields of a table.

import Dflat
public import FlatBuffersRuntime

/// A property's value, ready to be added to its table. For types of properties.
public enum WrittenProperty: Sendable {
  /// Nothing is stored.
  case absent
  /// The bits of a number of 1, 2, 4 or 8 bytes.
  case bits(UInt64)
  /// A string.
  case text(String)
  /// A part outside of the table.
  case offset(FlatBufferBuilder.Offset)
}

/// The builder of a row, and how deep in it a table is written. For types of properties.
public struct CanonicalBuilder {
  /// The greatest depth of tables that can be read again.
  static let greatestDepth = 60

  /// The builder.
  public let builder: FlatBufferBuilder
  let depth: Int

  init(_ builder: FlatBufferBuilder, depth: Int = 0) {
    self.builder = builder
    self.depth = depth
  }

  /// Writes a table inside the row. One that is too deep is refused, with the whole row.
  /// - Parameters:
  ///   - fields: What it contains.
  ///   - write: Writes the properties.
  public func table(
    _ fields: CanonicalFields, _ write: (inout CanonicalWriter) -> Void
  ) -> FlatBufferBuilder.Offset {
    guard depth < Self.greatestDepth else {
      builder.refuse(
        "a value is nested deeper than \(Self.greatestDepth) structs, collections and enums; "
          + "store its parts as values of their own")
      return .none
    }
    var writer = CanonicalWriter(CanonicalBuilder(builder, depth: depth + 1), fields)
    write(&writer)
    return writer.finish()
  }
}

/// Writes the properties of a value in the order of their slots. For generated code.
public struct CanonicalWriter {
  private let builder: CanonicalBuilder
  private let fields: CanonicalFields
  private var written: [WrittenProperty] = []

  init(_ builder: CanonicalBuilder, _ fields: CanonicalFields) {
    self.builder = builder
    self.fields = fields
    written.reserveCapacity(fields.forms.count)
  }

  /// Writes the next property.
  public mutating func write<P: PersistableProperty>(_ value: P) {
    let value = value._write(to: builder)
    guard case .text(let text) = value else { return written.append(value) }
    let isDefault =
      fields.defaultTexts[written.count].map { $0.utf8.elementsEqual(text.utf8) } ?? false
    written.append(isDefault ? .absent : .offset(builder.builder.string(text)))
  }

  /// Writes the id.
  public mutating func write<ID: PersistableID>(id: ID) { write(id._key) }

  /// Writes the case of an enum that has no associated values.
  /// - Parameters:
  ///   - name: The name of the case.
  ///   - count: How many cases have associated values.
  public mutating func write(case name: String, of count: Int) {
    write(name)
    written += Array(repeating: .absent, count: count)
  }

  /// Writes the case of an enum with its associated values.
  /// - Parameters:
  ///   - name: The name of the case.
  ///   - slot: The slot of the values, from 1 up.
  ///   - count: How many cases have associated values.
  ///   - values: What the values are.
  ///   - write: Writes the values.
  public mutating func write(
    case name: String, _ slot: Int, of count: Int, _ values: CanonicalFields,
    _ write: (inout CanonicalWriter) -> Void
  ) {
    self.write(case: name, of: count)
    written[slot] = .offset(builder.table(values, write))
  }

  consuming func finish() -> FlatBufferBuilder.Offset {
    let builder = builder.builder
    builder.startTable(slotCount: written.count)
    for slot in fields.order {
      let field = CanonicalFields.offset(slot)
      switch written[slot] {
      case .absent, .text: break
      case .offset(let offset): builder.add(offset, at: field)
      case .bits(let bits):
        if fields.defaultBits[slot] == bits { continue }
        switch fields.forms[slot].size {
        case 1: builder.add(Optional(UInt8(truncatingIfNeeded: bits)), at: field)
        case 2: builder.add(Optional(UInt16(truncatingIfNeeded: bits)), at: field)
        case 4: builder.add(Optional(UInt32(truncatingIfNeeded: bits)), at: field)
        default: builder.add(Optional(bits), at: field)
        }
      }
    }
    return builder.endTable()
  }
}

/// Reads the properties of a value. For generated code.
public struct CanonicalReader {
  private let table: TableReader
  private let fields: CanonicalFields

  /// - Parameters:
  ///   - table: The table.
  ///   - fields: What it contains.
  public init(_ table: TableReader, _ fields: CanonicalFields) {
    self.table = table
    self.fields = fields
  }

  /// The property in a slot; its default if it is absent.
  /// - Throws: `UnreadableValue`.
  public func read<P: PersistableProperty>(_ slot: Int, default: P? = nil) throws -> P {
    do {
      if let value = try P._read(table, at: CanonicalFields.offset(slot)) { return value }
    } catch var error as UnreadableValue {
      error.property = fields.names[slot] + (error.property.isEmpty ? "" : "." + error.property)
      throw error
    }
    if let value = `default` ?? P._absent { return value }
    throw UnreadableValue(fields.names[slot], "is missing")
  }

  /// The name of an enum's case.
  public func caseName() throws -> String { try read(0) }

  /// The associated values of an enum's case.
  public func values(_ slot: Int, _ values: CanonicalFields) throws -> CanonicalReader {
    guard let table = table.table(at: CanonicalFields.offset(slot)) else {
      throw UnreadableValue(fields.names[slot], "has no values")
    }
    return CanonicalReader(table, values)
  }

  /// The error for a case that the enum does not have.
  public func unknownCase(_ name: String) -> UnreadableValue {
    UnreadableValue("", "is the unknown case '\(name.prefix(80))'")
  }

  /// The id in a slot.
  /// - Throws: `UnreadableValue`.
  public func read<ID: PersistableID>(id slot: Int) throws -> ID {
    let key: ID._Key = try read(slot, default: ID._Key._absentKey)
    guard let id = ID(_key: key) else {
      throw UnreadableValue(fields.names[slot], "is no \(ID.self): \(key)")
    }
    return id
  }
}

extension PersistableProperty {
  /// What an absent key reads as: zero or the empty string.
  static var _absentKey: Self {
    guard let key = _emptyKey else {
      preconditionFailure("\(Self.self) cannot be a key")
    }
    return key
  }
}
