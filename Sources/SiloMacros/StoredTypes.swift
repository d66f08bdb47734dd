// StoredTypes: the types of properties that only the compiler can check.
//
// They stand in a private type in the body, one for each property, as if they were written at the
// property. There the compiler reports a type that cannot be stored; where the generated code uses
// it through this name, it reports nothing more. Calls in the extension, also as if they were
// written at the property, report what to write. Of an enum's body, the compiler checks only what
// is used.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxMacros

struct StoredTypes {
  private var declarations: [String] = []
  private var checks: [String] = []

  /// The types of a struct's properties, and those defaults that are spelled with names.
  init(
    _ properties: [ValueProperty], ownName: String, in context: some MacroExpansionContext
  ) {
    for property in properties {
      if property.isChecked {
        let isIndexed = ["Indexed", "Unique"].contains { property.property.attribute($0) != nil }
        add("_\(property.slot)", property.type, isIndexed: isIndexed, ownName, in: context)
      }
      if let value = property.namedDefault {
        let type = property.type.text(in: ownName)
        declarations.append(
          "static var _default\(property.slot): \(type) { \(value.text(in: ownName)) }")
      }
    }
  }

  /// The types of the associated values of cases.
  init(
    _ values: [(name: String, type: TypeSyntax)], ownName: String,
    in context: some MacroExpansionContext
  ) {
    for value in values where !value.type.isKnown {
      add(value.name, value.type, isIndexed: false, ownName, in: context)
    }
  }

  /// What stands in the body; nil if there is nothing to check.
  var text: String? {
    if declarations.isEmpty { return nil }
    return declarations.lines.wrapped(in: "nonisolated private enum _StoredTypes")
  }

  /// What stands in the extension.
  var checksText: [String] {
    if checks.isEmpty { return [] }
    return [checks.lines.wrapped(in: "nonisolated private enum _Checks")]
  }

  private mutating func add(
    _ name: String, _ type: TypeSyntax, isIndexed: Bool, _ ownName: String,
    in context: some MacroExpansionContext
  ) {
    let text = type.text(in: ownName)
    let role = isIndexed ? "SiloIndexedProperty" : "SiloStoredProperty"
    let check = isIndexed ? "indexable" : "storable"
    declarations.append(type.inItsLine("typealias \(name) = \(role)<\(text)>", in: context))
    declarations.append("typealias _type\(name) = \(text)")
    checks.append(
      type.inItsLine(
        "static let \(name): Void = SiloChecks.\(check)(_StoredTypes._type\(name).self)",
        in: context))
  }
}
