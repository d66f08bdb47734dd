// Constants as values of the type of what they are compared with.

import Dflat

extension QueryBinder {
  /// A constant as a value of an expression's type.
  enum Fit {
    case value(Value)
    /// Between this whole number and the next.
    case between(Value)
    case tooSmall, tooGreat
    /// NaN as a whole number.
    case unordered
  }

  /// - Throws: `QueryTextError` if the constant is of another kind.
  func fit(
    _ constant: Bound, to operand: Operand, _ range: Range<Int>
  ) throws(QueryTextError) -> Fit {
    if case .enumeration(let layout, _)? = operand.kind {
      return try fit(constant, to: layout(), operand, range)
    }
    if let union = operand.union, case .name(let name) = constant {
      guard let member = union.members.first(where: { $0.name == name }) else {
        throw error(
          "no member '\(name)' in this union", range,
          hint: suggestion(for: name, among: union.members.map(\.name))
            ?? "there are \(union.members.map(\.name).joined(separator: ", "))")
      }
      return .value(.integer(Int64(member.tag)))
    }
    switch (constant, operand.type) {
    case (.truth(let value), .bool): return .value(.bool(value))
    case (.text(let text), .string): return .value(.string(text))
    case (.number(let number), _) where operand.type != .bool && operand.type != .string:
      return number.fit(operand.type)
    case (.name(let name), _): throw unknown(name, range)
    case (.object, _), (.vector, _), (.list, _):
      throw error("a constant or a field is expected here", range)
    default:
      throw error(
        "\(operand.described) cannot be compared with this", range,
        hint: operand.type == .string
          ? "texts stand in quotation marks" : operand.type == .bool ? "write true or false" : nil)
    }
  }

  private func fit(
    _ constant: Bound, to layout: EnumLayout, _ operand: Operand, _ range: Range<Int>
  ) throws(QueryTextError) -> Fit {
    func value(_ raw: Int64) -> Fit {
      .value(layout.type == .uint64 ? .unsigned(UInt64(bitPattern: raw)) : .integer(raw))
    }
    switch constant {
    case .number(let number): return number.fit(operand.type)
    case .name(let name), .text(let name):
      return value(try self.value(name, of: layout, range))
    case .list(let elements) where layout.isBitFlags:
      var raw: Int64 = 0
      for element in elements {
        guard case .name(let name, _) = element.kind else {
          throw error("the name of a flag is expected here", element.range)
        }
        raw |= try self.value(name, of: layout, element.range)
      }
      return value(raw)
    default:
      throw error(
        "a value of \(layout.name) is expected here", range,
        hint: layout.values.first.map { "for example \($0.name)" })
    }
  }

  private func value(
    _ name: String, of layout: EnumLayout, _ range: Range<Int>
  ) throws(QueryTextError) -> Int64 {
    if let known = layout.values.first(where: { $0.name == name }) { return known.value }
    let names = layout.values.map(\.name)
    throw error(
      "no value '\(name)' in \(layout.name)", range,
      hint: suggestion(for: name, among: names)
        ?? (names.count <= 12 ? "there are \(names.joined(separator: ", "))" : nil))
  }
}
