// Operations, fragments and what they select.

public import Diagnostics

/// The kinds of operations.
public enum OperationKind: String, Sendable, CaseIterable {
  case query, mutation, subscription
}

/// A query, mutation or subscription.
public final class OperationSyntax: Sendable {
  /// The kind.
  public let kind: OperationKind
  /// The name; nil for an anonymous operation.
  public let name: NameSyntax?
  /// The variables, in order.
  public let variables: [VariableSyntax]
  /// The directives.
  public let directives: [DirectiveSyntax]
  /// What it selects of the root type.
  public let selectionSet: SelectionSetSyntax
  /// The place of its keyword, or of its brace if it has none.
  public let keywordRange: SourceRange
  /// The place of the whole.
  public let range: SourceRange

  init(
    kind: OperationKind, name: NameSyntax?, variables: [VariableSyntax],
    directives: [DirectiveSyntax], selectionSet: SelectionSetSyntax, keywordRange: SourceRange,
    range: SourceRange
  ) {
    self.kind = kind
    self.name = name
    self.variables = variables
    self.directives = directives
    self.selectionSet = selectionSet
    self.keywordRange = keywordRange
    self.range = range
  }
}

/// `$name: Type = default @directives`.
public struct VariableSyntax: Sendable {
  /// The name, without `$`; its place includes the `$`.
  public let name: NameSyntax
  /// The type.
  public let type: TypeSyntax
  /// The default.
  public let defaultValue: ValueSyntax?
  /// The directives.
  public let directives: [DirectiveSyntax]
  /// The place of the whole.
  public let range: SourceRange
}

/// `fragment Name on Type { … }`.
public final class FragmentSyntax: Sendable {
  /// The name.
  public let name: NameSyntax
  /// The type that it is a fragment of.
  public let typeCondition: NameSyntax
  /// The directives.
  public let directives: [DirectiveSyntax]
  /// What it selects.
  public let selectionSet: SelectionSetSyntax
  /// The place of the whole.
  public let range: SourceRange

  init(
    name: NameSyntax, typeCondition: NameSyntax, directives: [DirectiveSyntax],
    selectionSet: SelectionSetSyntax, range: SourceRange
  ) {
    self.name = name
    self.typeCondition = typeCondition
    self.directives = directives
    self.selectionSet = selectionSet
    self.range = range
  }
}

/// `{ … }`: what is selected of a value.
public final class SelectionSetSyntax: Sendable {
  /// The selections, in order; at least one.
  public let selections: [SelectionSyntax]
  /// The place, with the braces.
  public let range: SourceRange

  init(selections: [SelectionSyntax], range: SourceRange) {
    self.selections = selections
    self.range = range
  }
}

/// One selection.
public enum SelectionSyntax: Sendable {
  /// A field.
  case field(FieldSyntax)
  /// `...Name`.
  case fragmentSpread(FragmentSpreadSyntax)
  /// `... on Type { … }` or `... { … }`.
  case inlineFragment(InlineFragmentSyntax)

  /// The directives of the selection.
  public var directives: [DirectiveSyntax] {
    switch self {
    case .field(let field): field.directives
    case .fragmentSpread(let spread): spread.directives
    case .inlineFragment(let fragment): fragment.directives
    }
  }
}

/// A selected field.
public final class FieldSyntax: Sendable {
  /// The alias.
  public let alias: NameSyntax?
  /// The field's name.
  public let name: NameSyntax
  /// The arguments, in order.
  public let arguments: [ArgumentSyntax]
  /// The directives.
  public let directives: [DirectiveSyntax]
  /// What is selected of its value; nil for leaves.
  public let selectionSet: SelectionSetSyntax?
  /// The place of the whole.
  public let range: SourceRange

  /// The key in the response: the alias, or the name if there is none.
  public var responseKey: String { (alias ?? name).text }

  /// Creates a field that no document has, whose place is that of the selection set.
  /// - Parameter isObject: Whether it has a selection set, which has no selections.
  package convenience init(
    adding name: String, alias: String?, to set: SelectionSetSyntax, isObject: Bool
  ) {
    self.init(
      alias: alias.map { NameSyntax(text: $0, range: set.range) },
      name: NameSyntax(text: name, range: set.range), arguments: [], directives: [],
      selectionSet: isObject ? SelectionSetSyntax(selections: [], range: set.range) : nil,
      range: set.range)
  }

  init(
    alias: NameSyntax?, name: NameSyntax, arguments: [ArgumentSyntax],
    directives: [DirectiveSyntax], selectionSet: SelectionSetSyntax?, range: SourceRange
  ) {
    self.alias = alias
    self.name = name
    self.arguments = arguments
    self.directives = directives
    self.selectionSet = selectionSet
    self.range = range
  }
}

/// `...Name @directives`.
public struct FragmentSpreadSyntax: Sendable {
  /// The fragment's name.
  public let name: NameSyntax
  /// The directives.
  public let directives: [DirectiveSyntax]
  /// The place of the whole.
  public let range: SourceRange
}

/// `... on Type @directives { … }`; the type condition may be missing.
public struct InlineFragmentSyntax: Sendable {
  /// The type that it narrows to; nil if it only groups selections.
  public let typeCondition: NameSyntax?
  /// The directives.
  public let directives: [DirectiveSyntax]
  /// What it selects.
  public let selectionSet: SelectionSetSyntax
  /// The place of the whole.
  public let range: SourceRange
}
