// LayoutCollector: the types that a layout contains, in the terms of reflection.fbs.

/// Collects the types that are reached from a layout, each once.
struct LayoutCollector {
  private(set) var objects: [BinarySchema.Object] = []
  private(set) var enums: [BinarySchema.Enumeration] = []
  /// The full names of the layouts.
  private(set) var names: [ObjectIdentifier: String] = [:]
  private let namespace: [String]
  /// The shape of the type that has each full name. Some layouts are made again at each use, and
  /// their shape identifies them.
  private var shapes: [String: String] = [:]

  init(namespace: [String]) {
    self.namespace = namespace
  }

  // MARK: Types

  /// Collects a table and what it contains.
  /// - Returns: Its full name.
  mutating func table(_ layout: TableLayout) -> String {
    let (name, isNew) = enter(
      layout, layout.name, "table \(layout.slotCount) \(Self.shape(layout.properties))")
    guard isNew else { return name }
    var object = BinarySchema.Object(name)
    if let version = layout.version { object.attributes.append(.init("v", version)) }
    if layout.isExact { object.attributes.append(.init("exact")) }
    var fields = layout.properties.flatMap { tableFields(of: $0) }
    let used = Set(fields.map(\.id))
    var taken = Set(fields.map(\.name))
    for slot in 0..<layout.slotCount where !used.contains(slot) {
      var name = "deprecated_\(4 + 2 * slot)"
      while !taken.insert(name).inserted { name += "_" }
      var field = BinarySchema.ObjectField(name, .init(.ubyte), id: slot, offset: 4 + 2 * slot)
      field.isDeprecated = true
      fields.append(field)
    }
    object.fields = fields.sorted { $0.id < $1.id }
    objects.append(object)
    return name
  }

  private mutating func structure(_ layout: StructLayout) -> String {
    let (name, isNew) = enter(
      layout, layout.name, "struct \(layout.size) \(Self.shape(layout.properties))")
    guard isNew else { return name }
    var object = BinarySchema.Object(name)
    object.isStruct = true
    object.size = layout.size
    object.alignment = layout.alignment
    if let version = layout.version { object.attributes.append(.init("v", version)) }
    let properties = layout.properties.sorted { $0.offset < $1.offset }
    object.fields = properties.enumerated().map { place, property in
      var field = BinarySchema.ObjectField(
        property.name, type(of: property.kind), id: place, offset: property.offset)
      field.attributes = Self.attributes(of: property)
      return field
    }
    objects.append(object)
    return name
  }

  private mutating func enumeration(_ layout: EnumLayout) -> String {
    let values = layout.values.map { "\($0.name)=\($0.value)" }.joined(separator: ",")
    let (name, isNew) = enter(layout, layout.name, "enum \(layout.type) \(values)")
    guard isNew else { return name }
    var definition = BinarySchema.Enumeration(name, over: .init(layout.type))
    definition.values = layout.values.map { BinarySchema.EnumValue($0.name, $0.value) }
    if layout.isBitFlags { definition.attributes.append(.init("bit_flags")) }
    enums.append(definition)
    return name
  }

  private mutating func union(_ layout: UnionLayout) -> String {
    let members = layout.members.map { "\($0.name)=\($0.tag)" }.joined(separator: ",")
    let (name, isNew) = enter(layout, layout.name, "union \(members)")
    guard isNew else { return name }
    var definition = BinarySchema.Enumeration(name, over: .unionTag)
    definition.isUnion = true
    definition.values =
      [BinarySchema.EnumValue("NONE", 0)]
      + layout.members.map {
        BinarySchema.EnumValue($0.name, Int64($0.tag), type(of: $0.kind))
      }
    enums.append(definition)
    return name
  }

  /// Gives a layout its full name.
  /// - Returns: The name, and whether the type is to be collected.
  private mutating func enter(
    _ layout: AnyObject, _ name: String, _ shape: String
  ) -> (name: String, isNew: Bool) {
    if let known = names[ObjectIdentifier(layout)] { return (known, false) }
    let full = (namespace + [name]).joined(separator: ".")
    var unique = full
    var number = 2
    while let other = shapes[unique], other != shape {
      unique = "\(full)_\(number)"
      number += 1
    }
    names[ObjectIdentifier(layout)] = unique
    return (unique, shapes.updateValue(shape, forKey: unique) == nil)
  }

  private static func shape(_ properties: [Property]) -> String {
    properties.map { "\($0.name)@\($0.offset):\(shape($0.kind))" }.joined(separator: ",")
  }

  /// What tells the types of fields apart, without a look at the types that are referred to.
  private static func shape(_ kind: Property.Kind) -> String {
    switch kind {
    case .scalar(let type, let value): "\(type)=\(value.map { "\($0)" } ?? "null")"
    case .string: "string"
    case .enumeration: "enum"
    case .structure: "struct"
    case .table: "table"
    case .union: "union"
    case .vector(let element): "[\(shape(element))]"
    case .array(let element, let count): "[\(shape(element)):\(count)]"
    }
  }

  // MARK: Fields

  /// The field of a property. A union has a second one, for the tag.
  private mutating func tableFields(of property: Property) -> [BinarySchema.ObjectField] {
    let slot = (property.offset - 4) / 2
    var field = BinarySchema.ObjectField(
      property.name, type(of: property.kind), id: slot, offset: property.offset)
    field.isRequired = property.isRequired
    field.isOptional = !property.isRequired
    field.attributes = Self.attributes(of: property)
    switch property.kind {
    case .scalar(_, let value?):
      field.isOptional = false
      if case .real(let number) = value {
        field.real = number
      } else {
        field.integer = Int64(bitPattern: value.bits)
      }
    case .enumeration(_, let value?):
      field.isOptional = false
      field.integer = value
    // Without a default, a required text is "".
    case .string(let text?) where !text.isEmpty || !property.isRequired:
      field.attributes.append(.init("default", text))
    case .union, .vector(.union):
      var tag = BinarySchema.ObjectField(
        property.name + "_type", field.type, id: slot - 1, offset: property.offset - 2)
      if field.type.base == .union {
        tag.type.base = .unionTag
      } else {
        tag.type.element = .unionTag
        tag.isOptional = field.isOptional
      }
      return [tag, field]
    default: break
    }
    return [field]
  }

  private static func attributes(of property: Property) -> [BinarySchema.Attribute] {
    property.form?.schemaText.map { [.init("swift", $0)] } ?? []
  }

  private mutating func type(of kind: Property.Kind) -> BinarySchema.FieldType {
    switch kind {
    case .scalar(let type, _): .init(.init(type))
    case .enumeration(let layout, _):
      .init(.init(layout().type), named: enumeration(layout()))
    case .string: .init(.string)
    case .structure(let layout): .init(.object, named: structure(layout()))
    case .table(let layout): .init(.object, named: table(layout()))
    case .union(let layout): .init(.union, named: union(layout()))
    case .vector(let element): list(.vector, of: element)
    case .array(let element, let count): list(.array, of: element, count: count)
    }
  }

  private mutating func list(
    _ base: BinarySchema.BaseType, of element: Property.Kind, count: Int = 0
  ) -> BinarySchema.FieldType {
    let inner = type(of: element)
    return .init(base, of: inner.base, named: inner.name, count: count)
  }
}

extension BinarySchema.BaseType {
  fileprivate init(_ type: ValueType) {
    self =
      switch type {
      case .bool: .bool
      case .int8: .byte
      case .uint8: .ubyte
      case .int16: .short
      case .uint16: .ushort
      case .int32: .int
      case .uint32: .uint
      case .int64: .long
      case .uint64: .ulong
      case .float: .float
      case .double: .double
      case .string: .string
      }
  }
}

/// A form whose name in schemas is not the name of its Swift type.
protocol FormNamedInSchemas {
  static var nameInSchemas: String { get }
}

extension DateForm: FormNamedInSchemas {
  static var nameInSchemas: String { "Date in \(Unit.name)" }
}
extension DurationForm: FormNamedInSchemas {
  static var nameInSchemas: String { "Duration in \(Unit.name)" }
}

extension StoredTimeUnit {
  fileprivate static var name: String {
    switch perSecond {
    case 1: "seconds"
    case 1_000: "milliseconds"
    case 1_000_000: "microseconds"
    default: "nanoseconds"
    }
  }
}

extension StoredForm {
  /// What the `swift` attribute of a field with this form says; nil if no schema can name the type.
  fileprivate static var schemaText: String? {
    if let form = Self.self as? any FormNamedInSchemas.Type { return form.nameInSchemas }
    // `Module.Type`, without the module: generated code finds the type in its own.
    let path = String(reflecting: Value.self).split(separator: ".").dropFirst()
    let isName = path.allSatisfy { part in
      part.allSatisfy { $0 == "_" || $0.isLetter || $0.isNumber }
    }
    return isName && !path.isEmpty ? path.joined(separator: ".") : nil
  }
}
