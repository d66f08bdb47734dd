// @PersistableValue: makes a struct or enum a part of stored values.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

struct PersistableValueMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    guard
      checkGenerics(
        of: declaration, noun: "stored value", because: "one layout", in: context)
    else { return [] }
    let name = type.trimmedDescription
    let access = memberAccess(of: declaration, in: context)
    let texts: [String]?
    if let declaration = declaration.as(EnumDeclSyntax.self) {
      texts = EnumSource(node, of: declaration, name: name, access: access, in: context)?.texts
    } else if declaration.is(StructDeclSyntax.self) {
      texts = StructSource(node, of: declaration, name: name, access: access, in: context)?.texts
    } else {
      context.reportError(
        declaration.introducer, "noValue", "@PersistableValue needs a struct or an enum")
      return []
    }
    return try texts?.map { try ExtensionDeclSyntax("\(raw: $0)") } ?? []
  }
}

/// The extension of a struct inside stored values.
private struct StructSource {
  let name: String
  let access: String
  let properties: [ValueProperty]
  let checks: [String]
  let isID: Bool

  init?(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax, name: String, access: String,
    in context: some MacroExpansionContext
  ) {
    guard let properties = valueProperties(of: declaration, isPart: true, in: context) else {
      return nil
    }
    let check = ShapeCheck(
      attribute: node, argument: node.argument("shape"), shape: Shape(properties.map(\.entry)),
      places: properties.map { Syntax($0.property.binding) }, advice: innerAdvice)
    guard check.report(in: context) else { return nil }
    self.name = name
    self.access = access
    self.properties = properties
    checks = typeChecks(of: properties, in: context)
    let inherited = declaration.inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription)
    isID =
      inherited?.contains("Hashable") == true && !properties.isEmpty
      && properties.allSatisfy(\.type.isIDPart)
  }

  var texts: [String] {
    let list = properties.map { "  " + $0.description() }.joined(separator: ",\n")
    let ownName = name.split(separator: ".").last ?? ""
    let slots = properties.map { "\\Self.\($0.identifier): \($0.slot)" }
    let parts = [
      """
      \(access)static let _fields = CanonicalFields(
        "\(ownName)",
        [
      \(list)
        ])
      """,
      "\(access)static var _slots: [PartialKeyPath<Self>: Int] { [\(slots.isEmpty ? ":" : slots.commas)] }",
      properties.map { "_writer.write(self.\($0.identifier))" }.lines
        .wrapped(in: "\(access)func _write(to _writer: inout CanonicalWriter)"),
      properties.map(\.reading).lines
        .wrapped(in: "\(access)init(_reading _reader: CanonicalReader) throws"),
    ]
    let value = (checks + parts).joined(separator: "\n\n")
      .wrapped(in: "nonisolated extension \(name): PersistableStruct")
    return isID ? [value, id] : [value]
  }

  /// The conformance that makes it possible as an id.
  private var id: String {
    let reading =
      ["guard var _text = IDText(_key, count: \(properties.count)) else { return nil }"]
      + properties.map {
        "guard let _\($0.slot): \($0.type.trimmedDescription) = _text.next() else { return nil }"
      } + properties.map { "self.\($0.identifier) = _\($0.slot)" }
    return [
      "IDText.text(\(properties.map { "self.\($0.identifier)" }.commas))"
        .wrapped(in: "\(access)var _key: String"),
      reading.lines.wrapped(in: "\(access)init?(_key: String)"),
    ].joined(separator: "\n\n").wrapped(in: "nonisolated extension \(name): PersistableID")
  }
}

/// What to do if a part of stored values would be misread.
let innerAdvice =
  "make a new type and a new version of the values that contain it (see \"Versions\"); its "
