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
// While all fields of a group can stand in the same object, both checks go on with the same
// selections, together.
//
// A set that was checked is not checked again: documents with many fragments lead to the same sets
// on many paths, and documents with cycles of fragments to finitely many. Sets that one selection
// set makes are as many as there are selection sets. Sets of several can be exponentially many, so
// the work on these is limited.

import Diagnostics

struct FieldMerging {
  /// Caps the fields in all sets that several selection sets make, per field of the documents.
  private static let workPerField = 64
  /// What is allowed to the smallest documents.
  private static let leastWork = 200_000

  private enum Check: UInt8 {
    case shapes = 1
    case answers = 2
    case both = 3
  }

  /// A selected field.
  private struct Field {
    var syntax: FieldSyntax
    /// Nil if it is unknown.
    var parent: NamedType?
    var type: TypeReference?
    /// The same for equal arguments.
    var arguments: String
  }

  /// A set to check, as numbers of fields; sorted if several selection sets make it.
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
  /// The checks of sets that consist of one selection set, with the fragments in it, as bits.
  private var knownSelections: [ObjectIdentifier: UInt8] = [:]
  private var reached: Set<ObjectIdentifier> = []
  private var work = 0
  private var workLimit: Int { max(Self.leastWork, fields.count * Self.workPerField) }

  static func check(_ operations: Operations, sink: DiagnosticSink) {
    var merging = FieldMerging(operations: operations, sink: sink)
    for operation in operations.operations { merging.check(operation.selectionSet) }
    // The others were checked where they are spread.
    for fragment in operations.fragments where !merging.reached.contains(ObjectIdentifier(fragment))
    {
      merging.check(fragment.selectionSet)
    }
  }

  private init(operations: Operations, sink: DiagnosticSink) {
    self.operations = operations
    self.sink = sink
  }

  private mutating func check(_ selectionSet: SelectionSetSyntax) {
    add(.both, [selectionSet])
    while let next = waiting.popLast() {
      guard work < workLimit else {
        let place = fields[next.fields[0]].syntax.name.range
        sink.error(
          "these selections overlap in too many ways to be checked", at: place,
          rule: "OverlappingFieldsCanBeMerged",
          notes: [.hint("use fewer fragments that spread each other")])
        waiting = []
        return
      }
      for group in groups(next.fields) {
        if next.check != .answers { checkShapes(group) }
        if next.check == .shapes { goOn(.shapes, group) } else { checkAnswers(group, next.check) }
      }
    }
  }

  private mutating func add(_ check: Check, _ selectionSets: [SelectionSetSyntax]) {
    if selectionSets.count == 1 {
      let key = ObjectIdentifier(selectionSets[0])
      let known = knownSelections[key] ?? 0
      guard known & check.rawValue != check.rawValue else { return }
      knownSelections[key] = known | check.rawValue
      waiting.append(Work(check: check, fields: expand(selectionSets)))
    } else {
      let next = Work(check: check, fields: expand(selectionSets).sorted())
      work += next.fields.count
      if known.insert(next).inserted { waiting.append(next) }
    }
  }

  // MARK: Sets

  /// All fields of different selection sets, with those of fragments; each of them once.
  private mutating func expand(_ selectionSets: [SelectionSetSyntax]) -> [Int] {
    var result: [Int] = []
    var seen: Set<String> = []
    var pending = selectionSets
    while let selectionSet = pending.popLast() {
      for selection in selectionSet.selections {
        switch selection {
        case .field(let field): result.append(number(of: field, in: selectionSet))
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
    return result
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
    var selectionSets: [SelectionSetSyntax] = []
    for number in group {
      if let inner = fields[number].syntax.selectionSet { selectionSets.append(inner) }
    }
    if !selectionSets.isEmpty { add(check, selectionSets) }
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

  private mutating func checkAnswers(_ group: [Int], _ check: Check) {
    guard group.count > 1 else { return goOn(check, group) }
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
    let isWhole = concrete.count == 1
    if !isWhole, check == .both { goOn(.shapes, group) }
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
      goOn(isWhole ? check : .answers, together)
    }
  }

  /// Reports two fields at the one that stands later in the texts.
  private func report(_ field: Int, _ other: Int, _ reason: String) {
    var (later, earlier) = (place(of: field), place(of: other))
    if (later.file.index, later.start) < (earlier.file.index, earlier.start) {
      (later, earlier) = (earlier, later)
    }
    let key = fields[field].syntax.responseKey
    sink.error(
      "fields that are called '\(key)' in the response cannot be merged: \(reason)", at: later,
      rule: "OverlappingFieldsCanBeMerged",
      notes: [earlier.note("the other is here"), .hint("give one of them an alias")])
  }

  private func place(of field: Int) -> SourceRange {
    (fields[field].syntax.alias ?? fields[field].syntax.name).range
  }
}
