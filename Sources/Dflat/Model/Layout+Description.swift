// Descriptions that show fields, for logs and debuggers: `Post(title: "a", color: Red, place: (lat: 1.0, lon: 2.0))`.

import FlatBuffersRuntime

extension TableLayout {
  func describe(_ table: TableReader) -> String {
    name + list(properties.map { ($0.name, table.value(of: $0)) })
  }
}

private func list(_ values: [(String, LayoutValue)]) -> String {
  let shown = values.compactMap { name, value in
    if case .null = value { nil as String? } else { "\(name): \(value.description)" }
  }
  return "(" + shown.joined(separator: ", ") + ")"
}

extension LayoutValue: CustomStringConvertible {
  var description: String {
    switch self {
    case .null: "nil"
    case .scalar(let type, let value): value.describe(type)
    case .enumeration(let layout, let raw):
      layout.values.first { $0.value == raw }?.name ?? "\(layout.name)(\(raw))"
    case .string(let bytes): String(reflecting: String(decoding: bytes, as: UTF8.self))
    case .defaultString(let text): String(reflecting: text)
    case .structure(let layout, let structure):
      list(layout.properties.map { ($0.name, structure.value(of: $0)) })
    case .table(let layout, let table): layout.describe(table)
    case .union(_, let union) where union.tag == 0: "nil"
    case .union(let member, let union):
      switch union.value(member.kind) {
      case .table(let layout, let table): layout.describe(table)
      case let value: "\(member.name) \(value.description)"
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
