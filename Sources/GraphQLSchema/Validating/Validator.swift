// Whether operations obey the rules of the specification, section 5.
//
// One walk over each definition checks what can be told in place, and collects what only the whole
// document tells: which fragments a definition spreads and which variables it uses where. The rules
// about fragments, variables and merged fields work on what was collected. A rule is called as in
// graphql-core, without its suffix "Rule"; diagnostics carry that name.
//
// What is unknown is reported once: below an unknown field or type nothing is checked that would
// need it.

import Diagnostics

final class Validator {
  let schema: Schema
  let operations: Operations
  let isOfSchema: Bool
  let sink: DiagnosticSink
  /// What each operation and fragment uses, in the order of `operations.operations` and
  /// `operations.fragments`.
  var operationUses: [Uses] = []
  var fragmentUses: [Uses] = []
  /// Positions in `operations.fragments`; the last of several with one name.
  var fragmentNumbers: [String: Int] = [:]
  /// What the definition that is being walked uses.
  var uses = Uses()

  /// What a definition uses by itself, without the fragments that it spreads.
  struct Uses {
    var spreads: [FragmentSpreadSyntax] = []
    var variables: [VariableUse] = []
  }

  /// A variable in a value.
  struct VariableUse {
    var name: String
    var range: SourceRange
    /// The expected type; nil if it is unknown.
    var type: TypeReference?
    /// Whether the argument or input field has a default.
    var hasDefault: Bool
  }

  static func validate(
    _ documents: [DocumentSyntax], _ operations: Operations, sink: DiagnosticSink
  ) {
    let validator = Validator(operations: operations, sink: sink)
    validator.checkDefinitions(documents)
    validator.walk()
    validator.checkFragments()
    validator.checkVariables()
    validator.checkSubscriptions()
    FieldMerging.check(operations, sink: sink)
  }

  /// - Parameter isOfSchema: Whether a schema is checked. Arguments of its directives are not
  ///   compared with types then, and literals of the wrong type are warnings.
  init(operations: Operations, isOfSchema: Bool = false, sink: DiagnosticSink) {
    self.operations = operations
    self.isOfSchema = isOfSchema
    self.sink = sink
    schema = operations.schema
    for (number, fragment) in operations.fragments.enumerated() {
      fragmentNumbers[fragment.name.text] = number
    }
  }

  // MARK: Reporting

  func report(_ rule: String, _ message: String, at range: SourceRange, notes: [Diagnostic] = []) {
    if isOfSchema, rule == "ValuesOfCorrectType" {
      sink.warning(message, at: range, rule: rule, notes: notes)
    } else {
      sink.error(message, at: range, rule: rule, notes: notes)
    }
  }

  /// A note that asks about the closest of several names.
  func suggestion(for name: String, among names: some Sequence<String>) -> [Diagnostic] {
    nearest(to: name, among: names).map { [.hint("did you mean '\($0)'?")] } ?? []
  }

  // MARK: Walking

  private func walk() {
    for operation in operations.operations {
      uses = Uses()
      checkVariableDefinitions(operation)
      checkDirectives(operation.directives, at: operation.kind.location)
      walk(operation.selectionSet)
      operationUses.append(uses)
    }
    for fragment in operations.fragments {
      uses = Uses()
      checkTypeCondition(fragment.typeCondition)
      checkDirectives(fragment.directives, at: .fragmentDefinition)
      walk(fragment.selectionSet)
      fragmentUses.append(uses)
    }
  }

  /// The parser limits nesting.
  private func walk(_ selectionSet: SelectionSetSyntax) {
    let parent = operations.parentType(of: selectionSet)
    for selection in selectionSet.selections {
      switch selection {
      case .field(let field):
        let definition = operations.definition(of: field)
        if let parent { checkSelection(field, definition, in: parent) }
        checkArguments(field, definition)
        checkDirectives(field.directives, at: .field)
        if let inner = field.selectionSet { walk(inner) }
      case .fragmentSpread(let spread):
        uses.spreads.append(spread)
        checkSpread(spread, in: parent)
        checkDirectives(spread.directives, at: .fragmentSpread)
      case .inlineFragment(let fragment):
        checkInlineFragment(fragment, in: parent)
        checkDirectives(fragment.directives, at: .inlineFragment)
        walk(fragment.selectionSet)
      }
    }
  }
}

extension OperationKind {
  /// Where the directives of such an operation stand.
  fileprivate var location: DirectiveLocation {
    switch self {
    case .query: .query
    case .mutation: .mutation
    case .subscription: .subscription
    }
  }
}
