// @IndexKeyRecord: makes a struct a record.
//
// The generated members stand in the body of the struct, where types mean what they mean to its
// author. An extension at top level has the conformance, and the prefix, which depends on the full
// name of the type.
//
// Names in the generated code must not collide with the names of properties. Parameters and locals
// therefore begin with an underscore and a number, or are in a scope without properties; types are
// qualified with their module, and properties with `self`.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

struct IndexKeyRecordMacro: MemberMacro, ExtensionMacro {
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
    guard let source = source(node, of: declaration, in: context) else { return [] }
    return [try ExtensionDeclSyntax("\(raw: source.conformance(of: type.trimmedDescription))")]
  }

  /// Returns nil after reporting an error if the struct cannot be a record.
  private static func source(
    _ node: AttributeSyntax, of declaration: some DeclGroupSyntax,
    in context: some MacroExpansionContext
  ) -> RecordSource? {
    guard declaration.is(StructDeclSyntax.self) else {
      let keyword = declaration.introducer
      let isClass = keyword.tokenKind == .keyword(.class)
      context.reportError(
        keyword, "noStruct", "@IndexKeyRecord needs a struct",
        fixIts: isClass
          ? [
            replace(
              keyword, with: keyword.with(\.tokenKind, .keyword(.struct)), "make it a 'struct'")
          ] : [])
      return nil
    }
    let name = declaration.asProtocol((any NamedDeclSyntax).self)?.name.text ?? ""
    guard
      let arguments = RecordArguments(node, of: declaration, in: context),
      checkGenerics(
        of: declaration, noun: "record", because: "the same prefix and version", in: context),
      checkAccess(of: declaration, "@IndexKeyRecord", in: context),
      checkNames(of: declaration, in: context),
      checkMigration(of: declaration, name: name, in: context),
      let properties = storedProperties(of: declaration, for: .record, in: context),
      let record = RecordDescription(
        name: name, access: memberAccess(of: declaration, in: context), arguments: arguments,
        properties: properties, declaration: declaration, in: context),
      checkInitializers(of: declaration, properties: properties, in: context)
    else { return nil }
    let initializer = publicInitializer(
      node, of: declaration, properties, isStandard: \.isKnownToBeStorable, in: context)
    return RecordSource(
      record, initializer: initializer,
      isDeprecated: properties.contains { !$0.attributes.deprecations.isEmpty })
  }
}

/// The parsed declaration of a record.
struct RecordDescription {
  struct Property {
    /// The name as it is declared, including backticks.
    let identifier: String
    let type: String
    /// The position among all properties.
    let position: Int
    /// The declaration of a name for the type, in another type; nil if the compiler need not check
    /// that the type can be stored.
    fileprivate(set) var check: String?
    /// The texts that upstream may have hashed for the type.
    let upstreamTypes: [String]
    var name: String { unquoted(identifier) }
    /// Whether the property has this name. The compiler compares the bytes of names, and Swift's
    /// `==` takes other normal forms of them for equal.
    func isNamed(_ other: String) -> Bool { name.utf8.elementsEqual(other.utf8) }
    /// The name as an argument label. Few words are reserved there, but a name in backticks may
    /// have any characters.
    var label: String {
      let isPlain = name.allSatisfy { $0.isLetter || $0.isNumber || $0 == "_" }
      return isPlain && name.first?.isNumber == false && !["inout", "let", "var"].contains(name)
        ? name : identifier
    }
  }

  /// The access modifier of generated members.
  let access: String
  /// The prefix that the declaration states; nil if it is the hash of the type's name.
  let keyPrefix: UInt32?
  let fieldsVersion: UInt32
  /// Whether the declaration states the version, which is the hash of the fields otherwise.
  let isVersionGiven: Bool
  /// Other versions that are stored with the same fields: upstream's hashes, which include the
  /// blank behind a type that a default value or a comment follows, or the comment.
  let equalFieldsVersions: [UInt32]
  /// In the order of the arguments.
  let keys: [Property]
  /// In the order of declaration.
  let fields: [Property]
  /// Keys and fields, in the order of declaration.
  let all: [Property]
  /// In the order of the attributes.
  let indexes: [Index]

  /// Returns nil after reporting an error if the arguments do not match the properties.
  init?(
    name: String, access: String, arguments: RecordArguments, properties: [StoredProperty],
    declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
  ) {
    var isValid = true
    let keyNames = arguments.names.map { unquoted($0.text) }
    let all = properties.enumerated().compactMap { position, property in
      property.typeSyntax.map { type in
        var found = Property(
          identifier: property.identifier, type: type.trimmedDescription, position: position,
          upstreamTypes: type.upstreamTexts)
        if !type.isKnownToBeStorable {
          let isKey = keyNames.contains { found.isNamed($0) }
          let check = found.check(isKey: isKey, type.text(in: name), access)
          found.check = check.map { type.inItsLine($0, in: context) }.lines
        }
        return found
      }
    }
    let named = Self.properties(
      named: arguments.names, of: name, among: all, as: "key", in: context)
    let indexes = Self.indexes(
      of: declaration, name: name, keys: named ?? [], all: all, in: context)
    if named == nil || indexes == nil { isValid = false }
    let keys = named ?? []
    for key in keys {
      guard let reason = key.unsortableReason,
        let property = properties.first(where: { key.isNamed($0.name) })
      else { continue }
      context.reportError(
        property.binding, "unsortableKey", "'\(key.name)' cannot be part of the key: \(reason)")
      isValid = false
    }
    let fields = all.filter { property in !keys.contains { $0.position == property.position } }
    let hash = typeHash(fields.map(\.type).joined(separator: ","))
    let upstreamHashes = (fields.first?.upstreamTypes.indices ?? 0..<0).map { form in
      typeHash(fields.map { $0.upstreamTypes[form] }.joined(separator: ","))
    }
    let hashes = ([hash] + upstreamHashes).reduce(into: [UInt32]()) { hashes, next in
      if !hashes.contains(next) { hashes.append(next) }
    }
    if let validated = arguments.validated, !hashes.contains(validated.value) {
      context.reportError(
        validated.expression, "validation",
        "the types of the fields have changed: their hash is \(hash), not \(validated.value)",
        fixIts: [
          replace(
            validated.expression,
            with: IntegerLiteralExprSyntax(literal: .integerLiteral("\(hash)")),
            "use \(hash); stored records will be migrated when they are read")
        ])
      isValid = false
    }
    guard isValid, let indexes else { return nil }
    self.access = access
    keyPrefix = arguments.keyPrefix?.value
    fieldsVersion = arguments.fieldsVersion?.value ?? hash
    isVersionGiven = arguments.fieldsVersion != nil
    equalFieldsVersions = isVersionGiven ? [] : Array(hashes.dropFirst())
    self.keys = keys
    self.fields = fields
    self.all = all
    self.indexes = indexes
  }

  /// The properties with the given names, in that order. Returns nil after reporting an error if a
  /// property does not exist or is named twice.
  static func properties(
    named arguments: [RecordArguments.Name], of name: String, among all: [Property],
    as role: String, in context: some MacroExpansionContext
  ) -> [Property]? {
    var found: [Property] = []
    for argument in arguments {
      let text = unquoted(argument.text)
      if found.contains(where: { $0.isNamed(text) }) {
        context.reportError(
          argument.expression, "repeatedName", "'\(text)' is already part of the \(role)")
      } else if let property = all.first(where: { $0.isNamed(text) }) {
        found.append(property)
      } else {
        let names = all.map(\.name)
        let suggestion = nearest(to: text, among: names)
        context.reportError(
          argument.expression, "unknownProperty",
          "'\(text)' is not a stored property of \(name); it has "
            + (names.isEmpty ? "none" : names.quoted),
          fixIts: suggestion.map {
            [
              replace(
                argument.expression, with: StringLiteralExprSyntax(content: $0), "use '\($0)'")
            ]
          } ?? [])
      }
    }
    return found.count == arguments.count ? found : nil
  }
}
