// CompiledTypes: a compiled schema as the layouts and entity schemas that generated code has.
//
// Rows are read, and questions are answered, by the same code as in programs. Types may refer to
// each other in circles, so each layout is made at its first use.

import Dflat
import DflatSchema
import Platform

/// The layouts of a compiled schema.
final class CompiledTypes: Sendable {
  private struct Made {
    var tables: [QualifiedName: TableLayout] = [:]
    var structs: [QualifiedName: StructLayout] = [:]
    var unions: [QualifiedName: UnionLayout] = [:]
    var enums: [QualifiedName: EnumLayout] = [:]
  }

  let schema: Schema
  private let made = Mutex(Made())

  init(_ schema: Schema) {
    self.schema = schema
  }

  // MARK: Entities

  /// The entity schema of a type that is a root.
  /// - Parameters:
  ///   - root: The type; nil for the root of the schema's own file.
  ///   - table: The name of its table in the storage.
  ///   - references: Its fields with keys of other entities, by their vtable offsets.
  ///   - referrers: The entities that refer to it with a rule for its deletion.
  func entity(
    of root: QualifiedName? = nil, inTable table: String, references: [EntityReference],
    referrers: [@Sendable () -> EntitySchema]
  ) -> EntitySchema? {
    guard let root = root ?? schema.files.first?.root,
      case .table(let definition)? = schema.types[root]
    else { return nil }
    let paths = schema.indexPaths(of: root)
    let fullText = schema.fullText(of: root)
    let fields = definition.fields.filter { !$0.isDeprecated }
    return EntitySchema(
      table: table, layout: self.table(root),
      primaryKey: fields.filter(\.isPrimary).map(\.offset),
      indexes: paths.filter { !$0.isUnique }.map(\.path),
      uniques: paths.filter(\.isUnique).map(\.path),
      fullText: fullText?.fields.map(\.path) ?? [],
      tokenizers: fullText?.fields.map {
        SearchTokenizer(rawValue: $0.tokenizer.rawValue) ?? .unicode61
      } ?? [],
      references: references, referrers: referrers)
  }

  // MARK: Layouts

  private func make<Layout: Sendable>(
    _ place: any WritableKeyPath<Made, [QualifiedName: Layout]> & Sendable, _ name: QualifiedName,
    _ layout: () -> Layout
  ) -> Layout {
    if let known = made.withLock({ $0[keyPath: place][name] }) { return known }
    let new = layout()
    return made.withLock { made in
      if let known = made[keyPath: place][name] { return known }
      made[keyPath: place][name] = new
      return new
    }
  }

  private func table(_ name: QualifiedName) -> TableLayout {
    make(\.tables, name) {
      guard case .table(let definition)? = schema.types[name] else {
        return TableLayout("", slots: 0, [])
      }
      let isExact = definition.attributes.contains { $0.name == "exact" }
      return TableLayout(
        name.name, swift: schema.swiftName(of: name), version: definition.version,
        slots: definition.slotCount,
        definition.fields.filter { !$0.isDeprecated }.map { field in
          isExact ? property(field).exact : property(field)
        })
    }
  }

  private func structure(_ name: QualifiedName) -> StructLayout {
    make(\.structs, name) {
      guard case .structure(let definition)? = schema.types[name] else {
        return StructLayout("", size: 0, alignment: 1, [])
      }
      return StructLayout(
        name.name, version: definition.version, size: definition.size,
        alignment: definition.alignment, definition.fields.map { property($0) })
    }
  }

  private func union(_ name: QualifiedName) -> UnionLayout {
    make(\.unions, name) {
      guard case .union(let definition)? = schema.types[name] else { return UnionLayout("", []) }
      return UnionLayout(
        name.name,
        definition.members.sorted { $0.tag < $1.tag }.map {
          UnionLayout.Member(
            $0.name, UInt8(clamping: $0.tag), kind($0.type, nil), swift: $0.swiftName)
        })
    }
  }

  private func enumeration(_ name: QualifiedName) -> EnumLayout {
    make(\.enums, name) {
      guard case .enumeration(let definition)? = schema.types[name] else {
        return EnumLayout("", .int8, [])
      }
      let values = definition.ordered
      return EnumLayout(
        name.name, swift: schema.swiftName(of: name), ValueType(definition.underlying),
        bitFlags: definition.isBitFlags, values.map { ($0.name, $0.value) },
        cases: values.map(\.swiftName))
    }
  }

  // MARK: Fields

  private func property(_ field: FieldDefinition) -> Property {
    var value = field.defaultValue
    // As in generated code, where these are not optional.
    if field.type == .string, value == nil, field.isPrimary || field.isRequired {
      value = .string("")
    }
    return Property(
      field.name, field.offset, kind(field.type, value), swift: field.swiftName,
      required: field.isRequired)
  }

  private func kind(_ type: FieldType, _ value: DefaultValue?) -> Property.Kind {
    switch type {
    case .scalar(let scalar): .scalar(ValueType(scalar), default: value?.constant(scalar))
    case .string:
      if case .string(let text)? = value { .string(default: text) } else { .string(default: nil) }
    case .enumeration(let name):
      .enumeration({ [self] in enumeration(name) }, default: value?.pattern)
    case .structure(let name): .structure { [self] in structure(name) }
    case .table(let name): .table { [self] in table(name) }
    case .union(let name): .union { [self] in union(name) }
    case .vector(let element): .vector(kind(element, nil))
    case .array(let element, let count): .array(kind(element, nil), count: count)
    }
  }
}

extension ValueType {
  fileprivate init(_ type: ScalarType) {
    self =
      switch type {
      case .bool: .bool
      case .byte: .int8
      case .ubyte: .uint8
      case .short: .int16
      case .ushort: .uint16
      case .int: .int32
      case .uint: .uint32
      case .long: .int64
      case .ulong: .uint64
      case .float: .float
      case .double: .double
      }
  }
}

extension DefaultValue {
  /// The value of an enum; nil for `null`.
  fileprivate var pattern: Int64? {
    switch self {
    case .integer(let number): number
    case .unsigned(let number): Int64(bitPattern: number)
    case .null, .bool, .real, .string: nil
    }
  }

  /// The value of a scalar; nil for `null`.
  fileprivate func constant(_ type: ScalarType) -> Value? {
    switch self {
    case .null, .string: nil
    case .bool(let value): .bool(value)
    case .integer(let number): .integer(number)
    case .unsigned(let number):
      type == .ulong ? .unsigned(number) : .integer(Int64(clamping: number))
    case .real(let number): .real(number)
    }
  }
}
