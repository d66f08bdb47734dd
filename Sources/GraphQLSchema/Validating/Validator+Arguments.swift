// Rules about arguments: that they exist, are there once, and are there if required (5.4).

import Diagnostics

extension Validator {
  func checkArguments(_ field: FieldSyntax, _ definition: OutputField?) {
    checkArguments(
      field.arguments, definition?.arguments,
      of: definition.map { "'\($0.name)'" } ?? "'\(field.name.text)'", at: field.name.range)
  }

  /// - Parameter definitions: What may be given; nil if that is unknown.
  func checkArguments(
    _ arguments: [ArgumentSyntax], _ definitions: [InputValue]?, of owner: String,
    at range: SourceRange
  ) {
    guard !arguments.isEmpty || definitions?.isEmpty == false else { return }
    var first: [String: NameSyntax] = [:]
    for argument in arguments {
      let name = argument.name
      if let earlier = first[name.text] {
        report(
          "UniqueArgumentNames", "the argument '\(name.text)' is given a second time",
          at: name.range, notes: [earlier.range.note("the first one is here")])
      } else {
        first[name.text] = name
      }
      let definition = definitions?.first { $0.name == name.text }
      if let definitions, definition == nil {
        report(
          "KnownArgumentNames", "\(owner) has no argument '\(name.text)'", at: name.range,
          notes: suggestion(for: name.text, among: definitions.map(\.name)))
      }
      checkValue(
        argument.value, isOfSchema ? nil : definition?.type,
        hasDefault: definition?.defaultValue != nil)
    }
    for definition in definitions ?? [] where definition.isRequired {
      guard first[definition.name] == nil else { continue }
      report(
        "ProvidedRequiredArguments",
        "\(owner) needs the argument '\(definition.name)' of type '\(definition.type)'",
        at: range)
    }
  }
}
