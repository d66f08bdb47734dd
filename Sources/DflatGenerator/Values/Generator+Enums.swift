// Enums and bit flags.

import DflatSchema

extension Generator {
  func write(_ definition: EnumDefinition, to text: inout SourceText) {
    text.documentation(
      orElse("`\(definition.name.name)` of the schema.", definition.documentation))
    if definition.isBitFlags {
      writeFlags(definition, to: &text)
    } else {
      writeCases(definition, to: &text)
    }
  }

  private func writeCases(_ definition: EnumDefinition, to text: inout SourceText) {
    let type = names.declared(definition.name)
    let raw = names.swift(definition.underlying.swiftName)
    let caseIterable = names.swift("CaseIterable")
    let conformances = [raw, names.dflat("FlatBuffersEnum"), caseIterable]
    text.type("\(access)nonisolated enum \(type)", conformances) { text in
      for value in definition.ordered {
        let name = value.swiftName
        text.documentation(value.documentation)
        text.line("case \(Identifier.escaped(name)) = \(definition.literal(value.value))")
      }
      let taken = Set(definition.values.map(\.swiftName))
      if taken.contains("allCases") {
        text.gap()
        text.documentation(["Every value; the name `allCases` is one of them."])
        text.line("@_implements(\(caseIterable),allCases)")
        let cases = definition.ordered.map { "." + Identifier.escaped($0.swiftName) }
        let property = Identifier.fresh("_allCases", avoiding: taken)
        let element = names.near(names.path(definition.name), in: scope(of: definition))
        text.filledArray("\(access)static let \(property): [\(element)] = [", cases)
      }
      text.gap()
      layout(definition, to: &text)
    }
  }

  private func writeFlags(_ definition: EnumDefinition, to text: inout SourceText) {
    let type = names.declared(definition.name)
    let protocols = [
      names.swift("OptionSet"), names.dflat("FlatBuffersEnum"), names.swift("CaseIterable"),
    ]
    text.type("\(access)nonisolated struct \(type)", protocols) { text in
      if definition.values.contains(where: { $0.swiftName == "rawValue" }) {
        // A static member of that name would affect type inference.
        text.documentation(["The type of the bits."])
        text.line("\(access)typealias RawValue = \(names.swift(definition.underlying.swiftName))")
        text.gap()
      }
      text.documentation(["The bits; those that the schema does not name are kept."])
      text.line("\(access)let rawValue: \(names.swift(definition.underlying.swiftName))")
      text.gap()
      text.documentation(["Any combination of bits."])
      text.function(
        "\(access)init", ["rawValue: \(names.swift(definition.underlying.swiftName))"]
      ) { $0.line("self.rawValue = rawValue") }
      text.gap()
      let instance = names.nearExpression(names.path(definition.name), in: scope(of: definition))
      for value in definition.ordered {
        let name = Identifier.escaped(value.swiftName)
        text.documentation(orElse("`\(value.name)` of the schema.", value.documentation))
        text.line(
          "\(access)static let \(name) = \(instance)(rawValue: \(definition.literal(value.value)))")
      }
      text.gap()
      let taken = Set(definition.values.map(\.swiftName))
      let hidesAll = taken.contains("allCases")
      if hidesAll {
        text.documentation(["Every named bit; the name `allCases` is one of them."])
        text.line("@_implements(\(names.swift("CaseIterable")),allCases)")
      } else {
        text.documentation(["Every named bit."])
      }
      let cases = definition.ordered.map { "." + Identifier.escaped($0.swiftName) }
      let property = hidesAll ? Identifier.fresh("_allCases", avoiding: taken) : "allCases"
      let element = names.near(names.path(definition.name), in: scope(of: definition))
      text.filledArray("\(access)static let \(property): [\(element)] = [", cases)
      text.gap()
      layout(definition, to: &text)
    }
  }

  private func scope(of definition: EnumDefinition) -> TypeNames.Scope {
    TypeNames.Scope(
      namespace: namespacePath(definition.name.namespace), type: names.path(definition.name),
      generated: definition.isBitFlags ? .flags : .enumeration,
      members: Set(definition.values.map(\.swiftName)))
  }

  private func layout(_ definition: EnumDefinition, to text: inout SourceText) {
    let property = Identifier.fresh("_layout", avoiding: Set(definition.values.map(\.swiftName)))
    let type = names.dflat("EnumLayout")
    let flags = definition.isBitFlags ? ", bitFlags: true" : ""
    let head =
      "\(names.layoutName(definition.name)), \(definition.underlying.valueType)\(flags),"
    let values = definition.ordered.map { "(\(Literal.string($0.name)), \($0.value))" }
    let cases = definition.ordered.map { Literal.string($0.swiftName) }
    let areAlike = definition.ordered.allSatisfy { $0.name == $0.swiftName }
    text.documentation(["The names and numbers, for Dflat."])
    text.implements("FlatBuffersEnum", "_layout", by: property, names)
    text.call(
      "\(access)static let \(property) = \(type)(", head, values,
      last: areAlike ? nil : ("cases:", cases))
  }
}
