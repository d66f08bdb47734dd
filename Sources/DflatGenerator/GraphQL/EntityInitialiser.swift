// EntityInitialiser: the text of an initialiser that makes a whole object of a selected one.
//
// Every client has such initialisers, from its own classes or structures. What the selection does
// not have gets its default.

import Foundation

struct EntityInitialiser {
  /// An argument of the memberwise initialiser.
  struct Argument {
    /// The field's name in Swift.
    var name: String
    var value: SwiftExpression
    /// The type of the value, without a question mark.
    var type: String
  }

  /// A field of the primary key.
  struct Key {
    /// Its name in Swift.
    var name: String
    var origin: Origin

    /// Where it comes from.
    enum Origin {
      /// From the selection.
      case selected(SwiftExpression)
      /// From the caller, because the selection does not have it.
      case parameter(String)
    }
  }

  /// The Swift type that is extended.
  let type: String
  /// The type of the selected object.
  let source: String
  /// Empty if the type has no key of its own.
  let keys: [Key]
  /// What must be true of the object, as conditions of a `guard`.
  var conditions: [String] = []
  /// In the order of the memberwise initialiser.
  let arguments: [Argument]
  /// The type of the rules by which the fields are merged into a request for a new object, by a
  /// function that storing a response uses, too; nil if they are arguments.
  var mergeRules: String?
  let access: AccessLevel

  /// The file with the initialisers of an entity and of what is below it.
  static func fileName(of entity: String) -> String { "\(entity)_inits_generated.swift" }

  func write(to text: inout SourceText) {
    var parameters = ["_ obj: \(source)"]
    var conditions = conditions
    var calls: [String] = []
    var values: [String] = []
    let namespace = type.split(separator: ".")[0].filter { $0 != "`" }
    let locals = keys.indices.map { keys.count == 1 ? "key" : "key\($0 + 1)" }
    let taken = Set(["obj", "key", "self", namespace] + locals + keys.map(\.name))
    for (index, key) in keys.enumerated() {
      let label = Identifier.label(key.name)
      switch key.origin {
      case .parameter(let type):
        // A parameter called `self` would hide the object.
        let isHiding = key.name == "self"
        let parameter = isHiding ? locals[index] : Identifier.escaped(key.name)
        let label = isHiding ? "self " : ""
        parameters.insert("\(label)\(parameter): \(type)", at: parameters.count - 1)
        values.append(parameter)
      case .selected(let value) where value.isOptional:
        // A closure would end the condition.
        let text = value.text.contains("{") ? "(\(value.text))" : value.text
        conditions.append("let \(locals[index]) = \(text)")
        values.append(locals[index])
      case .selected(let value): values.append(value.text)
      }
      calls.append("\(label): \(values[index])")
    }
    text.block("nonisolated extension \(type)") { text in
      text.documentation(["Makes a whole object of what is selected here."])
      text.function(access.modifier + (conditions.isEmpty ? "init" : "init?"), parameters) { text in
        for condition in conditions { text.guarding(condition) }
        if let mergeRules {
          text.line("let draft = \(type)._Draft.creationRequest()")
          for (key, value) in zip(keys, values) {
            text.statement("draft.\(Identifier.escaped(key.name)) = \(value)")
          }
          text.line("draft._merge(obj, \(mergeRules)())")
          return text.line("self = draft._object()")
        }
        for argument in arguments {
          let label = Identifier.label(argument.name)
          let value = argument.value
          guard value.text.contains("{") || value.text.contains("??") else {
            calls.append("\(label): \(value.text)")
            continue
          }
          // By itself, because the compiler takes long for a call with many closures.
          let local = Identifier.escaped(Identifier.fresh(argument.name, avoiding: taken))
          text.statement(
            "let \(local): \(argument.type)\(value.isOptional ? "?" : "") = \(value.text)")
          calls.append("\(label): \(local)")
        }
        text.list("self.init(", calls, ")")
      }
    }
  }
}

/// A Swift expression.
struct SwiftExpression {
  var text: String
  var isOptional: Bool

  /// How many values stand between `??` at most: the time to check the types of such an expression
  /// grows exponentially.
  private static let operatorLimit = 4

  /// The first of several values that is there; nil if there is none.
  /// - Parameter type: The type of each value, without a question mark.
  static func firstValue(of parts: [SwiftExpression], _ type: String) -> SwiftExpression? {
    guard let last = parts.last else { return nil }
    if parts.count <= operatorLimit {
      return SwiftExpression(
        text: parts.map(\.text).joined(separator: " ?? "),
        isOptional: parts.allSatisfy(\.isOptional))
    }
    let optional = last.isOptional ? parts : parts.dropLast()
    let list = optional.map(\.text).joined(separator: ", ")
    let first = "([\(list)] as [\(type)?]).lazy.compactMap { $0 }.first"
    return SwiftExpression(
      text: last.isOptional ? first : "\(first) ?? \(last.text)", isOptional: last.isOptional)
  }
}

extension SourceText {
  /// `guard condition else { return nil }`, over several lines if it is long.
  fileprivate mutating func guarding(_ condition: String) {
    let whole = "guard \(condition) else { return nil }"
    if fits(whole) { return line(whole) }
    line("guard")
    let parts = condition.components(separatedBy: " = ")
    nest { text in
      if parts.count == 1 || text.fits(condition) { return text.line(condition) }
      text.line("\(parts[0]) =")
      text.nest { $0.line(parts[1...].joined(separator: " = ")) }
    }
    line("else { return nil }")
  }

  /// The initialiser that turns an enum's values into stored ones.
  /// - Parameters:
  ///   - type: The stored enum.
  ///   - source: The type of the values.
  ///   - subject: What is compared with the patterns.
  ///   - cases: The patterns with the names of the stored values.
  ///   - other: The pattern of values without a name, and the name of the first stored value.
  mutating func writeEnumInitialiser(
    of type: String, from source: String, _ subject: String,
    _ cases: [(pattern: String, name: String)], other: (pattern: String, name: String),
    _ access: AccessLevel
  ) {
    block("nonisolated extension \(type)") { text in
      text.documentation(["The same value; the first one if it is unknown."])
      text.block("\(access.modifier)init(_ obj: \(source))") { text in
        text.line("switch \(subject) {")
        for (pattern, name) in cases {
          text.line("case \(pattern): self = .\(Identifier.escaped(name))")
        }
        text.line("\(other.pattern): self = .\(Identifier.escaped(other.name))")
        text.line("}")
      }
    }
  }
}
