// ApolloSelections: from the operations to the structs of Apollo's, and from these to fields.
//
// A fragment narrows if some object of a struct does not satisfy its type condition. The fields of
// one that does not narrow are in the struct itself (inline) or in a struct of their own (named). A
// narrowing inline fragment has a struct `AsType`, which has the fields of the struct around it,
// too. A narrowing named fragment is optional; in Apollo iOS 1.x it is in an `AsType`.
//
// What narrows inside of an `AsType` has a struct inside of it in Apollo iOS 1.x. Classic structs
// have one for each set of objects, beside each other: see ApolloVariants.
//
// In Apollo iOS 1.x, `@include` and `@skip` of a fragment narrow as types do, `IfCondition`, and a
// fragment whose type and conditions a struct satisfies does not narrow it. Classic structs have
// optional properties.

import GraphQLSchema

struct ApolloSelections {
  let operations: Operations
  let names: ApolloNames
  private let fragments = FragmentPlaces()

  /// The structs of fragments.
  private final class FragmentPlaces {
    var known: [String: ApolloPlace] = [:]
  }

  var schema: GraphQLSchema.Schema { operations.schema }

  func isOf(_ type: NamedType, _ scope: ApolloScope) -> Bool {
    names.isClassic
      ? objects(of: scope).allSatisfy { schema.isSubtype($0, of: type) }
      : scope.types.contains { schema.isSubtype($0, of: type) }
  }

  /// Whether a struct may be that of an object of a type; of each, if the type has several.
  func admits(_ place: ApolloPlace, _ type: NamedType) -> Bool {
    guard let objects = place.scope.objects else { return schema.isSubtype(type, of: place.type) }
    return schema.possibleTypes(of: type).allSatisfy { type in
      objects.contains { $0.name == type.name }
    }
  }

  /// What stands in a place. The parser limits the nesting of inline fragments.
  func content(of place: ApolloPlace) -> ApolloPlace.Content {
    if let content = place.content { return content }
    var content = ApolloPlace.Content()
    for source in place.sources {
      if !place.scope.leavesOpen(source.conditions) {
        collect(source.selections, source.scope, false, isInside: false, place, &content)
      } else if source.scope.swift == scope(place.scope, nil, source.conditions).swift {
        narrow(place, to: place.type, source.conditions, [source.selections], &content)
      }
    }
    if names.isClassic { content.narrower = variants(of: place) }
    place.content = content
    return content
  }

  /// - Parameters:
  ///   - scope: The struct to which the selections belong.
  ///   - isInside: Whether what narrows in these selections narrows this place, and not the one
  ///     around it.
  private func collect(
    _ selections: SelectionSetSyntax, _ scope: ApolloScope, _ isConditional: Bool, isInside: Bool,
    _ place: ApolloPlace, _ content: inout ApolloPlace.Content
  ) {
    let isInside = isInside || place.inner.contains(ObjectIdentifier(selections))
    for selection in selections.selections {
      guard let conditions = names.conditions(selection.directives) else { continue }
      let isOpen = place.scope.leavesOpen(conditions)
      let isConditional = isConditional || isOpen
      switch selection {
      case .field(let field):
        content.fields.append(
          .init(
            field: field, conditions: conditions, isConditional: isConditional, scope: scope))
      case .inlineFragment(let inline):
        guard let type = operations.parentType(of: inline.selectionSet) else { continue }
        if isOf(type, place.scope), names.isClassic || !isOpen {
          collect(
            inline.selectionSet, self.scope(scope, type, conditions), isConditional,
            isInside: isInside, place, &content)
        } else if isInside, !names.isClassic {
          narrow(place, to: type, conditions, [inline.selectionSet], &content)
        }
      case .fragmentSpread(let spread):
        guard let fragment = operations.fragment(of: spread),
          let type = schema.type(named: fragment.typeCondition.text)
        else { continue }
        // Under a condition, one is in the struct that spreads it, if it does not narrow that one.
        if isOf(type, place.scope), names.isClassic || !isOpen || isOf(type, scope) {
          content.fragments.append((fragment, conditions, isConditional))
          // There alone its objects have what is selected of them around the fragment, too.
          if !names.isClassic, isOpen, isInside, selectsObjects(fragment) {
            narrow(place, to: type, conditions, [], &content)
          }
        } else if names.isClassic {
          content.narrowing.append(fragment)
        } else if isInside {
          narrow(place, to: type, conditions, [], &content)
        }
      }
    }
  }

  private func selectsObjects(_ fragment: FragmentSyntax) -> Bool {
    everything(in: [fragment.selectionSet]).contains { selection in
      if case .field(let field) = selection { field.selectionSet != nil } else { false }
    }
  }

  /// Adds a narrower form of a place of Apollo iOS 1.x, once.
  private func narrow(
    _ place: ApolloPlace, to type: NamedType, _ conditions: [String],
    _ selections: [SelectionSetSyntax], _ content: inout ApolloPlace.Content
  ) {
    guard place.scope.types.allSatisfy({ schema.overlap($0, type) }) else { return }
    let scope = scope(place.scope, type, conditions)
    let property = names.lowerFirst(String(scope.swift.dropFirst(place.swift.count + 1)))
    if let other = content.narrower.first(where: { $0.property == property })?.place {
      return other.inner.formUnion(selections.map(ObjectIdentifier.init))
    }
    let narrower = ApolloPlace(
      type: schema.isSubtype(place.type, of: type) ? place.type : type, place.selector,
      scope: scope, sources: place.sources, inner: selections, wider: place)
    content.narrower.append((property, narrower))
  }

  /// The struct of a fragment inside of another struct; the same if the fragment does not narrow.
  private func scope(
    _ outer: ApolloScope, _ type: NamedType?, _ conditions: [String]
  ) -> ApolloScope {
    // In classic structs, fields under a condition are optional, and `variants` has the others.
    let isWide = type.map { isOf($0, outer) } ?? true
    if names.isClassic || isWide && !outer.leavesOpen(conditions) { return outer }
    var scope = outer
    var name = ""
    // The name leaves out the type of the struct around it alone, and no wider one.
    if let type, type.name != outer.types.last?.name {
      name = names.type(narrowedTo: type)
      scope.types.append(type)
    }
    if !conditions.isEmpty {
      name += "If" + conditions.joined(separator: "And")
      scope.conditions.formUnion(conditions)
    }
    scope.swift += ".\(name)"
    return scope
  }

  // MARK: Places

  /// The struct of a fragment.
  func place(of fragment: FragmentSyntax) -> ApolloPlace? {
    if let known = fragments.known[fragment.name.text] { return known }
    let place = operations.parentType(of: fragment.selectionSet).map {
      ApolloPlace(type: $0, swift: names.type(of: fragment), fragment.selectionSet)
    }
    fragments.known[fragment.name.text] = place
    return place
  }

  /// The structs inside a place: those of its fields' objects, and its narrower forms.
  func places(in place: ApolloPlace) -> [ApolloPlace] {
    let content = content(of: place)
    return direct(in: place).compactMap(child) + content.narrower.map(\.place)
  }

  /// The narrower form of a place for the objects of one type; nil if there is none, or if another
  /// narrower form has something of such objects that it lacks.
  func narrower(_ place: ApolloPlace, for type: NamedType) -> (property: String, ApolloPlace)? {
    let forms = content(of: place).narrower.filter { admits($0.place, type) }
    if names.isClassic { return forms.first }
    let property = names.lowerFirst(names.type(narrowedTo: type))
    guard let form = forms.first(where: { $0.property == property }),
      forms.allSatisfy({ contains($0.place, in: form.place, for: type) })
    else { return nil }
    return form
  }

  /// Whether everything in a narrower form is in another one, too, where objects are of a type.
  private func contains(
    _ form: ApolloPlace, in other: ApolloPlace, for type: NamedType
  ) -> Bool {
    form === other
      || form.scope.conditions.isSubset(of: other.scope.conditions)
        && content(of: form).narrower.allSatisfy {
          !admits($0.place, type) || contains($0.place, in: other, for: type)
        }
  }

  /// The struct of the objects of a field; nil if they have none.
  func child(_ access: ApolloAccess) -> ApolloPlace? {
    guard let definition = operations.definition(of: access.fields[0]),
      let type = schema.type(in: definition.type), type.isComposite
    else { return nil }
    let name = names.type(ofField: access.responseKey, isList: definition.type.element != nil)
    return names.isClassic ? classicChild(access, type, name) : child(access, type, name)
  }

  /// The classic struct of a field's objects: it has what fragments select of the same field, too.
  private func classicChild(
    _ access: ApolloAccess, _ type: NamedType, _ name: String
  ) -> ApolloPlace {
    var fields = access.fields
    if !content(of: access.place).fragments.isEmpty {
      for other in self.fields(of: access.place, for: access.place.type)
      where other.responseKey == access.responseKey {
        fields += other.fields
      }
    }
    var seen: Set<ObjectIdentifier> = []
    let scope = ApolloScope(swift: "\(access.place.swift).\(name)", types: [type])
    return ApolloPlace(
      type: type, access.selector, scope: scope,
      sources: fields.compactMap(\.selectionSet)
        .filter { seen.insert(ObjectIdentifier($0)).inserted }
        .map { ApolloSource(selections: $0, scope: scope) })
  }

  /// The struct of a field's objects in Apollo iOS 1.x.
  ///
  /// It has the fields of all structs whose selections its owner has, too: wider ones, other
  /// narrower ones, and those of fragments. If all are of one of these, that one's struct is used,
  /// under its own name. Where selections of one struct differ in their conditions, what is under
  /// conditions narrows.
  private func child(
    _ access: ApolloAccess, _ type: NamedType, _ name: String
  ) -> ApolloPlace {
    let place = access.place
    let all = selected(access.responseKey, in: place)
    let groups = Dictionary(grouping: all, by: \.scope.swift).mapValues { group in
      let first = Set(group[0].conditions)
      return group.allSatisfy { Set($0.conditions) == first } ? first : []
    }
    let owner = groups.count == 1 ? all[0].scope.swift : place.swift
    func inner(_ owner: String, _ conditions: Set<String>) -> ApolloScope {
      ApolloScope(swift: "\(owner).\(name)", types: [type], conditions: conditions)
    }
    let sources = all.compactMap { one in
      one.field.selectionSet.map { selections in
        ApolloSource(
          selections: selections,
          scope: scope(
            inner(one.scope.swift, groups[one.scope.swift] ?? []), nil, one.conditions),
          conditions: one.conditions)
      }
    }
    return ApolloPlace(
      type: type, access.selector, scope: inner(owner, groups[owner] ?? []), sources: sources)
  }

  /// The selections of a key, or of all, that count in a place, also those of its named fragments.
  private func selected(_ key: String?, in place: ApolloPlace) -> [ApolloPlace.Selected] {
    var result: [ApolloPlace.Selected] = []
    var seen: Set<String> = []
    func find(_ selections: SelectionSetSyntax, _ scope: ApolloScope) {
      for selection in selections.selections {
        guard let conditions = names.conditions(selection.directives) else { continue }
        let isOpen = place.scope.leavesOpen(conditions)
        switch selection {
        case .field(let field) where key == nil || field.responseKey == key:
          result.append(
            .init(field: field, conditions: conditions, isConditional: isOpen, scope: scope))
        case .field: break
        case .inlineFragment(let inline):
          guard !isOpen, let type = operations.parentType(of: inline.selectionSet),
            isOf(type, place.scope)
          else { continue }
          find(inline.selectionSet, self.scope(scope, type, conditions))
        case .fragmentSpread(let spread):
          guard !isOpen, let fragment = operations.fragment(of: spread),
            let type = schema.type(named: fragment.typeCondition.text), isOf(type, place.scope),
            seen.insert(fragment.name.text).inserted
          else { continue }
          find(
            fragment.selectionSet, ApolloScope(swift: names.type(of: fragment), types: [type]))
        }
      }
    }
    for source in place.sources where !place.scope.leavesOpen(source.conditions) {
      find(source.selections, source.scope)
    }
    return result
  }

  /// The directives in a place, and in its fragments, that delay what is selected of its objects.
  func deferrals(in place: ApolloPlace) -> [DirectiveSyntax] {
    everything(in: place.sources.map(\.selections)).flatMap(\.directives).filter { directive in
      if case .boolean(false) = directive.argument("if")?.value.kind { return false }
      return directive.name.text == "defer"
    }
  }

  /// What is selected of the same objects, also in fragments.
  private func everything(in sets: [SelectionSetSyntax]) -> [SelectionSyntax] {
    var result: [SelectionSyntax] = []
    var pending = sets
    var seen: Set<ObjectIdentifier> = []
    while let selections = pending.popLast() {
      guard seen.insert(ObjectIdentifier(selections)).inserted else { continue }
      result += selections.selections
      pending += selections.selections.compactMap { selection in
        switch selection {
        case .field: nil
        case .inlineFragment(let inline): inline.selectionSet
        case .fragmentSpread(let spread): operations.fragment(of: spread)?.selectionSet
        }
      }
    }
    return result
  }

  // MARK: Fields

  /// The fields that are properties of a place itself.
  func direct(in place: ApolloPlace) -> [ApolloAccess] {
    if let known = place.direct { return known }
    let content = content(of: place)
    var keys: [String] = []
    var found: [String: [ApolloPlace.Selected]] = [:]
    for selected in content.fields + objectsOfFragments(content, in: place) {
      let key = selected.field.responseKey
      if found[key] == nil { keys.append(key) }
      found[key, default: []].append(selected)
    }
    let direct: [ApolloAccess] = keys.compactMap { key in
      guard let selected = found[key] else { return nil }
      // One struct has it under conditions if all of its selections are.
      let conditions = Dictionary(grouping: selected, by: \.scope.swift).values
        .map { $0.allSatisfy(\.isConditional) }
      let isAlways = selected.contains { !$0.isConditional }
      let isUncertain = !names.isClassic && isAlways && conditions.contains(true)
      return ApolloAccess(
        path: "", isOptional: !isAlways || isUncertain, isUncertain: isUncertain, place: place,
        scope: place.scope, fields: selected.map(\.field))
    }
    place.direct = direct
    return direct
  }

  /// The fields with objects that are selected in several named fragments alone. In Apollo iOS 1.x
  /// a struct around these has what all of them select.
  private func objectsOfFragments(
    _ content: ApolloPlace.Content, in place: ApolloPlace
  ) -> [ApolloPlace.Selected] {
    guard !names.isClassic, !content.fragments.isEmpty else { return [] }
    let own = Set(content.fields.map(\.field.responseKey))
    let others = selected(nil, in: place)
      .filter { $0.field.selectionSet != nil && !own.contains($0.field.responseKey) }
    let owners = Dictionary(grouping: others, by: \.field.responseKey)
      .mapValues { Set($0.map(\.scope.swift)).count }
    return others.filter { owners[$0.field.responseKey] ?? 0 > 1 }
  }
}
