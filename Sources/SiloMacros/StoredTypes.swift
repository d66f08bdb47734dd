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

/// A type that the generated code has a name for.
struct NamedType {
  let name: String
  let type: TypeSyntax
  var isIndexed = false
  /// Whether it is the type of an id.
  var isID = false
  /// The entry of the frozen shape that has the type; nil without a shape.
  let frozen: FrozenShape.Entry?
  /// The position of the type in the entry.
  var position = 0

  /// The plain type that the shape has in the place of this one; nil if it has its names.
  var alias: String? {
    guard let aliased = frozen?.aliased, position < aliased.count else { return nil }
    return aliased[position]
  }
}

struct StoredTypes {
  private var declarations: [String] = []
  private var checks: [String] = []

  /// The types of a struct's properties, and those defaults that are spelled with names.
  /// - Parameter isRoot: Whether it is a value, which has an id.
  init(
    _ properties: [ValueProperty], _ frozen: FrozenShape?, ownName: String, isRoot: Bool,
    in context: some MacroExpansionContext
  ) {
    for property in properties {
      if property.isChecked {
        let isIndexed = ["Indexed", "Unique"].contains { property.property.attribute($0) != nil }
        let type = NamedType(
          name: "_\(property.slot)", type: property.type, isIndexed: isIndexed,
          isID: isRoot && property.name == "id", frozen: frozen?.entry(property.name))
        add(type, ownName, in: context)
      }
      if let value = property.namedDefault {
        let type = property.type.text(in: ownName)
        declarations.append(
          "static var _default\(property.slot): \(type) { \(value.text(in: ownName)) }")
      }
    }
  }

  /// The types of the associated values of cases.
  init(_ types: [NamedType], ownName: String, in context: some MacroExpansionContext) {
    for type in types where !type.type.isKnown { add(type, ownName, in: context) }
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
    _ named: NamedType, _ ownName: String, in context: some MacroExpansionContext
  ) {
    let (name, type) = (named.name, named.type)
    let text = type.text(in: ownName)
    let role = named.isIndexed ? "SiloIndexedProperty" : "SiloStoredProperty"
    declarations.append(type.inItsLine("typealias \(name) = \(role)<\(text)>", in: context))
    declarations.append("typealias _type\(name) = \(text)")
    func check(_ place: TypeSyntax, _ suffix: String, _ call: String) {
      checks.append(
        place.inItsLine("static let \(name)\(suffix): Void = \(call).self)", in: context))
    }
    let names = type.named.filter { !$0.isFixedName }
    let isName = names.first?.id == type.id
    if named.isID {
      check(type, "", "SiloChecks.identifying(_StoredTypes._type\(name)")
    } else if named.isIndexed {
      check(type, "", "SiloChecks.indexable(_StoredTypes._type\(name)")
    } else if named.frozen == nil || named.alias != nil || !isName {
      check(type, "", "SiloChecks.storable(_StoredTypes._type\(name)")
    }
    guard let frozen = named.frozen else { return }
    if let alias = named.alias {
      let function = "_stored\(name)"
      declarations.append("typealias _alias\(name) = \(alias)")
      checks.append("static func \(function)(_ type: _StoredTypes._alias\(name).Type) {}")
      checks.append(
        "@available(*, unavailable, message: \(frozen.misread.plainLiteral)) @_disfavoredOverload "
          + "static func \(function)<Other>(_ type: Other.Type) {}")
      check(type, "_alias", "\(function)(_StoredTypes._type\(name)")
    } else {
      for (number, part) in names.enumerated() {
        declarations.append("typealias _name\(name)_\(number) = \(part.text(in: ownName))")
        check(part, "_\(number)", "SiloChecks.named(_StoredTypes._name\(name)_\(number)")
      }
    }
  }
}

extension TypeSyntax {
  /// Whether the name stands for the same plain type in every program.
  fileprivate var isFixedName: Bool {
    ["TimeInterval", "Foundation.TimeInterval"].contains(trimmedDescription)
  }
}
