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
      ? Self.pascalCase(name) + suffix
      : name.hasSuffix(suffix) ? upperFirst(name) : upperFirst(name) + suffix
    return scoped("\(type).Data")
  }

  /// The struct of a fragment.
  func type(of fragment: FragmentSyntax) -> String {
    scoped(isClassic ? Self.pascalCase(fragment.name.text) : upperFirst(fragment.name.text))
  }

  /// The struct of a field's objects, inside that of the field's owner.
  func type(ofField key: String, isList: Bool) -> String {
    if isClassic { return Self.pascalCase(Singular.of(key)) }
    let name = isList ? Singular.of(upperFirst(key)) : upperFirst(key)
    return Self.selectionSetNames.contains(name) ? name + "_SelectionSet" : name
  }

  /// The type of an enum's values.
  func type(of enumeration: NamedType) -> String {
    isClassic
      ? scoped(Self.pascalCase(enumeration.name))
      : "GraphQLEnum<\(scoped(upperFirst(enumeration.name)))>"
  }

  /// The last part of a narrowed object's struct.
  func type(narrowedTo condition: String) -> String {
    "As" + (isClassic ? Self.pascalCase(condition) : upperFirst(condition))
  }

  // MARK: Properties

  /// The property of a field.
  func property(_ key: String) -> String {
    if isClassic { return Identifier.escaped(Self.camelCase(key)) }
    let isAllCapitals = key.contains { $0.isLetter } && key == key.uppercased()
    return Identifier.escaped(isAllCapitals ? key.lowercased() : lowerFirst(key))
  }

  /// The property of a fragment, inside `fragments`.
  func property(of fragment: FragmentSyntax) -> String {
    let name = fragment.name.text
    return Identifier.escaped(isClassic ? Self.camelCase(name) : lowerFirst(name))
  }

  /// The property that narrows an object.
  func property(narrowingTo condition: String) -> String {
    "as" + type(narrowedTo: condition).dropFirst(2)
  }

  /// The property of a fragment that Apollo iOS 1.x gives only under conditions, without its first
  /// two letters; nil if there are no conditions.
  func condition(_ directives: [DirectiveSyntax]) -> String? {
    let parts = directives.compactMap { directive -> String? in
      guard case .variable(let name) = directive.argument("if")?.value.kind else { return nil }
      switch directive.name.text {
      case "include": return upperFirst(name)
      case "skip": return "Not" + upperFirst(name)
      default: return nil
      }
    }
    return parts.isEmpty ? nil : parts.joined(separator: "And")
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

  /// The words of a name: divided where a capital begins one, and at all characters but letters and
  /// digits, which are dropped.
  private static func words(_ name: String) -> [String] {
    var words: [String] = []
    var word = ""
    let characters = Array(name.unicodeScalars)
    func isLower(_ scalar: Unicode.Scalar) -> Bool { ("a"..."z").contains(scalar) }
    func isUpper(_ scalar: Unicode.Scalar) -> Bool { ("A"..."Z").contains(scalar) }
    func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
    for (index, character) in characters.enumerated() {
      guard isLower(character) || isUpper(character) || isDigit(character) else {
        if !word.isEmpty { words.append(word) }
        word = ""
        continue
      }
      if index > 0, isUpper(character), !word.isEmpty {
        let previous = characters[index - 1]
        let begins = index + 1 < characters.count && isLower(characters[index + 1])
        if isLower(previous) || isDigit(previous) || isUpper(previous) && begins {
          words.append(word)
          word = ""
        }
      }
      word.unicodeScalars.append(character)
    }
    if !word.isEmpty { words.append(word) }
    return words
  }

  /// Lower case for the first word, a capital for each further one; underscores around the name
  /// stay.
  static func camelCase(_ name: String) -> String { cased(name, capitalisesFirst: false) }

  /// A capital for each word; underscores around the name stay.
  static func pascalCase(_ name: String) -> String { cased(name, capitalisesFirst: true) }

  private static func cased(_ name: String, capitalisesFirst: Bool) -> String {
    let parts = words(name).enumerated().map { index, word in
      let lower = word.lowercased()
      if index == 0, !capitalisesFirst { return lower }
      if index > 0, lower.first?.isNumber == true { return "_" + lower }
      return lower.prefix(1).uppercased() + lower.dropFirst()
    }
    guard !parts.isEmpty else { return name }
    return String(name.prefix { $0 == "_" }) + parts.joined()
      + String(name.reversed().prefix { $0 == "_" })
  }
}
