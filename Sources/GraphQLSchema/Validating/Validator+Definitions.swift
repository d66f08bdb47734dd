// Rules about the definitions of all documents together (5.1, 5.2.1, 5.2.2, 5.5.1.1).

import Diagnostics

extension Validator {
  func checkDefinitions(_ documents: [DocumentSyntax]) {
    for document in documents {
      for definition in document.definitions where !definition.isExecutable {
        report(
          "ExecutableDefinitions", "a definition of a type system cannot be executed",
          at: definition.nameRange, notes: [.hint("move it into the schema")])
      }
    }
    checkOperationNames()
    checkFragmentNames()
    for operation in operations.operations where schema.rootType(of: operation.kind) == nil {
      report(
        "OperationTypeExistence", "the schema has no type for a \(operation.kind.rawValue)",
        at: operation.keywordRange)
    }
  }

  private func checkOperationNames() {
    var first: [String: NameSyntax] = [:]
    for operation in operations.operations {
      guard let name = operation.name else {
        if operations.operations.count > 1 {
          report(
            "LoneAnonymousOperation", "an operation without a name must be the only one",
            at: operation.keywordRange, notes: [.hint("give each operation a name")])
        }
        continue
      }
      if let earlier = first[name.text] {
        report(
          "UniqueOperationNames", "there is a second operation called '\(name.text)'",
          at: name.range, notes: [earlier.range.note("the first one is here")])
      } else {
        first[name.text] = name
      }
    }
  }

  private func checkFragmentNames() {
    var first: [String: NameSyntax] = [:]
    for fragment in operations.fragments {
      let name = fragment.name
      if let earlier = first[name.text] {
        report(
          "UniqueFragmentNames", "there is a second fragment called '\(name.text)'",
          at: name.range, notes: [earlier.range.note("the first one is here")])
      } else {
        first[name.text] = name
      }
    }
  }
}
