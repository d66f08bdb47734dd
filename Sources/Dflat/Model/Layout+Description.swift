// Descriptions with the fields' Swift names, for logs and debuggers:
// `Post(title: "a", color: red, place: (lat: 1.0, lon: 2.0))`.

import FlatBuffersRuntime

/// How many tables inside of each other are shown: all of an object that can be stored, and no more
/// than a small stack is enough for.
private let mostLevels = 72

extension TableLayout {
  /// - Parameter levels: How many levels of tables are shown. What is deeper is `…`.
  func describe(_ table: TableReader, levels: Int = mostLevels) -> String {
    levels == 0
      ? "\(swiftName)(…)" : swiftName + list(properties, levels) { table.value(of: $0) }
  }
}

private func list(
  _ properties: [Property], _ levels: Int, _ value: (Property) -> LayoutValue
) -> String {
  let shown = properties.compactMap { property in
    let value = value(property)
    return if case .null = value {
      nil as String?
    } else {
      "\(property.swiftName): \(property.describe(value, levels: levels))"
    }
  }
  return "(" + shown.joined(separator: ", ") + ")"
}

extension Property {
  /// A value in its Swift type, or as it is stored if it cannot be read.
  func describe(_ value: LayoutValue, levels: Int = mostLevels) -> String {
    guard let form else { return value.description(levels: levels) }
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
  var description: String { description(levels: mostLevels) }

  /// - Parameter levels: As in `TableLayout.describe`.
  fileprivate func description(levels: Int) -> String {
    switch self {
    case .null: "nil"
    case .scalar(let type, let value): value.describe(type)
    case .enumeration(let layout, let raw):
      layout.values.firstIndex { $0.value == raw }.map { layout.cases[$0] }
        ?? "\(layout.swiftName)(\(raw))"
    case .string(let bytes): String(reflecting: String(decoding: bytes, as: UTF8.self))
    case .defaultString(let text): String(reflecting: text)
    case .structure(let layout, let structure):
      list(layout.properties, levels) { structure.value(of: $0) }
    case .table(let layout, let table): layout.describe(table, levels: levels - 1)
    case .union(_, let union) where union.tag == 0: "nil"
    case .union(let member, let union):
      switch union.value(member.kind) {
      case .table(let layout, let table): layout.describe(table, levels: levels - 1)
      case let value: "\(member.swiftName) \(value.description(levels: levels))"
      }
    case .vector(let elements):
      "["
        + (0..<elements.count).map { elements[$0].description(levels: levels) }
        .joined(separator: ", ") + "]"
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
