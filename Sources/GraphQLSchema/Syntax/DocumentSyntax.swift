// The syntax tree of a GraphQL document. Every node knows its place in the text.
//
// Nodes that are looked up by identity (fields and selection sets) are objects; the rest are
// values. Nothing here knows a schema: names are what stands in the text.

public import Diagnostics

/// One file: operations and fragments, or definitions and extensions of a type system.
public struct DocumentSyntax: Sendable {
  /// The file.
  public let file: SourceFile
  /// The definitions, in the order of the text. Those with syntax errors are missing.
  public internal(set) var definitions: [DefinitionSyntax]
}

/// One definition of a document.
public enum DefinitionSyntax: Sendable {
  /// A query, mutation or subscription.
  case operation(OperationSyntax)
  /// A named fragment.
  case fragment(FragmentSyntax)
  /// `schema { … }` or an extension of it.
  case schema(SchemaDefinitionSyntax)
  /// A type or an extension of one.
  case type(TypeDefinitionSyntax)
  /// A directive.
  case directive(DirectiveDefinitionSyntax)

  /// The place of its name, or of its keyword if it has no name.
  public var nameRange: SourceRange {
    switch self {
    case .operation(let operation): operation.name?.range ?? operation.keywordRange
    case .fragment(let fragment): fragment.name.range
    case .schema(let schema): schema.keywordRange
    case .type(let type): type.name.range
    case .directive(let directive): directive.name.range
    }
  }

  /// Whether it can be executed; all others describe a type system.
  public var isExecutable: Bool {
    switch self {
    case .operation, .fragment: true
    case .schema, .type, .directive: false
    }
  }
}

/// A name in the text.
public struct NameSyntax: Sendable {
  /// The name.
  public let text: String
  /// Its place.
  public let range: SourceRange
}

/// A description: a string before a definition.
public struct DescriptionSyntax: Sendable {
  /// The text, without quotes, escapes and common indentation.
  public let text: String
  /// The place of the string.
  public let range: SourceRange
}

/// `name: value`, of a field, a directive or an input object.
public struct ArgumentSyntax: Sendable {
  /// The name.
  public let name: NameSyntax
  /// The value.
  public let value: ValueSyntax

  /// From the name to the end of the value.
  public var range: SourceRange { name.range.through(value.range) }
}

/// `@name(arguments)`.
public struct DirectiveSyntax: Sendable {
  /// The name, without `@`.
  public let name: NameSyntax
  /// The arguments, in order.
  public let arguments: [ArgumentSyntax]
  /// From `@` to the end of the arguments.
  public let range: SourceRange

  /// The argument called `name`.
  public func argument(_ name: String) -> ArgumentSyntax? {
    arguments.first { $0.name.text == name }
  }
}
