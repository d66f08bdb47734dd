// The change request of an entity: the fields that were set, and the row from which the others are
// read.

import DflatSchema

extension Generator {
  func writeRequest(of definition: TableDefinition, to text: inout SourceText) {
    let companions = names.companions(of: definition.name)
    let scope = TypeNames.Scope(
      namespace: namespacePath(definition.name.namespace), type: companions.request,
      generated: .request, members: self.scope(of: definition).members)
    let fields = fields(of: definition).map { $0.moved(to: scope) }
    let type = names.near(names.path(definition.name), in: scope)
    let instance = names.nearExpression(names.path(definition.name), in: scope)
    let request = names.declared(companions.request)
    let builder = names.near(companions.builder, in: scope)
    let newBuilder = names.nearExpression(companions.builder, in: scope)
    let change = names.dflat("PendingChange")
    let values = names.fresh("values", beside: fields)
    let stored = names.fresh("stored", beside: fields)
    let pending = names.fresh("_change", beside: fields)
    text.documentation([
      "A creation, change or deletion of a `\(names.swiftName(definition.name))`, to be submitted."
    ])
    text.type("\(access)nonisolated final class \(request)", [names.dflat("ChangeRequest")]) {
      text in
      text.documentation(["The type of the object that the request is about."])
      text.line("\(access)typealias Element = \(type)")
      text.gap()
      text.line(
        "// No access to these two overlaps another, so Swift need not check that at run time.")
      text.documentation(["What is to be done, for Dflat."])
      text.implements("ChangeRequest", "_change", by: pending, names)
      text.line("@exclusivity(unchecked) \(access)var \(pending): \(change)")
      text.line("/// The fields that were set; the others are at their defaults.")
      text.line("@exclusivity(unchecked) private var \(values): \(builder)")
      text.gap()
      text.line("/// The stored object, from which the fields are read that were not set.")
      text.short("private var \(stored)", type, "\(instance)(_row: \(pending).row)")
      text.gap()
      text.function(
        "private init", ["_ change: \(change)", "_ values: \(builder) = \(newBuilder)()"]
      ) { text in
        text.line("self.\(pending) = change")
        text.line("self.\(values) = values")
      }
      text.gap()
      let runtime = names.runtime("FlatBufferBuilder")
      text.documentation(["Writes the fields that were set; defaults are left out."])
      text.returning("\(access)func _encode(to builder: \(runtime))", "\(runtime).Offset") { text in
        text.line("// The values are lent, not copied.")
        text.returning("func encode(_ values: inout \(builder))", "\(runtime).Offset") {
          $0.line("values._encode(to: builder)")
        }
        text.line("return encode(&\(values))")
      }
      for field in fields {
        let (member, offset) = (field.member, field.offset)
        text.gap()
        text.documentation(field.documentation)
        text.property("\(access)var \(member)", field.type) { text in
          text.getter(
            "\(pending).isSet(\(offset))", "\(values).\(member)", "\(stored).\(member)")
          text.block("set") { text in
            text.line("\(values).\(member) = newValue")
            text.line("\(pending).set(\(offset))")
          }
          // In place, so that appending to a vector does not copy it.
          text.block("_modify") { text in
            text.short(
              if: "!\(pending).isSet(\(offset))", "\(values).\(member) = \(stored).\(member)")
            text.line("\(pending).set(\(offset))")
            text.line("yield &\(values).\(member)")
          }
        }
      }
      writeFunctions(of: definition.name, in: scope, to: &text)
    }
  }

  private func writeFunctions(
    of entity: QualifiedName, in scope: TypeNames.Scope, to text: inout SourceText
  ) {
    let companions = names.companions(of: entity)
    let type = names.near(names.path(entity), in: scope)
    let instance = names.nearExpression(names.path(entity), in: scope)
    let request = names.near(companions.request, in: scope)
    let newRequest = names.nearExpression(companions.request, in: scope)
    let newBuilder = names.nearExpression(companions.builder, in: scope)
    let change = names.dflat("PendingChange")
    text.gap()
    text.documentation(["A new object with every field at its default."])
    text.block("\(access)static func creationRequest() -> \(request)") { text in
      text.line("\(newRequest)(.creation(of: \(instance).self))")
    }
    text.gap()
    text.documentation(["A new object with the fields of `o`."])
    text.function("\(access)static func creationRequest", ["_ o: \(type)"], returns: request) {
      $0.line("\(newRequest)(.creation(of: o))")
    }
    text.gap()
    text.documentation([
      "An update of the stored object, filled with its latest stored values; nil if it does not",
      "exist. To be called inside a transaction.",
    ])
    text.function("\(access)static func changeRequest", ["_ o: \(type)"], returns: request + "?") {
      $0.line("\(change).update(of: o).map { \(newRequest)($0) }")
    }
    text.gap()
    text.documentation([
      "An update with the values of `o` if it is stored, otherwise its creation. To be called",
      "inside a transaction.",
    ])
    text.function("\(access)static func upsertRequest", ["_ o: \(type)"], returns: request) {
      $0.line("\(newRequest)(.upsert(of: o), \(newBuilder)(from: o))")
    }
    text.gap()
    text.documentation([
      "The deletion of the stored object; nil if it does not exist. To be called inside a",
      "transaction.",
    ])
    text.function("\(access)static func deletionRequest", ["_ o: \(type)"], returns: request + "?")
    {
      $0.line("\(change).deletion(of: o).map { \(newRequest)($0) }")
    }
  }
}
