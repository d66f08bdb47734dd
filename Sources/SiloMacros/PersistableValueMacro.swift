// @PersistableValue: makes a struct or enum a part of stored values.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

struct PersistableValueMacro: MemberMacro, ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, providingMembersOf declaration: some DeclGroupSyntax,
    conformingTo protocols: [TypeSyntax], in context: some MacroExpansionContext
  ) throws -> [DeclSyntax] {
    let source = source(node, of: declaration, in: SilentContext(context))
    return source?.members.map { "\(raw: $0)" } ?? []
  }

  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
    let source = source(node, of: declaration, in: context)
    return try source?.conformances(of: type.trimmedDescription).map {
      try ExtensionDeclSyntax("\(raw: $0)")
    } ?? []
  }

  /// Returns nil after reporting an error if values of the type cannot be stored.
  private static func source(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
    in context: some MacroExpansionContext
  ) -> (any PartSource)? {
    guard
      checkGenerics(
        of: declaration, noun: "stored value", because: "one layout", in: context),
      checkAccess(of: declaration, "@PersistableValue", in: context)
    else { return nil }
    if let declaration = declaration.as(EnumDeclSyntax.self) {
      return EnumSource(node, of: declaration, in: context)
    }
    if declaration.is(StructDeclSyntax.self) {
      return StructSource(node, of: declaration, in: context)
    }
    context.reportError(
      declaration.introducer, "noValue", "@PersistableValue needs a struct or an enum")
    return nil
  }
}

/// The code of a type inside stored values.
protocol PartSource {
  /// What stands in the body of the type.
  var members: [String] { get }
  /// The extensions of the type with a name.
  func conformances(of name: String) -> [String]
}

/// The code of a struct inside stored values.
private struct StructSource: PartSource {
  let ownName: String
  let access: String
  let properties: [ValueProperty]
  let storedTypes: StoredTypes
  let initializer: String?
  let isID: Bool

  init?(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
    in context: some MacroExpansionContext
  ) {
    guard let properties = valueProperties(of: declaration, isPart: true, in: context) else {
      return nil
    }
    let check = ShapeCheck(
      attribute: node, argument: node.argument("shape"), shape: Shape(properties.map(\.entry)),
      places: properties.map { Syntax($0.property.binding) }, advice: innerAdvice)
    let frozen = check.report(in: context)
    ownName = declaration.ownName
    access = memberAccess(of: declaration, in: context)
    self.properties = properties
    storedTypes = StoredTypes(
      properties, frozen, ownName: ownName, isRoot: false, in: context)
    initializer = memberwiseInitializer(node, of: declaration, in: context)
    let inherited = declaration.inheritanceClause?.inheritedTypes.map(\.type.trimmedDescription)
    isID =
      inherited?.contains("Hashable") == true && !properties.isEmpty
      && properties.allSatisfy(\.type.isIDPart)
  }

  var members: [String] {
    let list = properties.map { "  " + $0.description() }.joined(separator: ",\n")
    let slots = properties.map { "\\Self.\($0.identifier): \($0.slot)" }
    let all = [
      """
      nonisolated \(access)static let _fields = CanonicalFields(
        \(ownName.literal),
        [
      \(list)
        ])
      """,
      "nonisolated \(access)static var _slots: [PartialKeyPath<Self>: Int] { [\(slots.isEmpty ? ":" : slots.commas)] }",
      properties.map(\.writing).lines
        .wrapped(in: "nonisolated \(access)func _write(to _writer: inout CanonicalWriter)"),
    ]
    return [initializer].compactMap { $0 }
      + ([storedTypes.text].compactMap { $0 } + all).inDeprecated(properties.areDeprecated)
  }

  func conformances(of name: String) -> [String] {
    let reading = properties.map(\.reading).lines
      .wrapped(in: "\(access)init(_reading _reader: CanonicalReader) throws")
    let value = ([reading] + storedTypes.checksText).inDeprecated(properties.areDeprecated)
      .joined(separator: "\n\n").wrapped(in: "nonisolated extension \(name): PersistableStruct")
    return isID ? [value, id(name)] : [value]
  }

  /// The conformance that makes it possible as an id.
  private func id(_ name: String) -> String {
    let reading =
      ["guard var _text = IDText(_key, count: \(properties.count)) else { return nil }"]
      + properties.map {
        "guard let _\($0.slot): \($0.type.trimmedDescription) = _text.next() else { return nil }"
      } + properties.map { "self.\($0.identifier) = _\($0.slot)" }
    let members = [
      "IDText.text(\(properties.map { "self.\($0.identifier)" }.commas))"
        .wrapped(in: "\(access)var _key: String"),
      reading.lines.wrapped(in: "\(access)init?(_key: String)"),
    ]
    return members.inDeprecated(properties.areDeprecated).joined(separator: "\n\n")
      .wrapped(in: "nonisolated extension \(name): PersistableID")
  }
}

/// What to do if a part of stored values would be misread.
let innerAdvice =
  "make a new type and a new version of the values that contain it (see \"Versions\"); its "
