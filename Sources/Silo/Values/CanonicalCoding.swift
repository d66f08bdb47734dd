// Writing and reading the fields of a table.

import Dflat
public import FlatBuffersRuntime

/// A property's value, ready to be added to its table. For types of properties.
@frozen
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
@frozen
public struct CanonicalBuilder {
  /// The greatest depth of tables that can be read again.
  @usableFromInline static var greatestDepth: Int { 60 }

  /// The builder.
  public let builder: FlatBufferBuilder
  @usableFromInline let depth: Int

  @inlinable
  init(_ builder: FlatBufferBuilder, depth: Int = 0) {
    self.builder = builder
    self.depth = depth
  }

  /// Writes a table inside the row. One that is too deep is refused, with the whole row.
  /// - Parameters:
  ///   - fields: What it contains.
  ///   - write: Writes the properties.
  @inlinable
  public func table(
    _ fields: CanonicalFields, _ write: (inout CanonicalWriter) -> Void
  ) -> FlatBufferBuilder.Offset {
    guard depth < Self.greatestDepth else { return refuse() }
    let count = fields.placement.count
    return withUnsafeTemporaryAllocation(of: CanonicalWriter.Field.self, capacity: max(1, count)) {
      var writer = CanonicalWriter(
        CanonicalBuilder(builder, depth: depth + 1), fields, $0.baseAddress.unsafelyUnwrapped)
      write(&writer)
      return writer.finish()
    }
  }

  @usableFromInline
  func refuse() -> FlatBufferBuilder.Offset {
    builder.refuse(
      "a value is nested deeper than \(Self.greatestDepth) levels: each struct and enum in it is "
        + "one, and so are the associated values of a case; store its parts as values of their own")
    return .none
  }
}

/// Writes the properties of a value in the order of their slots. For generated code.
///
/// What is inlined is compiled into the program's own module for the types of its properties. It
/// notes numbers, and where the parts outside of the table begin; the fields are added by `finish`.
public struct CanonicalWriter {
  /// What was written for a slot.
  @usableFromInline
  struct Field {
    @usableFromInline enum Kind: UInt8 { case absent, bits, offset }
    @usableFromInline var bits: UInt64
    @usableFromInline var kind: Kind

    @inlinable
    init(_ kind: Kind, _ bits: UInt64) {
      self.kind = kind
      self.bits = bits
    }
  }

  @usableFromInline let builder: CanonicalBuilder
  @usableFromInline let fields: CanonicalFields
  /// One field for each slot; valid as long as the writer.
  @usableFromInline let written: UnsafeMutablePointer<Field>
  @usableFromInline let capacity: Int
  @usableFromInline var count = 0

  @inlinable
  init(
    _ builder: CanonicalBuilder, _ fields: CanonicalFields, _ memory: UnsafeMutablePointer<Field>
  ) {
    self.builder = builder
    self.fields = fields
    written = memory
    capacity = fields.placement.count
  }

  /// Writes the next property.
  @inlinable
  public mutating func write<P: PersistableProperty>(_ value: P) {
    switch value._write(to: builder) {
    case .absent: note(Field(.absent, 0))
    case .bits(let bits): note(Field(.bits, bits))
    case .text(let text): write(text: text)
    case .offset(let offset): note(Field(.offset, UInt64(offset.rawValue)))
    }
  }

  @inlinable
  mutating func note(_ field: Field) {
    precondition(count < capacity, "a value has written more properties than its type describes")
    (written + count).initialize(to: field)
    count &+= 1
  }

  @usableFromInline
  mutating func write(text: String) {
    if fields.hasDefaultTexts, count < capacity, let constant = fields.defaultTexts[count],
      constant.utf8.elementsEqual(text.utf8)
    {
      return note(Field(.absent, 0))
    }
    note(Field(.offset, UInt64(builder.builder.string(text).rawValue)))
  }

  /// Writes the id.
  @inlinable
  public mutating func write<ID: PersistableID>(id: ID) { write(id._key) }

  /// Writes the case of an enum that has no associated values.
  /// - Parameters:
  ///   - name: The name of the case.
  ///   - count: How many cases have associated values.
  public mutating func write(case name: String, of count: Int) {
    write(text: name)
    for _ in 0..<count { note(Field(.absent, 0)) }
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
    precondition(slot < self.count, "an enum has written a slot that its type does not describe")
    written[slot] = Field(.offset, UInt64(builder.table(values, write).rawValue))
  }

  @usableFromInline
  consuming func finish() -> FlatBufferBuilder.Offset {
    precondition(count == capacity, "a value has written fewer properties than its type describes")
    let builder = builder.builder
    builder.startTable(slotCount: count)
    for place in fields.placement {
      let (bits, at) = (written[place.slot].bits, CanonicalFields.offset(place.slot))
      switch written[place.slot].kind {
      case .absent: break
      case .offset: builder.add(.init(rawValue: UInt32(truncatingIfNeeded: bits)), at: at)
      case .bits:
        if place.hasDefault, place.defaultBits == bits { continue }
        switch place.size {
        case 1: builder.add(Optional(UInt8(truncatingIfNeeded: bits)), at: at)
        case 2: builder.add(Optional(UInt16(truncatingIfNeeded: bits)), at: at)
        case 4: builder.add(Optional(UInt32(truncatingIfNeeded: bits)), at: at)
        default: builder.add(Optional(bits), at: at)
        }
      }
    }
    return builder.endTable()
  }
}

/// Reads the properties of a value. For generated code.
@frozen
public struct CanonicalReader {
  @usableFromInline let table: TableReader
  @usableFromInline let fields: CanonicalFields

  /// - Parameters:
  ///   - table: The table.
  ///   - fields: What it contains.
  @inlinable
  package init(_ table: TableReader, _ fields: CanonicalFields) {
    self.table = table
    self.fields = fields
  }

  /// The property in a slot; its default if it is absent.
  /// - Throws: `UnreadableValue`.
  @inlinable
  public func read<P: PersistableProperty>(
    _ slot: Int, default: @autoclosure () -> P? = nil
  ) throws -> P {
    do {
      if let value = try P._read(table, at: CanonicalFields.offset(slot)) { return value }
    } catch {
      throw placed(error, slot)
    }
    if let value = `default`() ?? P._absent { return value }
    throw unreadable(slot, "is missing")
  }

  /// The error with the property's name.
  @usableFromInline
  func placed(_ error: any Error, _ slot: Int) -> any Error {
    guard var error = error as? UnreadableValue else { return error }
    error.property = fields.names[slot] + (error.property.isEmpty ? "" : "." + error.property)
    return error
  }

  @usableFromInline
  func unreadable(_ slot: Int, _ reason: String) -> UnreadableValue {
    UnreadableValue(fields.names[slot], reason)
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
  @inlinable
  public func read<ID: PersistableID>(id slot: Int) throws -> ID {
    let key: ID._Key = try read(slot, default: ID._Key._absentKey)
    if let id = ID(_key: key) { return id }
    throw unreadable(slot, "is no \(ID.self): \(key)")
  }
}

extension PersistableProperty {
  /// What an absent key reads as: zero or the empty string.
  @inlinable
  static var _absentKey: Self {
    guard let key = _emptyKey else {
      preconditionFailure("\(Self.self) cannot be a key")
    }
    return key
  }
}
