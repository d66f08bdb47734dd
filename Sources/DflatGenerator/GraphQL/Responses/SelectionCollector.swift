// Merges the fragments of an operation into the shape of its response.
//
// A field of a fragment is selected of some object types only: of those that satisfy all type
// conditions around it. Fields are therefore collected with the set of these types, and each
// different set is a view. Types are also told apart where a program stores entities of several
// object types.
//
// Interfaces may have thousands of types, so "all types that the object can be of" is not a set but
// nil, and most selections never look at it. It includes types that the schema does not have yet;
// a set of all types that it has does not.

import Diagnostics
import GraphQLSchema

struct SelectionCollector {
  let schema: GraphQLSchema.Schema
  let operations: Operations
  let sink: DiagnosticSink
  /// Whether `__typename` is selected of all objects of abstract types.
  let tellsTypes: Bool
  let possibleTypes: PossibleTypes
  let addedKeys: AddedKeys
  /// Whether deferred fragments come later than the others.
  let isIncremental: Bool
  /// The selection sets that `__typename` is added to.
  private(set) var extended: Set<ObjectIdentifier> = []
  private var count = 0

  /// Deeper selections, which only fragments can make, are refused.
  private static let depthLimit = 200
  /// The greatest number of fragments, each with its conditions, that one object is made of.
  private static let fragmentLimit = 2_000
  /// Fragments in fragments can make a response that is far larger than the document.
  private static let objectLimit = 50_000
  /// How the conditions of deferred fragments begin.
  private static let deferral = "defer "

  init(
    schema: GraphQLSchema.Schema, operations: Operations, sink: DiagnosticSink,
    possibleTypes: PossibleTypes, addedKeys: AddedKeys, tellsTypes: Bool,
    isIncremental: Bool
  ) {
    self.isIncremental = isIncremental
    self.schema = schema
    self.operations = operations
    self.sink = sink
    self.possibleTypes = possibleTypes
    self.addedKeys = addedKeys
    self.tellsTypes = tellsTypes
  }

  /// A selection set, with the conditions under which it is selected.
  struct Source {
    let set: SelectionSetSyntax
    let conditions: Set<String>
  }

  /// One place where a key is selected.
  private struct Occurrence {
    let field: FieldSyntax
    let definition: OutputField
    /// The object types of which it is selected; nil for all.
    let types: Set<String>?
    let conditions: Set<String>
    /// Whether it is a key that the operation does not select.
    let isAdded: Bool

    func isSelected(of members: Set<String>) -> Bool { types?.isSuperset(of: members) ?? true }
  }

  /// What is known on the way to a selection.
  private struct Way {
    /// The object types that satisfy all type conditions; nil for all.
    var types: Set<String>?
    var conditions: Set<String>
    /// The innermost type condition that narrows.
    var narrowing: NamedType?
    var fragments: [String] = []
  }

  /// What the sources select of an object.
  mutating func object(
    _ type: NamedType, origin: FieldSyntax?, _ sources: [Source], depth: Int = 0
  ) -> SelectedObject {
    let possible = possibleTypes.names(of: type)
    let object = SelectedObject(type: type, possible: possible, origin: origin)
    count += 1
    if sink.errorCount > 0 { return object }
    guard depth < Self.depthLimit, count < Self.objectLimit else {
      if let range = (origin?.name ?? nil)?.range ?? sources.first?.set.range {
        sink.error(
          depth < Self.depthLimit
            ? "fragments make the operation larger than \(Self.objectLimit) selected objects"
            : "selections are nested more than \(Self.depthLimit) levels deep", at: range)
      }
      return object
    }
    var walk = Walk(type: type)
    for source in sources {
      self.walk(source.set, Way(types: nil, conditions: source.conditions), &walk)
    }
    object.spreads = walk.spreads
    object.onlyFragment = onlyFragment(of: sources, type)
    let sets = views(walk, possible)
    let isTold = !sets.isEmpty || (tellsTypes && type.isAbstract)
    if isTold {
      refuseOther(walk.found["__typename"] ?? [])
      addTypename(to: sources)
      if walk.found["__typename"]?.contains(where: { $0.types == nil && $0.conditions.isEmpty })
        != true, let definition = schema.field(named: "__typename", in: type)
      {
        object.fields.append(
          SelectedField(
            key: "__typename", definition: definition, syntax: nil, isConditional: false,
            object: nil))
        walk.found["__typename"] = nil
      }
    }
    for key in walk.keys {
      let shared = walk.found[key]?.filter { $0.types == nil } ?? []
      if !shared.isEmpty { object.fields.append(field(key, shared, sources, depth)) }
    }
    for (types, name) in sets {
      let members = types.count == 1 ? Array(types) : possible.filter(types.contains)
      let view = SelectedObject(type: type, possible: members, origin: origin)
      for key in walk.keys {
        let found = walk.found[key]?.filter { $0.isSelected(of: types) } ?? []
        // What is added does not take anything out of a view.
        let written = found.filter { !$0.isAdded }
        let shared = written.filter { $0.types == nil }
        let isNew =
          shared.isEmpty
          ? !written.isEmpty || (!found.isEmpty && found.allSatisfy { $0.types != nil })
          : written.count > shared.count
            && (written[0].field.selectionSet != nil
              || Self.isConditional(shared, sources))
        if isNew { view.fields.append(field(key, found, sources, depth)) }
      }
      object.views.append(SelectedView(types: types, name: name, object: view))
    }
    return object
  }

  private func onlyFragment(of sources: [Source], _ type: NamedType) -> String? {
    guard sources.count == 1, sources[0].conditions.isEmpty, addedKeys[sources[0].set].isEmpty,
      sources[0].set.selections.count == 1,
      case .fragmentSpread(let spread) = sources[0].set.selections[0], spread.directives.isEmpty,
      operations.fragment(of: spread)?.typeCondition.text == type.name
    else { return nil }
    return spread.name.text
  }

  private mutating func field(
    _ key: String, _ found: [Occurrence], _ sources: [Source], _ depth: Int
  ) -> SelectedField {
    // What is added does not change the type of what the operation selects.
    let written = found.filter { !$0.isAdded }
    let isConditional = !written.isEmpty && Self.isConditional(written, sources)
    var object: SelectedObject?
    // An interface's field may have a wider type than the same field of an object type.
    let inner = found.compactMap { schema.type(in: $0.definition.type) }
      .min { schema.possibleTypes(of: $0).count < schema.possibleTypes(of: $1).count }
    if let inner, inner.isComposite {
      // If the object is there, the conditions that all places share are true.
      let given =
        found.allSatisfy { !$0.conditions.isEmpty }
        ? found.dropFirst().reduce(found[0].conditions) { $0.intersection($1.conditions) } : []
      let sources = found.compactMap { occurrence in
        occurrence.field.selectionSet.map {
          Source(set: $0, conditions: occurrence.conditions.subtracting(given))
        }
      }
      object = self.object(inner, origin: found[0].field, sources, depth: depth + 1)
    }
    let definition =
      found.first { schema.type(in: $0.definition.type)?.name == inner?.name }?.definition
      ?? found[0].definition
    return SelectedField(
      key: key, definition: definition, syntax: found[0].field, isConditional: isConditional,
      isDeferred: isConditional && Self.isDeferred(found, sources), isAdded: written.isEmpty,
      isAlwaysSent: isConditional && !Self.isConditional(found, sources), object: object)
  }

  /// Whether an object may be there without a key: one of the sources makes the object appear, and
  /// under its conditions the key need not be selected.
  private static func isConditional(_ found: [Occurrence], _ sources: [Source]) -> Bool {
    !sources.allSatisfy { source in
      found.contains { $0.conditions.isSubset(of: source.conditions) }
    }
  }

  /// Whether an object may be there before a key: one of the sources makes the object appear, and
  /// only deferred fragments inside of it select the key.
  private static func isDeferred(_ found: [Occurrence], _ sources: [Source]) -> Bool {
    !sources.allSatisfy { source in
      found.contains { occurrence in
        !occurrence.conditions.contains {
          $0.hasPrefix(deferral) && !source.conditions.contains($0)
        }
      }
    }
  }

  /// Reports another field that is called `__typename` where that tells objects apart.
  private func refuseOther(_ found: [Occurrence]) {
    guard let alias = found.lazy.map(\.field).first(where: { $0.name.text != "__typename" })?.alias
    else { return }
    sink.error(
      "'__typename' is the type of this object, and cannot be another field of it",
      at: alias.range, notes: [.hint("give the field another alias")])
  }

  private mutating func addTypename(to sources: [Source]) {
    for source in sources {
      let has = source.set.selections.contains { selection in
        guard case .field(let field) = selection else { return false }
        return field.responseKey == "__typename" && field.directives.isEmpty
      }
      if !has { extended.insert(ObjectIdentifier(source.set)) }
    }
  }

  // MARK: Fragments

  private struct Walk {
    /// The object's type in the schema.
    let type: NamedType
    var keys: [String] = []
    var found: [String: [Occurrence]] = [:]
    /// The names of the type conditions that make a set of types.
    var names: [Set<String>: NamedType] = [:]
    var seen: Set<SeenFragment> = []
    var spreads: [FragmentSpread] = []
  }

  private struct SeenFragment: Hashable {
    let name: String
    let types: Set<String>?
    let conditions: Set<String>
  }

  private func walk(_ set: SelectionSetSyntax, _ way: Way, _ walk: inout Walk) {
    guard let parent = operations.parentType(of: set) ?? addedKeys.parentType(of: set) else {
      return
    }
    func note(
      _ field: FieldSyntax, _ definition: OutputField, isAdded: Bool, _ way: Way,
      _ walk: inout Walk
    ) {
      let key = field.responseKey
      if walk.found[key] == nil { walk.keys.append(key) }
      walk.found[key, default: []].append(
        Occurrence(
          field: field, definition: definition, types: way.types, conditions: way.conditions,
          isAdded: isAdded))
      if let types = way.types, let narrowing = way.narrowing, walk.names[types] == nil {
        walk.names[types] = narrowing
      }
    }
    for key in addedKeys[set] {
      var way = way
      guard narrow(&way, to: key.condition, walk.type) else { continue }
      note(key.field, key.definition, isAdded: true, way, &walk)
    }
    for selection in set.selections {
      var way = way
      way.conditions.formUnion(conditions(selection.directives))
      switch selection {
      case .field(let field):
        guard let definition = schema.field(named: field.name.text, in: parent) else { continue }
        note(field, definition, isAdded: false, way, &walk)
      case .inlineFragment(let fragment):
        guard narrow(&way, to: fragment.typeCondition?.text, walk.type) else { continue }
        self.walk(fragment.selectionSet, way, &walk)
      case .fragmentSpread(let spread):
        guard let fragment = operations.fragment(of: spread),
          narrow(&way, to: fragment.typeCondition.text, walk.type)
        else { continue }
        let seen = SeenFragment(
          name: fragment.name.text, types: way.types, conditions: way.conditions)
        guard !way.fragments.contains(fragment.name.text),
          way.fragments.count < Self.depthLimit
        else {
          sink.error(
            "fragments are spread in each other, in a circle or more than \(Self.depthLimit) deep",
            at: spread.name.range)
          continue
        }
        guard walk.seen.count < Self.fragmentLimit else {
          return sink.error(
            "fragments are spread under more than \(Self.fragmentLimit) different conditions",
            at: spread.name.range)
        }
        guard walk.seen.insert(seen).inserted else { continue }
        let known = FragmentSpread(name: seen.name, types: seen.types)
        if !walk.spreads.contains(known) { walk.spreads.append(known) }
        way.fragments.append(fragment.name.text)
        self.walk(fragment.selectionSet, way, &walk)
      }
    }
  }

  /// Leaves the types that satisfy a condition; false if there are none.
  ///
  /// A condition that all types of the schema satisfy narrows all the same, unless it is a
  /// supertype: the service may get types that do not satisfy it, and their objects must be
  /// decoded, too.
  private func narrow(_ way: inout Way, to condition: String?, _ type: NamedType) -> Bool {
    guard let condition else { return true }
    guard let narrowing = schema.type(named: condition) else { return false }
    if schema.isSubtype(type, of: narrowing) { return true }
    let all = way.types ?? possibleTypes.set(of: type)
    let types =
      narrowing.kind == .object
      ? (all.contains(condition) ? [condition] : [])
      : all.intersection(possibleTypes.set(of: narrowing))
    if types.isEmpty { return false }
    if types.count < all.count || way.types == nil {
      way.narrowing = narrowing
      way.types = types
    }
    return true
  }

  /// What must be true for a selection, as a text for each condition.
  private func conditions(_ directives: [DirectiveSyntax]) -> [String] {
    directives.compactMap { directive in
      if isIncremental, directive.name.text == "defer" {
        if case .boolean(false)? = directive.argument("if")?.value.kind { return nil }
        // Each comes by itself.
        return Self.deferral + "\(directive.range.file.path):\(directive.range.start)"
      }
      let isSkip = directive.name.text == "skip"
      guard isSkip || directive.name.text == "include", let value = directive.argument("if")?.value
      else { return nil }
      if case .boolean(let literal) = value.kind, literal != isSkip { return nil }
      return "\(directive.name.text) \(value.canonicalText)"
    }
  }

  // MARK: Views

  /// The sets of types that need views, from large to small, with their names.
  private func views(
    _ walk: Walk, _ possible: [String]
  ) -> [(types: Set<String>, name: String)] {
    var names: [Set<String>: String] = [:]
    for types in Set(walk.found.values.joined().compactMap(\.types)) {
      if types.count == 1, let only = types.first {
        names[types] = only
      } else if let condition = walk.names[types],
        possibleTypes.set(of: condition).intersection(possibleTypes.set(of: walk.type)) == types
      {
        names[types] = condition.name
      } else {
        // Several conditions together have no name.
        for type in types { names[[type]] = type }
      }
    }
    // Where an object type is in sets of which none is inside all others, it needs its own.
    let several = names.count > 1 ? Set(names.keys.joined()) : []
    for type in possible where several.contains(type) {
      let sets = names.keys.filter { $0.contains(type) }
      guard let smallest = sets.min(by: { $0.count < $1.count }) else { continue }
      if !sets.allSatisfy(smallest.isSubset(of:)) { names[[type]] = type }
    }
    return names.map { (types: $0.key, name: $0.value) }
      .sorted { ($1.types.count, $0.name) < ($0.types.count, $1.name) }
  }
}

/// The object types of each type, counted once for all operations.
final class PossibleTypes {
  private let schema: GraphQLSchema.Schema
  private var names: [String: [String]] = [:]
  private var sets: [String: Set<String>] = [:]

  init(_ schema: GraphQLSchema.Schema) { self.schema = schema }

  /// In schema order.
  func names(of type: NamedType) -> [String] {
    if let known = names[type.name] { return known }
    let found = schema.possibleTypes(of: type).map(\.name)
    names[type.name] = found
    return found
  }

  func set(of type: NamedType) -> Set<String> {
    if let known = sets[type.name] { return known }
    let found = Set(names(of: type))
    sets[type.name] = found
    return found
  }
}
