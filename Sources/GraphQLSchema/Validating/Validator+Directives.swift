// Rules about directives: that they exist, where they stand, and how often (5.7).

import Diagnostics

extension Validator {
  func checkDirectives(_ directives: [DirectiveSyntax], at location: DirectiveLocation) {
    guard !directives.isEmpty else { return }
    var first: [String: NameSyntax] = [:]
    for directive in directives {
      let name = directive.name
      let definition = schema.directive(named: name.text)
      checkArguments(
        directive.arguments, definition?.arguments, of: "'@\(name.text)'", at: name.range)
      guard let definition else {
        report(
          "KnownDirectives", "there is no directive '@\(name.text)'", at: name.range,
          notes: suggestion(for: name.text, among: schema.directives.map(\.name)) + [
            .hint(
              "if only a client or a gateway reads it, declare it in a file beside the schema: "
                + "directive @\(name.text) on \(location.rawValue)")
          ])
        continue
      }
      if !definition.locations.contains(location) {
        let places = definition.locations.map(\.rawValue).joined(separator: ", ")
        report(
          "KnownDirectives", "'@\(name.text)' cannot stand at a \(location.rawValue)",
          at: name.range, notes: [.hint("it can stand at: \(places)")])
      }
      guard !definition.isRepeatable, directives.count > 1 else { continue }
      if let earlier = first[name.text] {
        report(
          "UniqueDirectivesPerLocation", "'@\(name.text)' stands here a second time",
          at: name.range, notes: [earlier.range.note("the first one is here")])
      } else {
        first[name.text] = name
      }
    }
  }
}
