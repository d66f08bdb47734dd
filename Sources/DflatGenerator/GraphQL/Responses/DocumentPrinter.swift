// Prints an operation, and the fragments that it uses, as they are sent to the server.

import GraphQLSchema

struct DocumentPrinter {
  let operations: Operations
  /// The selection sets that get a `__typename`.
  let extended: Set<ObjectIdentifier>
  let addedKeys: AddedKeys
  /// Whether the server is asked for parts.
  let isIncremental: Bool
  private(set) var lines: [String] = []
  private var pending: [FragmentSyntax] = []
  private var seen: Set<String> = []

  /// The lines of an operation's document.
  static func lines(
    _ operation: OperationSyntax, _ operations: Operations, extended: Set<ObjectIdentifier>,
    _ addedKeys: AddedKeys, isIncremental: Bool
  ) -> [String] {
    var printer = DocumentPrinter(
      operations: operations, extended: extended, addedKeys: addedKeys,
      isIncremental: isIncremental)
    printer.block(printer.directives(operation.directives), operation.selectionSet, 0)
    var next = 0
    while next < printer.pending.count {
      let fragment = printer.pending[next]
      next += 1
      printer.block(
        "fragment \(fragment.name.text) on \(fragment.typeCondition.text)"
          + printer.directives(fragment.directives),
        fragment.selectionSet, 0)
    }
    // The first line has the variables that the others use.
    var head = operation.kind.rawValue
    if let name = operation.name { head += " " + name.text }
    let variables = operation.variables.filter { printer.uses($0) }.map(printer.variable)
    if !variables.isEmpty { head += "(" + variables.joined(separator: ", ") + ")" }
    printer.lines[0] = head + printer.lines[0]
    return printer.lines
  }

  private init(
    operations: Operations, extended: Set<ObjectIdentifier>, addedKeys: AddedKeys,
    isIncremental: Bool
  ) {
    self.isIncremental = isIncremental
    self.operations = operations
    self.extended = extended
    self.addedKeys = addedKeys
  }

  /// Whether what is printed has a variable. One that stands only in directives for clients is
  /// unused for the server, which would refuse the document.
  private func uses(_ variable: VariableSyntax) -> Bool {
    let name = variable.name.text
    return lines.contains { line in
      line.ranges(of: "$" + name).contains { range in
        line[range.upperBound...].first.map { !$0.isLetter && !$0.isNumber && $0 != "_" } ?? true
      }
    }
  }

  private func variable(_ variable: VariableSyntax) -> String {
    "$\(variable.name.text): \(variable.type.reference)"
      + (variable.defaultValue.map { " = " + $0.canonicalText } ?? "")
      + directives(variable.directives)
  }

  /// The directives that a server reads: those of clients are left out, unless the schema has its
  /// own of the name. Unless the server is asked for parts, its answer comes as a whole.
  private func directives(_ directives: [DirectiveSyntax]) -> String {
    directives.filter { directive in
      let name = directive.name.text
      if ["defer", "stream"].contains(name) { return isIncremental }
      return !GraphQLSchema.Schema.clientDirectives.contains(name)
        || operations.schema.directive(named: name)?.isBuiltIn == false
    }.map { " @\($0.name.text)" + Self.arguments($0.arguments) }.joined()
  }

  private static func arguments(_ arguments: [ArgumentSyntax]) -> String {
    if arguments.isEmpty { return "" }
    return "("
      + arguments.map { "\($0.name.text): \($0.value.canonicalText)" }.joined(separator: ", ") + ")"
  }

  /// An added field, with what is added inside of it.
  private func text(of key: AddedKeys.AddedKey) -> String {
    var text = (key.field.alias.map { $0.text + ": " } ?? "") + key.field.name.text
    if let inner = key.field.selectionSet {
      let typename = extended.contains(ObjectIdentifier(inner)) ? ["__typename"] : []
      let fields = typename + addedKeys[inner].map(self.text)
      text += " { \(fields.joined(separator: " ")) }"
    }
    return key.condition.map { "... on \($0) { \(text) }" } ?? text
  }

  /// The parser limits nesting.
  private mutating func block(_ head: String, _ set: SelectionSetSyntax, _ level: Int) {
    let indentation = String(repeating: "  ", count: level)
    lines.append("\(indentation)\(head) {")
    if extended.contains(ObjectIdentifier(set)) { lines.append(indentation + "  __typename") }
    for key in addedKeys[set] { lines.append(indentation + "  " + text(of: key)) }
    for selection in set.selections {
      switch selection {
      case .field(let field):
        let alias = field.alias.map { $0.text + ": " } ?? ""
        let head =
          alias + field.name.text + Self.arguments(field.arguments)
          + directives(field.directives)
        if let inner = field.selectionSet {
          block(head, inner, level + 1)
        } else {
          lines.append("\(indentation)  \(head)")
        }
      case .inlineFragment(let fragment):
        let condition = fragment.typeCondition.map { " on " + $0.text } ?? ""
        block(
          "..." + condition + directives(fragment.directives), fragment.selectionSet,
          level + 1)
      case .fragmentSpread(let spread):
        lines.append(
          "\(indentation)  ...\(spread.name.text)\(directives(spread.directives))")
        if seen.insert(spread.name.text).inserted, let fragment = operations.fragment(of: spread) {
          pending.append(fragment)
        }
      }
    }
    lines.append(indentation + "}")
  }
}
