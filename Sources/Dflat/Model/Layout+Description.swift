// Descriptions with the fields' Swift names, for logs and debuggers:
// `Post(title: "a", color: red, place: (lat: 1.0, lon: 2.0))`.

import FlatBuffersRuntime

extension TableLayout {
  func describe(_ table: TableReader) -> String {
    swiftName + list(properties) { table.value(of: $0) }
  }
}

private func list(_ properties: [Property], _ value: (Property) -> LayoutValue) -> String {
  let shown = properties.compactMap { property in
    let value = value(property)
    return if case .null = value {
      nil as String?
    } else {
      "\(property.swiftName): \(property.describe(value))"
    }
  }
  return "(" + shown.joined(separator: ", ") + ")"
}

extension Property {
  /// A value in its Swift type, or as it is stored if it cannot be read.
  func describe(_ value: LayoutValue) -> String {
    guard let form else { return value.description }
    if case .vector(let elements) = value {
      let shown = (0..<elements.count).map { form.describe(elements[$0]) }
      return "[" + shown.joined(separator: ", ") + "]"
    }
    return form.describe(value)
  }
}

extension StoredForm {
  fileprivate static func describe(_ value: LayoutValue) -> String {
    value.stored.flatMap { $0.text(as: Self.self) } ?? value.description
  }
}

extension LayoutValue {
  /// A scalar or string as its stored value.
  var stored: Value? {
    switch self {
    case .scalar(_, let value): value
    case .string(let bytes): .string(String(decoding: bytes, as: UTF8.self))
    case .defaultString(let text): .string(text)
    default: nil
    }
  }
}

extension LayoutValue: CustomStringConvertible {
  var description: String {
    switch self {
    case .null: "nil"
    case .scalar(let type, let value): value.describe(type)
    case .enumeration(let layout, let raw):
      layout.values.firstIndex { $0.value == raw }.map { layout.cases[$0] }
        ?? "\(layout.swiftName)(\(raw))"
    case .string(let bytes): String(reflecting: String(decoding: bytes, as: UTF8.self))
    case .defaultString(let text): String(reflecting: text)
    case .structure(let layout, let structure):
      list(layout.properties) { structure.value(of: $0) }
    case .table(let layout, let table): layout.describe(table)
    case .union(_, let union) where union.tag == 0: "nil"
    case .union(let member, let union):
      switch union.value(member.kind) {
      case .table(let layout, let table): layout.describe(table)
      case let value: "\(member.swiftName) \(value.description)"
      }
    case .vector(let elements):
      "[" + (0..<elements.count).map { elements[$0].description }.joined(separator: ", ") + "]"
    }
  }
}

extension Value {
  fileprivate func describe(_ type: ValueType) -> String {
    switch self {
    case .bool(let value): "\(value)"
    case .integer(let value): "\(value)"
    case .unsigned(let value): "\(value)"
    case .real(let value): type == .float ? "\(Float(value))" : "\(value)"
    case .string(let value): String(reflecting: value)
    }
  }
}
