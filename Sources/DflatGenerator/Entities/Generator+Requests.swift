// The change request of an entity.

import DflatSchema

extension Generator {
  func writeRequest(of definition: TableDefinition, to text: inout SourceText) {
    let fields = fields(of: definition)
    let type = names.declared(definition.name)
    let request = names.request(of: definition.name)
    let builder = names.builder(of: definition.name)
    let change = names.dflat("PendingChange")
    let values = Identifier.fresh("values", avoiding: Set(fields.map(\.name)))
    text.documentation([
      "A creation, change or deletion of a `\(camel(definition.name.name))`, to be submitted."
    ])
    text.block("public final class \(request): \(names.dflat("ChangeRequest"))") { text in
      text.documentation(["What the request is about."])
      text.line("public typealias Element = \(type)")
      text.documentation(["What is to be done, for Dflat."])
      let pending = Identifier.fresh("_change", avoiding: Set(fields.map(\.name)))
      text.implements("ChangeRequest", "_change", by: pending, names)
      text.line("public var \(pending): \(change)")
      text.line("var \(values): \(builder)")
      text.gap()
      text.function("private init", ["_ change: \(change)", "_ values: \(builder)"]) { text in
        text.line("self.\(pending) = change")
        text.line("self.\(values) = values")
      }
      text.gap()
      let runtime = names.runtime("FlatBufferBuilder")
      text.documentation(["Writes the fields; defaults are left out."])
      text.returning("public func _encode(to builder: \(runtime))", "\(runtime).Offset") { text in
        text.line("\(values)._encode(to: builder)")
      }
      for field in fields {
        text.gap()
        text.documentation(field.documentation)
        text.property("public var \(field.member)", field.type) { text in
          text.accessor("get", "\(values).\(field.member)")
          text.accessor("set", "\(values).\(field.member) = newValue")
        }
      }
      writeFunctions(type: type, request: request, builder: builder, to: &text)
    }
  }

  private func writeFunctions(
    type: String, request: String, builder: String, to text: inout SourceText
  ) {
    let change = names.dflat("PendingChange")
    text.gap()
    text.documentation(["A new object with every field at its default."])
    text.block("public static func creationRequest() -> \(request)") { text in
      text.line("\(request)(.creation(), \(builder)())")
    }
    text.gap()
    text.documentation(["A new object with the fields of `o`."])
    text.function("public static func creationRequest", ["_ o: \(type)"], returns: request) {
      $0.line("\(request)(.creation(), \(builder)(from: o))")
    }
    text.gap()
    text.documentation([
      "An update of the stored object, filled with its latest stored values; nil if it does not",
      "exist. To be called inside a transaction.",
    ])
    text.function("public static func changeRequest", ["_ o: \(type)"], returns: request + "?") {
      $0.line("guard let change = \(change).update(of: o) else { return nil }")
      $0.line("return \(request)(change, change.stored.read { \(builder)($0) })")
    }
    text.gap()
    text.documentation([
      "An update with the values of `o` if it is stored, otherwise its creation. To be called",
      "inside a transaction.",
    ])
    text.function("public static func upsertRequest", ["_ o: \(type)"], returns: request) {
      $0.line("\(request)(.upsert(of: o), \(builder)(from: o))")
    }
    text.gap()
    text.documentation([
      "The deletion of the stored object; nil if it does not exist. To be called inside a",
      "transaction.",
    ])
    text.function("public static func deletionRequest", ["_ o: \(type)"], returns: request + "?") {
      $0.line("guard let change = \(change).deletion(of: o) else { return nil }")
      $0.line("return \(request)(change, \(builder)())")
    }
  }
}
