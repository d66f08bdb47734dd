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
    scoped(isClassic ? NameCase.pascal(fragment.name.text) : upperFirst(fragment.name.text))
  }

  /// The struct of a field's objects, inside that of the field's owner.
  func type(ofField key: String, isList: Bool) -> String {
    if isClassic { return NameCase.pascal(Singular.of(key)) }
    let name = isList ? Singular.of(upperFirst(key)) : upperFirst(key)
    return Self.selectionSetNames.contains(name) ? name + "_SelectionSet" : name
  }

  /// The type of an enum's values.
  func type(of enumeration: NamedType) -> String {
    isClassic
      ? scoped(NameCase.pascal(enumeration.name))
      : "GraphQLEnum<\(scoped(upperFirst(enumeration.name)))>"
  }

  /// The last part of a narrowed object's struct.
  func type(narrowedTo condition: String) -> String {
    "As" + (isClassic ? NameCase.pascal(condition) : upperFirst(condition))
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

  /// The property that narrows an object.
  func property(narrowingTo condition: String) -> String {
    "as" + type(narrowedTo: condition).dropFirst(2)
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

  // MARK: Case

  private func upperFirst(_ name: String) -> String {
    name.prefix(1).uppercased() + name.dropFirst()
  }
  private func lowerFirst(_ name: String) -> String {
    name.prefix(1).lowercased() + name.dropFirst()
  }

  /// Names that Apollo iOS 1.x does not give to structs of selections.
  private static let selectionSetNames: Set<String> = [
    "Any", "DataDict", "DocumentType", "Fragments", "FragmentContainer", "ParentType", "Protocol",
    "Schema", "Selection", "Self", "String", "Bool", "Int", "Float", "Double", "ID", "Type",
    "Error", "_",
  ]
}
