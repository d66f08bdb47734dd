// TypeCode: the types of properties, as they are spelled: their codes in shapes, and which of them
// cannot be stored.

internal import MacroSupport
internal import SwiftSyntax

extension TypeSyntax {
  private static let codes = [
    "Bool": "B", "Int": "I", "Int8": "I8", "Int16": "I16", "Int32": "I32", "Int64": "I64",
    "UInt": "W", "UInt8": "W8", "UInt16": "W16", "UInt32": "W32", "UInt64": "W64", "Float": "R32",
    "Double": "R", "Decimal": "N", "String": "S", "Data": "X", "Date": "D", "UUID": "U", "URL": "L",
  ]
  /// The types that a part of an id may have.
  private static let idCodes: Set<String> = [
    "S", "U", "I", "I8", "I16", "I32", "I64", "W", "W8", "W16", "W32", "W64",
  ]

  /// The type in a shape: the same for all spellings of a standard type.
  var code: String {
    if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.code + "?" }
    if let array = self.as(ArrayTypeSyntax.self) { return "[\(array.element.code)]" }
    if let dictionary = self.as(DictionaryTypeSyntax.self) {
      return "[\(dictionary.key.code):\(dictionary.value.code)]"
    }
    if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
      let only = tuple.elements.first
    {
      return only.type.code
    }
    let (name, arguments) = nameAndArguments
    switch (name, arguments.count) {
    case ("Optional", 1): return arguments[0].code + "?"
    case ("Array", 1): return "[\(arguments[0].code)]"
    case ("Set", 1): return "{\(arguments[0].code)}"
    case ("Dictionary", 2): return "[\(arguments[0].code):\(arguments[1].code)]"
    case ("RelatedItem", 1): return "@\(arguments[0].ownName)"
    case ("RelatedItems", 1): return "@{\(arguments[0].ownName)}"
    case ("RelatedList", 1): return "@[\(arguments[0].ownName)]"
    default: return Self.codes[name] ?? ownName
    }
  }

  /// The plain type with a letter; nil if there is none.
  static func plainType(of letter: String) -> String? {
    codes.first { $0.value == letter }?.key
  }

  /// Whether the type consists of standard types and relations only.
  var isKnown: Bool { named.isEmpty }

  /// The types in this one that a shape has only the names of.
  var named: [TypeSyntax] {
    if let optional = self.as(OptionalTypeSyntax.self) { return optional.wrappedType.named }
    if let array = self.as(ArrayTypeSyntax.self) { return array.element.named }
    if let dictionary = self.as(DictionaryTypeSyntax.self) {
      return dictionary.key.named + dictionary.value.named
    }
    if let tuple = self.as(TupleTypeSyntax.self), tuple.elements.count == 1,
      let only = tuple.elements.first
    {
      return only.type.named
    }
    if code.hasPrefix("@") || Self.codes.values.contains(code) { return [] }
    return code == ownName ? [self] : nameAndArguments.arguments.flatMap(\.named)
  }

  /// Whether the type consists of standard types only, which are public.
  var isStandardOnly: Bool { isKnown && !code.contains("@") }

  /// Whether values of the type may be parts of an id.
  var isIDPart: Bool { Self.idCodes.contains(code) }

  /// Whether an absent property of this type reads as empty or nil.
  var hasAbsentValue: Bool {
    let code = code
    return code.hasSuffix("?") || code.hasPrefix("[") || code.hasPrefix("{")
      || code.hasPrefix("@{") || code.hasPrefix("@[")
  }

  /// Whether the type is a relation to several values.
  var isToMany: Bool { code.hasPrefix("@{") || code.hasPrefix("@[") }

  /// Whether a constant of the type can be told from its literal.
  var isLiteralType: Bool {
    guard let code = Self.codes[lastName] else { return false }
    return !["D", "U", "X", "L", "N"].contains(code)
  }

  /// The modules whose types a shape has letters for.
  private static let modules: Set<String> = ["Swift", "Foundation", "FoundationEssentials", "Silo"]

  /// The name, and the generic arguments. The name of a type in another one begins with that one's:
  /// `Response.Data` is not `Data`. Modules of standard types are left out.
  var nameAndArguments: (name: String, arguments: [TypeSyntax]) {
    func types(_ clause: GenericArgumentClauseSyntax?) -> [TypeSyntax] {
      clause?.arguments.compactMap {
        guard case .type(let type) = $0.argument else { return nil }
        return type
      } ?? []
    }
    if let identifier = self.as(IdentifierTypeSyntax.self) {
      return (unquoted(identifier.name.text), types(identifier.genericArgumentClause))
    }
    if let member = self.as(MemberTypeSyntax.self) {
      let name = unquoted(member.name.text)
      let base = member.baseType.trimmedDescription
      return (
        Self.modules.contains(base) ? name : "\(base).\(name)", types(member.genericArgumentClause)
      )
    }
    return (trimmedDescription, [])
  }

  /// The last part of the name. What is a constant goes by it, also for an alias inside another
  /// type: values that were left out at such a default stay found.
  var lastName: String {
    let name = nameAndArguments.name
    return name.split(separator: ".").last.map(String.init) ?? name
  }

  /// The spelling without blanks; in backticks if it is also a code.
  var ownName: String {
    let text = trimmedDescription.filter { !$0.isWhitespace && $0 != "=" }
    return Self.codes.values.contains(text) ? "`\(text)`" : text
  }

  /// Why values of the type cannot be stored; nil if they may be.
  var unstorableReason: String? {
    if let attributed = self.as(AttributedTypeSyntax.self) {
      return attributed.baseType.unstorableReason
    }
    if let optional = self.as(OptionalTypeSyntax.self) {
      return optional.wrappedType.reasonAgainstOptional
    }
    if self.is(ImplicitlyUnwrappedOptionalTypeSyntax.self) { return "write '?' instead of '!'" }
    if let array = self.as(ArrayTypeSyntax.self) { return array.element.unstorableReason }
    if let dictionary = self.as(DictionaryTypeSyntax.self) {
      return dictionary.key.reasonAgainstKey ?? dictionary.value.unstorableReason
    }
    if let tuple = self.as(TupleTypeSyntax.self) {
      if tuple.elements.count == 1, let only = tuple.elements.first, only.firstName == nil {
        return only.type.unstorableReason
      }
      return "a tuple cannot conform to protocols; use a struct that is '@PersistableValue'"
    }
    if self.is(FunctionTypeSyntax.self) { return "a function cannot be stored" }
    if self.is(MetatypeTypeSyntax.self) { return "a type cannot be stored" }
    if self.is(SomeOrAnyTypeSyntax.self) || ["Any", "AnyObject"].contains(trimmedDescription) {
      return "its concrete type must be known when it is read"
    }
    let (name, arguments) = nameAndArguments
    switch (name, arguments.count) {
    case ("Optional", 1): return arguments[0].reasonAgainstOptional
    case ("Array", 1), ("Set", 1): return arguments[0].unstorableReason
    case ("Dictionary", 2): return arguments[0].reasonAgainstKey ?? arguments[1].unstorableReason
    case ("Character", 0), ("Substring", 0): return "use 'String'"
    default: return nil
    }
  }

  /// Why optionals of the type cannot be stored; nil if they may be.
  private var reasonAgainstOptional: String? {
    code.hasSuffix("?")
      ? "an optional of an optional has two kinds of nil; use one '?'" : unstorableReason
  }

  /// Why values of the type cannot be keys of stored dictionaries; nil if they may be.
  private var reasonAgainstKey: String? {
    let code = code
    if ["R", "R32", "D", "B", "X", "U", "L", "N"].contains(code) || code.hasSuffix("?") {
      return "the keys of a stored dictionary are strings, integers or enums; "
        + "use an array of structs"
    }
    return unstorableReason
  }
}
