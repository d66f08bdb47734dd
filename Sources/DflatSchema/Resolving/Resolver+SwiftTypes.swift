// The `swift` attribute: the Swift types that a stored type can be read as.

extension Resolver {
  /// The Swift type of a field; nil if it has none, or one that does not match the stored type.
  func swiftType(_ attributes: AttributeList, of type: FieldType, name: String) -> SwiftType? {
    guard let syntax = attributes["swift"] else { return nil }
    guard let value = syntax.value, !value.text.isEmpty else {
      sink.error(
        "the type is missing", at: syntax.name.range,
        notes: [.hint("for example (swift: \"Date\")")])
      return nil
    }
    guard let wanted = SwiftType.Name(value.text) else {
      sink.error(
        "\"\(value.text)\" names no type of Swift", at: value.range,
        notes: [
          .hint(
            "for example \"UUID\", \"Date in seconds\", \"Price\", or \"Shop::Price\" of a module")
        ])
      return nil
    }
    if wanted.module == nil, refuse(wanted.type, of: type, name, at: value.range) { return nil }
    let swift = swiftType(wanted)
    let element = element(of: type, for: swift)
    if let reason = obstacle(swift, element, type) {
      sink.error(
        "'\(name)' cannot be a '\(wanted.type)': \(reason)", at: value.range,
        notes: [.hint(swift.demand)])
      return nil
    }
    if let unit = wanted.unit, !swift.accepts(unit, for: element) {
      sink.error(
        "a '\(wanted.type)' is not stored in \(unit.rawValue) here", at: value.range,
        notes: [.hint(swift.demand)])
      return nil
    }
    return swift.in(wanted.unit, element)
  }

  /// Swift types that have an equivalent in schemas.
  private static let plainTypes = [
    "Bool": "bool", "Int8": "byte", "UInt8": "ubyte", "Int16": "short", "UInt16": "ushort",
    "Int32": "int", "UInt32": "uint", "Int64": "long", "UInt64": "ulong", "Float": "float",
    "Double": "double", "String": "string",
  ]

  /// Reports names that cannot be types of the program, with what they are instead.
  /// - Returns: Whether this is such a name.
  private func refuse(
    _ wanted: String, of type: FieldType, _ name: String, at range: SourceRange
  ) -> Bool {
    if let plain = Self.plainTypes[wanted] {
      sink.error(
        "'\(name)' cannot be a '\(wanted)' by 'swift'", at: range,
        notes: [.hint("a field of type '\(plain)' is a '\(wanted)' without that")])
      return true
    }
    // It may be a type of the program, so it is not an error here.
    if !Self.everydayTypes.contains(wanted),
      let meant = nearest(to: wanted, among: Self.everydayTypes)
    {
      sink.warning(
        "'\(wanted)' is taken for a type of the program's", at: range,
        notes: [.hint("did you mean '\(meant)'? If not, name its module: \"Module::\(wanted)\"")])
    }
    return false
  }

  private static let everydayTypes = ["Date", "Duration", "UUID", "URL", "Decimal", "Data", "Int"]

  private func swiftType(_ name: SwiftType.Name) -> SwiftType {
    let isOwn = name.module != nil
    switch name.type {
    case "Date" where !isOwn: return .date(.milliseconds)
    case "Duration" where !isOwn: return .duration(.nanoseconds)
    case "UUID" where !isOwn: return .uuid
    case "URL" where !isOwn: return .url
    case "Decimal" where !isOwn: return .decimal
    case "Data" where !isOwn: return .data
    case "Int" where !isOwn: return .int
    default: return .program(module: name.module, name: name.type)
    }
  }

  /// The stored type that the Swift type replaces: that of a vector's elements, except for `Data`.
  private func element(of type: FieldType, for swift: SwiftType) -> FieldType {
    if case .vector(let element) = type, swift != .data { return element }
    return type
  }

  /// The reason why a stored type cannot be read as a Swift type.
  private func obstacle(_ swift: SwiftType, _ element: FieldType, _ type: FieldType) -> String? {
    if case .array = type { return "an array of fixed length has the type of its elements" }
    let isPossible =
      switch (swift, element) {
      case (.date, .scalar(.long)), (.date, .scalar(.double)): true
      case (.duration, .scalar(.long)), (.duration, .scalar(.double)): true
      case (.uuid, .string), (.url, .string), (.decimal, .string): true
      case (.data, .vector(.scalar(.ubyte))): true
      case (.int, .scalar(let scalar)): scalar.integerRange != nil && scalar != .bool
      case (.program, .scalar), (.program, .string): true
      default: false
      }
    return isPossible ? nil : "it is \(type.described) of type '\(type)'"
  }
}

extension SwiftType {
  /// The requirement on a field for this type.
  fileprivate var demand: String {
    switch self {
    case .date:
      "a Date is stored in a 'long', in seconds, milliseconds or microseconds, or in a 'double', "
        + "in seconds"
    case .duration: "a Duration is stored in a 'long', in any unit, or in a 'double', in seconds"
    case .uuid, .url, .decimal: "it is stored in a 'string'"
    case .data: "Data is stored in a '[ubyte]'"
    case .int: "an Int is stored in an integer: 'byte' to 'ulong'"
    case .program: "a type of the program's is stored in a scalar or a string"
    }
  }

  /// Whether values can be stored in a unit.
  fileprivate func accepts(_ unit: TimeUnit, for type: FieldType) -> Bool {
    switch self {
    case .date: type == .scalar(.double) ? unit == .seconds : unit != .nanoseconds
    case .duration: type != .scalar(.double) || unit == .seconds
    default: false
    }
  }

  /// The same type with a unit; for a `double`, in seconds.
  fileprivate func `in`(_ unit: TimeUnit?, _ type: FieldType) -> SwiftType {
    let unit = type == .scalar(.double) ? .seconds : unit
    return switch (self, unit) {
    case (.date, let unit?): .date(unit)
    case (.duration, let unit?): .duration(unit)
    default: self
    }
  }
}
