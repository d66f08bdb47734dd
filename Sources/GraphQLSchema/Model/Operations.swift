// The operations and fragments of a program, together, with the types of what they select.
//
// A selection set has the same parent type wherever its fragment is used, so types are resolved
// once, for each selection set and each field, and looked up by the identity of the node.

/// The executable documents of a program, merged and checked against a schema.
///
///     let result = Operations.load(files: ["hero.graphql"], schema: schema)
///     for diagnostic in result.diagnostics { print(diagnostic.rendered()) }
///     guard let operations = result.value else { exit(1) }
///     for operation in operations.operations {
///       for case .field(let field) in operation.selectionSet.selections {
///         print(field.responseKey, operations.definition(of: field)!.type)
///       }
///     }
public final class Operations: Sendable {
  /// The schema.
  public let schema: Schema
  /// All operations, by file in the order given, then in the order of the text.
  public let operations: [OperationSyntax]
  /// All fragments, in the same order.
  public let fragments: [FragmentSyntax]
  private let operationTable: [String: OperationSyntax]
  private let fragmentTable: [String: FragmentSyntax]
  private let parents: [ObjectIdentifier: NamedType]
  private let fields: [ObjectIdentifier: OutputField]

  /// The operation called `name`.
  public func operation(named name: String) -> OperationSyntax? { operationTable[name] }

  /// The fragment called `name`.
  public func fragment(named name: String) -> FragmentSyntax? { fragmentTable[name] }

  /// The fragment that a spread means.
  public func fragment(of spread: FragmentSpreadSyntax) -> FragmentSyntax? {
    fragmentTable[spread.name.text]
  }

  /// All fragments that a selection set spreads, directly and through others, in the order in which
  /// they are met. An operation is sent to a server together with them.
  public func fragments(usedBy selectionSet: SelectionSetSyntax) -> [FragmentSyntax] {
    var result: [FragmentSyntax] = []
    var seen: Set<String> = []
    var waiting: [SelectionSyntax] = selectionSet.selections.reversed()
    while let selection = waiting.popLast() {
      switch selection {
      case .field(let field):
        waiting.append(contentsOf: (field.selectionSet?.selections ?? []).reversed())
      case .inlineFragment(let fragment):
        waiting.append(contentsOf: fragment.selectionSet.selections.reversed())
      case .fragmentSpread(let spread):
        guard let fragment = fragment(of: spread), seen.insert(spread.name.text).inserted else {
          continue
        }
        result.append(fragment)
        waiting.append(contentsOf: fragment.selectionSet.selections.reversed())
      }
    }
    return result
  }

  /// The type of which a selection set selects: the root type of an operation, the type condition
  /// of a fragment, the type of a field inside all lists. Never nil in valid operations.
  public func parentType(of selectionSet: SelectionSetSyntax) -> NamedType? {
    parents[ObjectIdentifier(selectionSet)]
  }

  /// The field of the schema that a selection means, also `__typename`. Never nil in valid
  /// operations.
  public func definition(of field: FieldSyntax) -> OutputField? { fields[ObjectIdentifier(field)] }

  /// The type of a selected field's value inside all lists. Never nil in valid operations.
  public func type(of field: FieldSyntax) -> NamedType? {
    definition(of: field).flatMap { schema.type(in: $0.type) }
  }

  /// Collects and resolves; of several fragments with one name the last counts, as for
  /// graphql-core.
  init(documents: [DocumentSyntax], schema: Schema) {
    self.schema = schema
    var operations: [OperationSyntax] = []
    var fragments: [FragmentSyntax] = []
    var resolver = SelectionResolver(schema: schema)
    for document in documents {
      for definition in document.definitions {
        switch definition {
        case .operation(let operation):
          operations.append(operation)
          resolver.resolve(operation.selectionSet, in: schema.rootType(of: operation.kind))
        case .fragment(let fragment):
          fragments.append(fragment)
          resolver.resolve(
            fragment.selectionSet, in: schema.type(named: fragment.typeCondition.text))
        case .schema, .type, .directive: break
        }
      }
    }
    self.operations = operations
    self.fragments = fragments
    operationTable = Dictionary(
      operations.compactMap { operation in operation.name.map { ($0.text, operation) } },
      uniquingKeysWith: { first, _ in first })
    fragmentTable = Dictionary(
      fragments.map { ($0.name.text, $0) }, uniquingKeysWith: { _, last in last })
    parents = resolver.parents
    fields = resolver.fields
  }
}

/// Finds the types of selections.
private struct SelectionResolver {
  let schema: Schema
  var parents: [ObjectIdentifier: NamedType] = [:]
  var fields: [ObjectIdentifier: OutputField] = [:]

  /// Below what is unknown, only fragments with a type are resolved. The parser limits nesting.
  mutating func resolve(_ selectionSet: SelectionSetSyntax, in type: NamedType?) {
    let parent = type?.isComposite == true ? type : nil
    if let parent { parents[ObjectIdentifier(selectionSet)] = parent }
    for selection in selectionSet.selections {
      switch selection {
      case .field(let field):
        let definition = parent.flatMap { schema.field(named: field.name.text, in: $0) }
        if let definition { fields[ObjectIdentifier(field)] = definition }
        if let inner = field.selectionSet {
          resolve(inner, in: definition.flatMap { schema.type(in: $0.type) })
        }
      case .inlineFragment(let fragment):
        let condition = fragment.typeCondition.map { schema.type(named: $0.text) } ?? parent
        resolve(fragment.selectionSet, in: condition)
      case .fragmentSpread: break
      }
    }
  }
}
