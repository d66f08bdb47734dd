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
  var entry: ShapeEntry {
    ShapeEntry(name: name, code: type.code, constant: constant, absence: absence)
  }

  /// What rows read that have no such property.
  private var absence: ShapeEntry.Absence {
    guard constant == nil, let value = property.binding.initializer?.value else { return .byType }
    if alwaysWrittenDefault != nil { return .byDefault }
    return type.hasAbsentValue && !value.isNothing(of: type) ? .otherwise : .byType
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

  /// The expression of the default, for reading; nil if there is none that is constant.
  var defaultExpression: String? {
    constant == nil ? nil : property.binding.initializer?.value.trimmedDescription
  }

  /// The property in a description.
  func description(key: String? = nil) -> String {
    var arguments = ["\"\(name)\"", key ?? metatype]
    if let defaultExpression { arguments.append("default: \(defaultExpression)") }
    if property.attribute("Unique") != nil {
      arguments.append("index: .unique")
    } else if property.attribute("Indexed") != nil {
      arguments.append("index: .indexed")
    }
    return "CanonicalProperty(\(arguments.commas))"
  }

  /// The statement that reads the property.
  var reading: String {
    let fallback = (defaultExpression ?? alwaysWrittenDefault).map { ", default: \($0)" } ?? ""
    return "self.\(identifier) = try _reader.read(\(slot)\(fallback))"
  }
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

/// Declarations by which the compiler reports types that cannot be stored at their properties.
/// Other errors about them are about the generated code.
func typeChecks(
  of properties: [ValueProperty], in context: some MacroExpansionContext
) -> [String] {
  properties.compactMap { property in
    let isIndexed = ["Indexed", "Unique"].contains { property.property.attribute($0) != nil }
    return typeCheck(property.name, property.type, isIndexed: isIndexed, in: context)
  }
}

/// A declaration by which the compiler reports a type that cannot be stored, at its place; nil if
/// the spelling shows that it can be.
/// - Parameters:
///   - name: A part of the declaration's name.
///   - isIndexed: Whether the property has an index.
func typeCheck(
  _ name: String, _ type: TypeSyntax, isIndexed: Bool = false,
  in context: some MacroExpansionContext
) -> String? {
  guard !type.isKnown,
    let place = context.location(of: type, at: .afterLeadingTrivia, filePathMode: .filePath)
  else { return nil }
  let (file, line) = (place.file.trimmedDescription, place.line.trimmedDescription)
  // Of two errors about one property the first would be enough.
  let (kind, generic) =
    isIndexed ? ("_Indexed", "SiloIndexedProperty") : ("_Stored", "SiloStoredProperty")
  return """
    #sourceLocation(file: \(file), line: \(line))
    private typealias \(kind)_\(name) = \(generic)<\(type.trimmedDescription)>
    #sourceLocation()
    """
}
