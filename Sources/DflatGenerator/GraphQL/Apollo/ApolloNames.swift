// ApolloNames: what the code generators of Apollo iOS call their classes and properties.

import GraphQLSchema

struct ApolloNames {
  /// Whether the classes are those of Apollo iOS before 1.0.
  let isClassic: Bool
  /// The enum or module that has them.
  let namespace: String?

  private func scoped(_ name: String) -> String { namespace.map { "\($0).\(name)" } ?? name }

  // MARK: Types

  /// The struct of an operation's data.
  func data(of operation: OperationSyntax, name: String) -> String {
    let suffix =
      operation.kind.rawValue.prefix(1).uppercased() + operation.kind.rawValue.dropFirst()
    let type =
      isClassic
      ? NameCase.pascal(name) + suffix
      : name.hasSuffix(suffix) ? upperFirst(name) : upperFirst(name) + suffix
    return scoped("\(type).Data")
  }

  /// The struct of a fragment.
  func type(of fragment: FragmentSyntax) -> String {
    let name = fragment.name.text
    return scoped(isClassic ? NameCase.pascal(name) : distinct(name, "_Fragment"))
  }

  /// The struct of a field's objects, inside that of the field's owner.
  func type(ofField key: String, isList: Bool) -> String {
    if isClassic { return NameCase.pascal(Singular.of(key)) }
    let name = upperFirst(key)
    return distinct(isList ? Singular.of(name) : name, "_SelectionSet")
  }

  /// The type of an enum's values.
  func type(of enumeration: NamedType) -> String {
    isClassic
      ? scoped(NameCase.pascal(enumeration.name))
      : "GraphQLEnum<\(scoped(distinct(enumeration.name, "_Enum")))>"
  }

  /// The last part of a narrowed object's struct.
  func type(narrowedTo condition: NamedType) -> String {
    if isClassic { return type(narrowedTo: [condition]) }
    let suffix =
      condition.kind == .object ? "_Object" : "_\(condition.kind == .union ? "Union" : "Interface")"
    return "As" + distinct(condition.name, suffix)
  }

  /// The last part of a classic struct of objects of several types.
  func type(narrowedTo types: [NamedType]) -> String {
    "As" + types.map { NameCase.pascal($0.name) }.joined(separator: "Or")
  }

  // MARK: Properties

  /// The property of a field.
  func property(_ key: String) -> String {
    if isClassic { return Identifier.escaped(NameCase.camel(key)) }
    let isAllCapitals = key.contains { $0.isLetter } && key == key.uppercased()
    return Identifier.escaped(isAllCapitals ? key.lowercased() : lowerFirst(key))
  }

  /// The property of a fragment, inside `fragments`.
  func property(of fragment: FragmentSyntax) -> String {
    let name = fragment.name.text
    return Identifier.escaped(isClassic ? NameCase.camel(name) : lowerFirst(name))
  }

  /// The conditions of `@include` and `@skip`, as Apollo iOS 1.x calls them in names of structs;
  /// nil if they are never true.
  func conditions(_ directives: [DirectiveSyntax]) -> [String]? {
    var names: [String] = []
    for directive in directives {
      let isSkip = directive.name.text == "skip"
      guard isSkip || directive.name.text == "include" else { continue }
      switch directive.argument("if")?.value.kind {
      case .variable(let name): names.append((isSkip ? "Not" : "") + upperFirst(name))
      case .boolean(let value) where value == isSkip: return nil
      default: break
      }
    }
    if names.count == 2, names.contains("Not" + names[0]) || names.contains("Not" + names[1]) {
      return nil
    }
    return names
  }

  /// The directive of a condition with such a name.
  func directive(_ condition: String) -> String {
    condition.hasPrefix("Not")
      ? "@skip(if: $\(lowerFirst(String(condition.dropFirst(3)))))"
      : "@include(if: $\(lowerFirst(condition)))"
  }

  // MARK: Case

  private func upperFirst(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }
  /// A name with its first letter in lower case.
  func lowerFirst(_ name: String) -> String {
    name.prefix(1).lowercased() + name.dropFirst()
  }

  /// The name of a type, with a suffix if Apollo iOS 1.x does not give it to types.
  private func distinct(_ name: String, _ suffix: String) -> String {
    let name = upperFirst(name)
    return Self.takenNames.contains(name) ? name + suffix : name
  }

  /// Names that Apollo iOS 1.x does not give to types.
  private static let takenNames: Set<String> = [
    "Any", "DataDict", "DocumentType", "Fragments", "FragmentContainer", "ParentType", "Protocol",
    "Schema", "Selection", "Self", "String", "Bool", "Int", "Int32", "Float", "Double", "ID",
    "Type", "Error", "_",
  ]
}
