// Whether fields with one key in the response can be merged (5.3.2).
//
// The specification compares fields by pairs, which takes exponential time if done naively. Here
// sets of fields are compared: all fields that may stand at one path of a response. In a set,
// fields are grouped by their key. Then there are two checks, each of which goes on with the
// selections of each group together:
//
//  - shapes: the types of all fields of a group have the same lists, nulls and leaves;
//  - answers: fields that can stand in the same object are the same field with the same arguments.
//    Fields of different object types cannot; so a group falls into one for each object type, each
//    with the fields of interfaces and unions.
//
// A set that was checked is not checked again: documents with many fragments lead to the same sets
// on many paths, and documents with cycles of fragments to finitely many. There are documents whose
// number of different sets is exponential, so the work is limited.

import Diagnostics

struct FieldMerging {
  /// Caps the fields in all checked sets; programs of hundreds of operations stay far below.
  static let workLimit = 2_000_000

  private enum Check { case shapes, answers }

  /// A selected field.
  private struct Field {
    var syntax: FieldSyntax
    /// Nil if it is unknown.
    var parent: NamedType?
    var type: TypeReference?
    /// The same for equal arguments.
    var arguments: String
  }

  /// A set to check, as sorted numbers of fields.
  private struct Work: Hashable {
    var check: Check
    var fields: [Int]
  }

  private let operations: Operations
  private let sink: DiagnosticSink
  private var fields: [Field] = []
  private var numbers: [ObjectIdentifier: Int] = [:]
  private var waiting: [Work] = []
  private var known: Set<Work> = []
  private var reached: Set<ObjectIdentifier> = []
  private var work = 0

  static func check(_ operations: Operations, sink: DiagnosticSink) {
    var merging = FieldMerging(operations: operations, sink: sink)
    for operation in operations.operations { merging.check([operation.selectionSet]) }
    // The others were checked where they are spread.
    for fragment in operations.fragments where !merging.reached.contains(ObjectIdentifier(fragment))
    {
      merging.check([fragment.selectionSet])
    }
  }

  private init(operations: Operations, sink: DiagnosticSink) {
    self.operations = operations
    self.sink = sink
  }

  private mutating func check(_ selectionSets: [SelectionSetSyntax]) {
    guard work < Self.workLimit else { return }
    let set = expand(selectionSets)
    add(.shapes, set)
    add(.answers, set)
    while let next = waiting.popLast() {
      work += next.fields.count
      guard work < Self.workLimit else {
        let place = fields[next.fields[0]].syntax.name.range
        sink.error(
          "these selections overlap in too many ways to be checked", at: place,
          rule: "OverlappingFieldsCanBeMerged",
          notes: [.hint("use fewer fragments that spread each other")])
        waiting = []
        return
      }
      for group in groups(next.fields) {
        switch next.check {
        case .shapes: checkShapes(group)
        case .answers: checkAnswers(group)
        }
      }
    }
  }

  private mutating func add(_ check: Check, _ set: [Int]) {
    let next = Work(check: check, fields: set)
    if !set.isEmpty, known.insert(next).inserted { waiting.append(next) }
  }

  // MARK: Sets

  /// All fields of selection sets, with those of fragments, sorted.
  private mutating func expand(_ selectionSets: [SelectionSetSyntax]) -> [Int] {
    var result: Set<Int> = []
    var seen: Set<String> = []
    var pending = selectionSets
    while let selectionSet = pending.popLast() {
      for selection in selectionSet.selections {
        switch selection {
        case .field(let field): result.insert(number(of: field, in: selectionSet))
        case .inlineFragment(let fragment): pending.append(fragment.selectionSet)
        case .fragmentSpread(let spread):
          guard let fragment = operations.fragment(of: spread),
            seen.insert(spread.name.text).inserted
          else { continue }
          reached.insert(ObjectIdentifier(fragment))
          pending.append(fragment.selectionSet)
        }
      }
    }
    work += result.count
    return result.sorted()
  }

  private mutating func number(of field: FieldSyntax, in selectionSet: SelectionSetSyntax) -> Int {
    let key = ObjectIdentifier(field)
    if let number = numbers[key] { return number }
    let number = fields.count
    numbers[key] = number
    fields.append(
      Field(
        syntax: field, parent: operations.parentType(of: selectionSet),
        type: operations.definition(of: field)?.type,
        arguments: field.arguments.isEmpty
          ? ""
          : field.arguments.map { $0.name.text + ": " + $0.value.canonicalText }.sorted()
            .joined(separator: ", ")))
    return number
  }

  /// Fields with one key in the response; in the order of the first of each.
  private func groups(_ set: [Int]) -> [[Int]] {
    guard set.count > 1 else { return [set] }
    var result: [[Int]] = []
    var places: [String: Int] = [:]
    for number in set {
      let key = fields[number].syntax.responseKey
      if let place = places[key] {
        result[place].append(number)
      } else {
        places[key] = result.count
        result.append([number])
      }
    }
    return result
  }

  private mutating func goOn(_ check: Check, _ group: [Int]) {
    let selectionSets = group.compactMap { fields[$0].syntax.selectionSet }
    guard !selectionSets.isEmpty else { return }
    add(check, expand(selectionSets))
  }

  // MARK: Checks

  private mutating func checkShapes(_ group: [Int]) {
    if group.count > 1, let first = group.first(where: { fields[$0].type != nil }),
      let type = fields[first].type
    {
      for other in group {
        guard let otherType = fields[other].type, !haveSameShape(type, otherType) else { continue }
        report(other, first, "their types '\(otherType)' and '\(type)' differ")
      }
    }
    goOn(.shapes, group)
  }

  private func haveSameShape(_ type: TypeReference, _ other: TypeReference) -> Bool {
    switch (type, other) {
    case (.nonNull(let a), .nonNull(let b)), (.list(let a), .list(let b)):
      return haveSameShape(a, b)
    case (.named(let a), .named(let b)):
      let isLeaf = [a, b].contains { operations.schema.type(named: $0)?.isLeaf == true }
      return a == b || !isLeaf
    default: return false
    }
  }

  private mutating func checkAnswers(_ group: [Int]) {
    var abstract: [Int] = []
    var concrete: [[Int]] = []
    var places: [String: Int] = [:]
    for number in group {
      if let parent = fields[number].parent, parent.kind == .object {
        if let place = places[parent.name] {
          concrete[place].append(number)
        } else {
          places[parent.name] = concrete.count
          concrete.append([number])
        }
      } else {
        abstract.append(number)
      }
    }
    if concrete.isEmpty { concrete = [[]] }
    for numbers in concrete {
      let together = abstract.isEmpty ? numbers : (abstract + numbers).sorted()
      let first = fields[together[0]]
      for other in together.dropFirst() {
        let field = fields[other]
        if field.syntax.name.text != first.syntax.name.text {
          report(
            other, together[0],
            "'\(field.syntax.name.text)' and '\(first.syntax.name.text)' are different fields")
        } else if field.arguments != first.arguments {
          report(other, together[0], "their arguments differ")
        }
      }
      goOn(.answers, together)
    }
  }

  private func report(_ field: Int, _ other: Int, _ reason: String) {
    let syntax = fields[field].syntax
    sink.error(
      "fields that are called '\(syntax.responseKey)' in the response cannot be merged: \(reason)",
      at: (syntax.alias ?? syntax.name).range, rule: "OverlappingFieldsCanBeMerged",
      notes: [
        (fields[other].syntax.alias ?? fields[other].syntax.name).range.note("the other is here"),
        .hint("give one of them an alias"),
      ])
  }
}
