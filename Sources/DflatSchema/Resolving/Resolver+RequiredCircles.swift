// Required tables that require themselves: no finite object can satisfy such a schema.

extension Resolver {
  func checkRequiredCircles() {
    var states: [QualifiedName: Bool] = [:]
    for file in schema.files {
      for name in file.types { visit(name, &states) }
    }
  }

  /// Follows required fields depth first; reaching a table that is still open (state false) means a
  /// cycle.
  private func visit(_ start: QualifiedName, _ states: inout [QualifiedName: Bool]) {
    guard states[start] == nil else { return }
    states[start] = false
    var path: [(name: QualifiedName, rest: ArraySlice<FieldDefinition>)] = []
    path.append((start, requiredTables(of: start)))
    while let field = path.last?.rest.first {
      path[path.count - 1].rest.removeFirst()
      if case .table(let target) = field.type {
        switch states[target] {
        case nil:
          states[target] = false
          path.append((target, requiredTables(of: target)))
        case false?: reportCircle(field, target)
        case true?: break
        }
      }
      while let last = path.last, last.rest.isEmpty {
        states[last.name] = true
        path.removeLast()
      }
    }
    states[start] = true
  }

  private func requiredTables(of name: QualifiedName) -> ArraySlice<FieldDefinition> {
    guard case .table(let table)? = schema.types[name] else { return [] }
    return table.fields.filter {
      if case .table = $0.type { $0.isRequired && !$0.isDeprecated } else { false }
    }[...]
  }

  private func reportCircle(_ field: FieldDefinition, _ target: QualifiedName) {
    guard let range = range(at: field.position, field.name) else { return }
    sink.error(
      "'\(field.name)' is required, and '\(target)' contains itself that way without an end",
      at: range, notes: [.hint("leave out 'required' on one of the fields of the circle")])
  }
}
