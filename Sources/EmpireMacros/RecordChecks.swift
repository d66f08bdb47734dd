// Checks that a struct can be a record. Errors are reported where they occur: generic parameters,
// types that cannot be stored, names that the macro generates, migration functions that would never
// be called.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// Checks that no member of a struct has a name that the macro generates. Reports an error for each
/// one that has.
func checkNames(
  of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
) -> Bool {
  let ofInstances = ["indexKey", "fields", "Empire"]
  let ofType = [
    "keyPrefix", "fieldsVersion", "equalFieldsVersions", "indexTags", "recordDescription",
    "IndexKey", "Fields", "RecordTypes", "Empire",
  ]
  var isValid = true
  func check(_ name: TokenSyntax, among names: [String]) {
    guard names.contains(unquoted(name.text)) else { return }
    let reason =
      name.text == "Empire"
      ? "hides the module in what @IndexKeyRecord generates"
      : "is the name of a member that @IndexKeyRecord generates"
    context.reportError(name, "generatedName", "'\(name.text)' \(reason); choose another name")
    isValid = false
  }
  for member in declaration.memberBlock.members {
    if let variable = member.decl.as(VariableDeclSyntax.self) {
      let isStatic = variable.modifiers.contains { $0.name.tokenKind == .keyword(.static) }
      for binding in variable.bindings {
        guard let name = binding.pattern.as(IdentifierPatternSyntax.self)?.identifier else {
          continue
        }
        check(name, among: isStatic ? ofType : ofInstances)
      }
    } else if let type = member.decl.asProtocol((any NamedDeclSyntax).self),
      !member.decl.is(FunctionDeclSyntax.self)
    {
      check(type.name, among: ofType)
    }
  }
  return isValid
}

/// Checks that a migration function satisfies the protocol's requirement, so that it is called.
/// Reports an error otherwise.
func checkMigration(
  of declaration: some DeclGroupSyntax, name: String, in context: some MacroExpansionContext
) -> Bool {
  let functions = declaration.memberBlock.members.compactMap {
    $0.decl.as(FunctionDeclSyntax.self)
  }.filter { function in
    // Functions of the same name that take something else are not migrations and are ignored.
    let parameters = Array(function.signature.parameterClause.parameters)
    return function.name.text == "deserialize" && parameters.count == 2
      && parameters[0].firstName.text == "with" && parameters[1].firstName.text == "version"
      && parameters[0].type.trimmedDescription.contains("Deserializer")
  }
  guard let first = functions.first, !functions.contains(where: { isMigration($0, name) }) else {
    return true
  }
  context.reportError(
    first.name, "migration",
    "older versions are read by 'static func deserialize(with deserializer: consuming "
      + "RecordDeserializer, version: IndexKeyRecordHash) throws -> sending \(name)'; "
      + "this function would never be called")
  return false
}

/// Whether a function satisfies the requirement `deserialize(with:version:)`.
private func isMigration(_ function: FunctionDeclSyntax, _ name: String) -> Bool {
  func text(_ syntax: some SyntaxProtocol) -> String {
    syntax.trimmedDescription.split(separator: ".").last.map(String.init) ?? ""
  }
  let signature = function.signature
  let parameters = Array(signature.parameterClause.parameters)
  guard parameters.count == 2,
    function.modifiers.contains(where: { $0.name.tokenKind == .keyword(.static) }),
    parameters[1].firstName.text == "version",
    ["IndexKeyRecordHash", "UInt32"].contains(text(parameters[1].type)),
    let deserializer = parameters[0].type.as(AttributedTypeSyntax.self),
    deserializer.specifiers.trimmedDescription == "consuming",
    text(deserializer.baseType) == "RecordDeserializer",
    signature.effectSpecifiers?.asyncSpecifier == nil,
    let result = signature.returnClause?.type.as(AttributedTypeSyntax.self),
    result.specifiers.trimmedDescription == "sending"
  else { return false }
  let own = name.split(separator: ".").last.map(String.init) ?? name
  return ["Self", own].contains(text(result.baseType))
}

extension PropertyRequirements {
  /// What the properties of a record may be.
  static var record: Self {
    .stored(StorageRules(noun: "record", unstorableReason: \.unstorableReason))
  }
}

extension TypeSyntax {
  /// Whether the type consists only of types that are known to be storable, so that the compiler
  /// need not check it.
  var isKnownToBeStorable: Bool {
    if let optional = self.as(OptionalTypeSyntax.self) {
      return optional.wrappedType.isKnownToBeStorable
    }
    if let array = self.as(ArrayTypeSyntax.self) { return array.element.isKnownToBeStorable }
    if let dictionary = self.as(DictionaryTypeSyntax.self) {
      return dictionary.key.isKnownToBeStorable && dictionary.value.isKnownToBeStorable
    }
    return [
      "String", "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16",
      "UInt32", "UInt64", "Int128", "UInt128", "Float", "Double", "Date", "UUID", "Data", "Decimal",
    ].contains(trimmedDescription)
  }

  /// The reason why no conformance can make a type storable; nil if it may be storable.
  var unstorableReason: String? {
    if let attributed = self.as(AttributedTypeSyntax.self) {
      return attributed.baseType.unstorableReason
    }
    if let optional = self.as(OptionalTypeSyntax.self) {
      return optional.wrappedType.unstorableReason
    }
    if let array = self.as(ArrayTypeSyntax.self) { return array.element.unstorableReason }
    if let dictionary = self.as(DictionaryTypeSyntax.self) {
      return dictionary.key.unstorableReason ?? dictionary.value.unstorableReason
    }
    if let tuple = self.as(TupleTypeSyntax.self) {
      if tuple.elements.count == 1, let only = tuple.elements.first, only.firstName == nil {
        return only.type.unstorableReason
      }
      return
        "a Swift tuple cannot conform to protocols; use 'Tuple', or a property for each element"
    }
    if self.is(FunctionTypeSyntax.self) { return "a function is not a storable value" }
    if self.is(MetatypeTypeSyntax.self) { return "a type is not a storable value" }
    if self.is(SomeOrAnyTypeSyntax.self) || ["Any", "AnyObject"].contains(trimmedDescription) {
      return "its concrete type must be known when the record is read"
    }
    return nil
  }
}
