// What a struct must not have to be a record, told at its place: parameters, types without bytes, names that are generated, a function for
// older versions that would not be called.

internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// Whether a type is one type: specialisations of a generic one would share a tag and a version. Says so if it is not.
func checkGenerics(
  of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
) -> Bool {
  for type in [Syntax(declaration)] + context.lexicalContext {
    let clause =
      (type.asProtocol((any SyntaxProtocol).self) as? any WithGenericParametersSyntax)?
      .genericParameterClause
    guard let clause else { continue }
    context.refuse(
      type.id == declaration.id ? Syntax(clause) : Syntax(declaration.introducer), "generic",
      "a record cannot be generic: all its specialisations would have the same prefix and version; "
        + "declare a struct for each type of value")
    return false
  }
  return true
}

/// Whether no member of a struct has a name that is generated. Says so of each that has.
func checkNames(
  of declaration: some DeclGroupSyntax, in context: some MacroExpansionContext
) -> Bool {
  let ofInstances = ["indexKey", "fields", "Empire"]
  let ofType = [
    "keyPrefix", "fieldsVersion", "indexTags", "recordDescription", "IndexKey", "Fields",
    "RecordTypes", "Empire",
  ]
  var isRight = true
  func check(_ name: TokenSyntax, among names: [String]) {
    guard names.contains(unquoted(name.text)) else { return }
    let reason =
      name.text == "Empire"
      ? "hides the module in what @IndexKeyRecord generates"
      : "is the name of a member that @IndexKeyRecord generates"
    context.refuse(name, "generatedName", "'\(name.text)' \(reason); choose another name")
    isRight = false
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
  return isRight
}

/// Whether what reads older versions is what the protocol asks for, so that it is called. Says so if it is not.
func checkMigration(
  of declaration: some DeclGroupSyntax, name: String, in context: some MacroExpansionContext
) -> Bool {
  let functions = declaration.memberBlock.members.compactMap {
    $0.decl.as(FunctionDeclSyntax.self)
  }.filter { function in
    // Functions of the same name that read something else are the program's own business.
    let parameters = Array(function.signature.parameterClause.parameters)
    return function.name.text == "deserialize" && parameters.count == 2
      && parameters[0].type.trimmedDescription.contains("Deserializer")
  }
  guard let first = functions.first, !functions.contains(where: { isMigration($0, name) }) else {
    return true
  }
  context.refuse(
    first.name, "migration",
    "older versions are read by 'static func deserialize(with deserializer: consuming "
      + "RecordDeserializer, version: IndexKeyRecordHash) throws -> sending \(name)'; "
      + "this function would never be called")
  return false
}

/// Whether a function is a witness of `deserialize(with:version:)`.
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

extension TypeSyntax {
  /// Whether it is made of types that are known to be storable, so that nothing has to be asked for.
  var isKnown: Bool {
    if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.isKnown }
    if let array = self.as(ArrayTypeSyntax.self) { return array.element.isKnown }
    if let dictionary = self.as(DictionaryTypeSyntax.self) {
      return dictionary.key.isKnown && dictionary.value.isKnown
    }
    return [
      "String", "Bool", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16",
      "UInt32", "UInt64", "Float", "Double", "Date", "UUID", "Data",
    ].contains(trimmedDescription)
  }

  /// Why values of a type have no bytes, whatever conformances a program declares; nil if it may have some.
  var reasonAgainstStorage: String? {
    if let attributed = self.as(AttributedTypeSyntax.self) {
      return attributed.baseType.reasonAgainstStorage
    }
    if let optional = self.as(OptionalTypeSyntax.self) {
      return optional.wrappedType.reasonAgainstStorage
    }
    if let array = self.as(ArrayTypeSyntax.self) { return array.element.reasonAgainstStorage }
    if let dictionary = self.as(DictionaryTypeSyntax.self) {
      return dictionary.key.reasonAgainstStorage ?? dictionary.value.reasonAgainstStorage
    }
    if let tuple = self.as(TupleTypeSyntax.self) {
      if tuple.elements.count == 1, let only = tuple.elements.first, only.firstName == nil {
        return only.type.reasonAgainstStorage
      }
      return "a tuple of Swift has no conformances; use 'Tuple', or a property for each element"
    }
    if self.is(FunctionTypeSyntax.self) { return "a function is no value that could be stored" }
    if self.is(MetatypeTypeSyntax.self) { return "a type is no value that could be stored" }
    if self.is(SomeOrAnyTypeSyntax.self) || ["Any", "AnyObject"].contains(trimmedDescription) {
      return "it has to be one type, known when the record is read"
    }
    return nil
  }
}
