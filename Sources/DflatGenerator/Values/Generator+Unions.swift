// Unions.

import DflatSchema

extension Generator {
  func write(_ definition: UnionDefinition, to text: inout SourceText) {
    let scope = TypeNames.Scope(
      namespace: namespacePath(definition.name.namespace), type: names.path(definition.name),
      generated: .union,
      // Cases are members, and are found first in a static context.
      members: Set(definition.members.map { $0.swiftName }))
    let members = definition.members
    text.documentation(
      orElse("`\(definition.name.name)` of the schema.", definition.documentation))
    let indirect = circles.contains(definition.name) ? "indirect " : ""
    let head = "\(access)nonisolated \(indirect)enum \(names.declared(definition.name))"
    text.type(head, [names.union]) { text in
      for member in members {
        text.documentation(member.documentation)
        text.line("case \(name(member))(\(payload(member, in: scope)))")
      }

      text.gap()
      text.documentation(["Reads the member that is there; nil for none and for an unknown one."])
      // Not inlined: every property that reads one would contain a copy of this.
      text.line("@inline(never)")
      text.function("\(access)init?", ["_ member: \(names.dflat("UnionReader"))"]) { text in
        if members.isEmpty { return text.line("return nil") }
        text.line("switch member.tag {")
        for member in members {
          text.line("case \(member.tag):")
          text.nest { text in
            let payload = payload(member, in: scope)
            text.line("guard let value: \(payload) = member.read() else { return nil }")
            text.line("self = .\(name(member))(value)")
          }
        }
        text.line("default: return nil")
        text.line("}")
      }

      text.gap()
      text.documentation(["The member's number in the schema."])
      text.block("\(access)var _tag: \(names.swift("UInt8"))") { text in
        text.line("switch self {")
        for member in members { text.line("case .\(name(member)): \(member.tag)") }
        text.line("}")
      }

      text.gap()
      let builder = names.runtime("FlatBufferBuilder")
      text.documentation(["Writes the member's value."])
      text.returning("\(access)func _encode(to builder: \(builder))", "\(builder).Offset") { text in
        text.line("switch self {")
        for member in members {
          text.line("case .\(name(member))(let value): \(encode(member))")
        }
        text.line("}")
      }

      text.gap()
      text.documentation(["The members, for Dflat."])
      let layoutType = names.dflat("UnionLayout")
      text.line("\(access)static let _layout: \(layoutType) = \(layoutType)(")
      text.nest { text in
        text.line("\(Literal.string(definition.name.name)),")
        text.array(
          members.map { member in
            let swift =
              member.swiftName == member.name ? "" : ", swift: \(Literal.string(member.swiftName))"
            return ".init(\(Literal.string(member.name)), \(member.tag), "
              + "\(kind(member, in: scope))\(swift))"
          }, ")")
      }
    }
  }

  private func name(_ member: UnionDefinition.Member) -> String {
    Identifier.escaped(member.swiftName)
  }

  private func payload(_ member: UnionDefinition.Member, in scope: TypeNames.Scope) -> String {
    switch member.type {
    case .table(let name), .structure(let name): names.type(name, in: scope)
    default: names.swift("String")
    }
  }

  private func encode(_ member: UnionDefinition.Member) -> String {
    switch member.type {
    case .table: "value._encode(to: builder)"
    case .structure: "builder.indirectStructure(value)"
    default: "builder.string(value)"
    }
  }

  private func kind(_ member: UnionDefinition.Member, in scope: TypeNames.Scope) -> String {
    switch member.type {
    case .table(let name): ".table { \(names.expression(name, in: scope))._layout }"
    case .structure(let name): ".structure { \(names.expression(name, in: scope))._layout }"
    default: ".string(default: nil)"
    }
  }
}
