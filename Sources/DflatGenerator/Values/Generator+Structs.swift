// Fixed structs.

import DflatSchema

extension Generator {
  func write(_ definition: StructDefinition, to text: inout SourceText) {
    let fields = fields(of: definition)
    value(
      definition.name, definition.documentation, fields, as: "FlatBuffersStruct", to: &text
    ) { text in
      let reader = names.fresh("structure", beside: fields)
      text.gap()
      text.documentation(["Reads the fields in place."])
      text.function("\(access)init", ["_ \(reader): \(names.runtime("StructReader"))"]) { text in
        for field in fields { text.statement("\(field.property) = \(field.read(from: reader))") }
      }

      let memory = names.fresh("memory", beside: fields)
      text.gap()
      text.documentation(["Writes the fields to zeroed memory."])
      let pointer = names.swift("UnsafeMutableRawPointer")
      text.function("\(access)func _write", ["to \(memory): \(pointer)"]) { text in
        for field in fields { text.statement(field.write(to: memory)) }
      }

      conversionFailure(fields, to: &text)

      text.gap()
      text.documentation(["Where the fields lie, for Dflat."])
      text.line("\(access)static let _layout = \(names.dflat("StructLayout"))(")
      text.nest { text in
        let version = definition.version.map { ", version: \(Literal.string($0))" } ?? ""
        text.line(
          "\(Literal.string(definition.name.name))\(version), size: \(definition.size), "
            + "alignment: \(definition.alignment),")
        text.array(fields.map(\.layout), ")")
      }
    }
  }

  /// `_conversionFailure`, for structs with fields whose values may not fit the stored type.
  private func conversionFailure(_ fields: [SwiftField], to text: inout SourceText) {
    let checks = fields.flatMap(\.conversionFailures)
    if checks.isEmpty { return }
    text.gap()
    text.documentation(["Why a value does not fit its field, for Dflat; nil if all do."])
    text.block("\(access)var _conversionFailure: \(names.swift("String"))?") { text in
      text.line(checks[0])
      text.nest { text in
        for check in checks.dropFirst() { text.line("?? " + check) }
      }
    }
  }
}
