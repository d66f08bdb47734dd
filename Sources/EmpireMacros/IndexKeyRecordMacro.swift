// @IndexKeyRecord: makes a struct a record.
//
// Names in the generated code must not collide with the names of properties. Parameters and locals
// therefore begin with an underscore and a number, or are in a scope without properties; types are
// qualified with their module, and properties with `self`.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxBuilder
internal import SwiftSyntaxMacros

struct IndexKeyRecordMacro: ExtensionMacro {
  static func expansion(
    of node: AttributeSyntax, attachedTo declaration: some DeclGroupSyntax,
    providingExtensionsOf type: some TypeSyntaxProtocol, conformingTo protocols: [TypeSyntax],
    in context: some MacroExpansionContext
  ) throws -> [ExtensionDeclSyntax] {
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
      return []
    }
    guard
      let arguments = RecordArguments(node, of: declaration, in: context),
      checkGenerics(
        of: declaration, noun: "record", because: "the same prefix and version", in: context),
      checkNames(of: declaration, in: context),
      checkMigration(of: declaration, name: type.trimmedDescription, in: context),
      let properties = storedProperties(of: declaration, for: .record, in: context),
      let record = RecordDescription(
        name: type.trimmedDescription, access: memberAccess(of: declaration, in: context),
        arguments: arguments, properties: properties, declaration: declaration, in: context),
      checkInitializers(of: declaration, properties: properties, in: context)
    else { return [] }
    return [try ExtensionDeclSyntax("\(raw: RecordSource(record).text)")]
  }
}

/// The parsed declaration of a record.
struct RecordDescription {
  struct Property {
    /// The name as it is declared, including backticks.
    let identifier: String
    let type: String
    /// The type as it stands in the source, with the blank that may follow it.
    let writtenType: String
    /// Whether the compiler has to check that the type can be stored.
    let isChecked: Bool
    var name: String { unquoted(identifier) }
    /// The name as an argument label; few words are reserved there.
    var label: String { ["inout", "let", "var"].contains(name) ? identifier : name }
  }

  /// The type's name, qualified with the names of the enclosing types.
  let name: String
  /// The access modifier of generated members.
  let access: String
  let keyPrefix: UInt32
  let fieldsVersion: UInt32
  /// Other versions that are stored with the same fields: upstream's hash, which includes the blank
  /// behind a type that a default value or a comment follows.
  let equalFieldsVersions: [UInt32]
  /// Whether the prefix is a hash of the name.
  let hasHashedPrefix: Bool
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
    let all = properties.compactMap { property in
      property.typeSyntax.map {
        Property(
          identifier: property.identifier, type: $0.trimmedDescription,
          writtenType: $0.description, isChecked: !$0.isKnownToBeStorable)
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
        let property = properties.first(where: { $0.name == key.name })
      else { continue }
      context.reportError(
        property.binding, "unsortableKey", "'\(key.name)' cannot be part of the key: \(reason)")
      isValid = false
    }
    let fields = all.filter { property in !keys.contains { $0.name == property.name } }
    let hash = typeHash(fields.map(\.type).joined(separator: ","))
    let upstreamHash = typeHash(fields.map(\.writtenType).joined(separator: ","))
    if let validated = arguments.validated, ![hash, upstreamHash].contains(validated.value) {
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
    self.name = name
    self.access = access
    keyPrefix = arguments.keyPrefix?.value ?? typeHash(name)
    hasHashedPrefix = arguments.keyPrefix == nil
    fieldsVersion = arguments.fieldsVersion?.value ?? hash
    equalFieldsVersions =
      arguments.fieldsVersion == nil && upstreamHash != hash ? [upstreamHash] : []
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
      if found.contains(where: { $0.name == text }) {
        context.reportError(
          argument.expression, "repeatedName", "'\(text)' is already part of the \(role)")
      } else if let property = all.first(where: { $0.name == text }) {
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
