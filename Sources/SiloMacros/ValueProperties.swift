// ValueProperties: the stored properties of a struct, and the code that writes and reads them.

internal import MacroSupport
internal import SwiftSyntax
internal import SwiftSyntaxMacros

/// A stored property and its slot.
struct ValueProperty {
  let property: StoredProperty
  let type: TypeSyntax
  let slot: Int

  var name: String { property.name }
  var identifier: String { property.identifier }
  /// The type as an expression: `(String?).self`.
  var metatype: String { "(\(type.trimmedDescription)).self" }
  /// The default, if it is a constant.
  var constant: String? { property.binding.initializer?.value.constant(of: type) }
  /// The default, if it is none, and shapes of earlier releases have it as one.
  private var formerConstant: String? {
    property.binding.initializer?.value.formerConstant(of: type)
  }
  var entry: ShapeEntry {
    let fixed = alwaysWrittenDefault == nil ? nil : property.binding.initializer?.value
    return ShapeEntry(
      name: name, code: type.code, constant: constant ?? fixed?.alwaysWritten(as: type),
      formerConstant: formerConstant, absence: absence, parts: [ShapePart(type: type)])
  }

  /// What rows read that have no such property.
  private var absence: ShapeEntry.Absence {
    guard constant == nil, let value = property.binding.initializer?.value else { return .byType }
    if alwaysWrittenDefault != nil { return .byDefault }
    let isUnread = formerConstant != nil || type.hasAbsentValue && !value.isNothing(of: type)
    return isUnread ? .otherwise : .byType
  }

  /// The expression of a default that is a constant and is written nevertheless, since rows cannot
  /// hold it as one: only rows without the property read it.
  private var alwaysWrittenDefault: String? {
    guard let value = property.binding.initializer?.value, !type.code.hasSuffix("?"),
      hasAllDefaults || (!value.isNothing(of: type) && value.isFixed(as: type))
    else { return nil }
    return value.trimmedDescription
  }

  /// Whether the default is a struct's `init()`, whose value rows without the property read.
  private var hasAllDefaults: Bool {
    property.binding.initializer?.value.isAllDefaults(of: type) == true
  }

  /// The expression of the default, for reading; nil if there is none that is constant, or was one
  /// for earlier releases.
  var defaultExpression: String? {
    constant ?? formerConstant == nil
      ? nil : property.binding.initializer?.value.trimmedDescription
  }

  /// Whether a value at the default is left out, in Swift; nil if it is. A member is constant only
  /// if it is a case, which the type knows.
  private var isLeftOut: String? {
    if formerConstant != nil { return "false" }
    guard constant != nil, let name = property.binding.initializer?.value.memberName else {
      return nil
    }
    return
      "\(isChecked ? "\(storedType).Value" : type.trimmedDescription)._hasCase(\(name.literal))"
  }

  /// Whether the compiler has to check that the type can be stored.
  var isChecked: Bool { !type.isKnown }
  /// The type's name in the generated code, if it is checked.
  private var storedType: String { "_StoredTypes._\(slot)" }

  /// The default for reading, if it names more than what is known everywhere.
  var namedDefault: ExprSyntax? {
    guard defaultExpression != nil || alwaysWrittenDefault != nil,
      let value = property.binding.initializer?.value, value.namesMore(than: type)
    else { return nil }
    return value
  }

  /// The access modifier of a declaration that spells the property's type.
  /// - Parameter access: That of the struct's members.
  func access(in access: String) -> String {
    let modifiers = property.declaration.modifiers
    if type.isStandardOnly || modifiers.has(.public, .package) { return access }
    return modifiers.arePrivate ? "fileprivate " : ""
  }

  /// The property in a description.
  func description() -> String {
    var arguments = [name.literal, isChecked ? "\(storedType).Value.self" : metatype]
    if let defaultExpression { arguments.append("default: \(defaultExpression)") }
    if let isLeftOut { arguments.append("isLeftOut: \(isLeftOut)") }
    if property.attribute("Unique") != nil {
      arguments.append("index: .unique")
    } else if property.attribute("Indexed") != nil {
      arguments.append("index: .indexed")
    }
    return "CanonicalProperty(\(arguments.commas))"
  }

  /// The statement that writes the property.
  var writing: String {
    isChecked
      ? "\(storedType).write(self.\(identifier), to: &_writer)"
      : "_writer.write(self.\(identifier))"
  }

  /// The statement that reads the property.
  var reading: String {
    let expression =
      namedDefault == nil
      ? defaultExpression ?? alwaysWrittenDefault : "_StoredTypes._default\(slot)"
    let fallback = expression.map { ", default: \($0)" } ?? ""
    let call = isChecked ? "\(storedType).read(_reader, \(slot)" : "_reader.read(\(slot)"
    return "self.\(identifier) = try \(call)\(fallback))"
  }
}

extension [ValueProperty] {
  /// Whether code that names the properties uses what is deprecated.
  var areDeprecated: Bool { contains { !$0.property.attributes.deprecations.isEmpty } }
}

extension PropertyRequirements {
  /// What the properties of a value may be.
  static var value: Self {
    .stored(
      StorageRules(
        noun: "value", marks: ["Indexed", "Unique", "Ignored", "Retains", "DeleteRule"],
        ignored: "Ignored",
        infersLiterals: true, unstorableReason: \.unstorableReason))
  }
}

/// The properties of a struct that are stored. Returns nil after reporting an error if one cannot
/// be.
/// - Parameter isPart: Whether the struct is a part of values, rather than a value itself.
func valueProperties(
  of declaration: some DeclGroupSyntax, isPart: Bool, in context: some MacroExpansionContext
) -> [ValueProperty]? {
  guard let all = storedProperties(of: declaration, for: .value, in: context) else { return nil }
  var isValid = true
  var properties: [ValueProperty] = []
  for property in all where property.attribute("Ignored") == nil {
    guard let type = property.typeSyntax else { continue }
    let marks = ["Indexed", "Unique"].compactMap { property.attribute($0) }
    if let mark = marks.first, let reason = type.unindexableReason {
      context.reportError(
        mark, "unindexable", "'\(property.name)' cannot have an index: \(reason)")
      isValid = false
    }
    let isFollowed = checkRelationIsFollowed(property.name, type, isPart: isPart, in: context)
    isValid = checkRelationMarks(of: property, type, in: context) && isFollowed && isValid
    properties.append(ValueProperty(property: property, type: type, slot: properties.count))
  }
  return isValid ? properties : nil
}

extension TypeSyntax {
  /// Why a property of the type has no index, if its spelling shows that.
  fileprivate var unindexableReason: String? {
    let code = code
    if ["[", "{", "X", "@{", "@["].contains(where: code.hasPrefix) {
      return "a collection has no order"
    }
    return nil
  }
}
