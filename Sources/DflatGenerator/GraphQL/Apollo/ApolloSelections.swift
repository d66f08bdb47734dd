// ApolloSelections: from the operations to the structs of Apollo's, and from these to fields.
//
// A fragment narrows if some object of a struct does not satisfy its type condition. The fields of
// one that does not narrow are in the struct itself (inline) or in a struct of their own (named). A
// narrowing inline fragment has a struct `AsType`, which has the fields of the struct around it,
// too. A narrowing named fragment is optional; in Apollo iOS 1.x it is in an `AsType`.
//
// What narrows inside of an `AsType` has a struct inside of it in Apollo iOS 1.x, and one beside it
// in classic structs: the one of its type, or those of all objects that satisfy both conditions.
//
// In Apollo iOS 1.x, `@include` and `@skip` of a fragment narrow as types do, `IfCondition`, and
// what a struct satisfies already is no condition in it. Classic structs have optional properties.

import GraphQLSchema

struct ApolloSelections {
  let operations: Operations
  let names: ApolloNames

  private var schema: GraphQLSchema.Schema { operations.schema }

  private func isOf(_ type: NamedType, _ scope: ApolloScope) -> Bool {
    scope.types.contains { schema.isSubtype($0, of: type) }
  }

  private func type(of fragment: InlineFragmentSyntax) -> NamedType? {
    fragment.typeCondition.flatMap { schema.type(named: $0.text) }
  }

  /// What stands in a place. The parser limits the nesting of inline fragments.
  private func content(of place: ApolloPlace) -> ApolloPlace.Content {
    if let content = place.content { return content }
    var content = ApolloPlace.Content()
    for source in place.sources {
      if !place.scope.leavesOpen(source.conditions) {
        collect(source.selections, source.scope, false, isInside: false, place, &content)
      } else if source.scope.swift == scope(place.scope, nil, source.conditions).swift {
        narrow(place, to: nil, source.conditions, [source.selections], &content)
      }
    }
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
        let type = type(of: inline).flatMap { isOf($0, place.scope) ? nil : $0 }
        if type == nil, names.isClassic || !isOpen {
          collect(
            inline.selectionSet, self.scope(scope, self.type(of: inline), conditions),
            isConditional, isInside: isInside, place, &content)
        } else if isInside {
          narrow(place, to: type, conditions, [inline.selectionSet], &content)
          if names.isClassic, let type {
            narrow(place, inside: type, inline.selectionSet, &content)
          }
        }
      case .fragmentSpread(let spread):
        guard let fragment = operations.fragment(of: spread),
          let type = schema.type(named: fragment.typeCondition.text)
        else { continue }
        if isOf(type, place.scope) {
          content.fragments.append((fragment, isConditional))
        } else if names.isClassic {
          content.narrowing.append(fragment)
        } else if isInside {
          narrow(place, to: type, conditions, [], &content)
        }
      }
    }
  }

  /// Adds the narrower forms of a classic place that inline fragments inside of one ask for.
  private func narrow(
    _ place: ApolloPlace, inside type: NamedType, _ selections: SelectionSetSyntax,
    _ content: inout ApolloPlace.Content
  ) {
    for case .inlineFragment(let inline) in selections.selections {
      let inner = self.type(of: inline) ?? type
      if schema.isSubtype(type, of: inner) {
        narrow(place, inside: type, inline.selectionSet, &content)
        continue
      }
      let both =
        schema.isSubtype(inner, of: type)
        ? [inner] : schema.possibleTypes(of: inner).filter { schema.isSubtype($0, of: type) }
      for type in both {
        narrow(place, to: type, [], [inline.selectionSet], &content)
        narrow(place, inside: type, inline.selectionSet, &content)
      }
    }
  }

  /// Adds a narrower form of a place, once. In classic structs, narrower forms have none
  /// themselves.
  /// - Parameter type: A type that narrows the place; nil if conditions alone do.
  private func narrow(
    _ place: ApolloPlace, to type: NamedType?, _ conditions: [String],
    _ selections: [SelectionSetSyntax], _ content: inout ApolloPlace.Content
  ) {
    guard place.wider == nil || !names.isClassic,
      type.map({ type in place.scope.types.allSatisfy { schema.overlap($0, type) } }) ?? true
    else { return }
    let scope = scope(place.scope, type, conditions)
    let name = scope.swift.dropFirst(place.swift.count + 1)
    let property = name.prefix(1).lowercased() + name.dropFirst()
    if let other = content.narrower.first(where: { $0.property == property })?.place {
      return other.inner.formUnion(selections.map(ObjectIdentifier.init))
    }
    let narrower = ApolloPlace(
      type: type ?? place.type, scope: scope, sources: place.sources, inner: selections,
      wider: place)
    content.narrower.append((property, narrower))
  }

  /// The struct of a fragment inside of another struct; the same if the fragment does not narrow.
  private func scope(
    _ outer: ApolloScope, _ type: NamedType?, _ conditions: [String]
  ) -> ApolloScope {
    var scope = outer
    var name = ""
    if let type, !isOf(type, outer) {
      name = names.type(narrowedTo: type.name)
      scope.types = names.isClassic ? [type] : outer.types + [type]
    }
    // In classic structs, fields under a condition are optional instead.
    if !names.isClassic, outer.leavesOpen(conditions) {
      name += "If" + conditions.joined(separator: "And")
      scope.conditions.formUnion(conditions)
    }
    if !name.isEmpty { scope.swift += ".\(name)" }
    return scope
  }

  // MARK: Places

  /// The struct of a fragment.
  func place(of fragment: FragmentSyntax) -> ApolloPlace? {
    operations.parentType(of: fragment.selectionSet).map {
      ApolloPlace(type: $0, swift: names.type(of: fragment), fragment.selectionSet)
    }
  }

  /// The structs inside a place: those of its fields' objects, and its narrower forms.
  func places(in place: ApolloPlace) -> [ApolloPlace] {
    let content = content(of: place)
    return direct(content, in: place).compactMap(child) + content.narrower.map(\.place)
  }

  /// The narrower form of a place for the objects of exactly one type.
  func narrower(_ place: ApolloPlace, for type: NamedType) -> (property: String, ApolloPlace)? {
    content(of: place).narrower.first {
      $0.place.type.name == type.name && $0.property == names.property(narrowingTo: type.name)
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
      type: type, scope: scope,
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
    return ApolloPlace(type: type, scope: inner(owner, groups[owner] ?? []), sources: sources)
  }

  /// The selections of a key that count in a place, also those of its named fragments.
  private func selected(_ key: String, in place: ApolloPlace) -> [ApolloPlace.Selected] {
    var result: [ApolloPlace.Selected] = []
    var seen: Set<String> = []
    func find(_ selections: SelectionSetSyntax, _ scope: ApolloScope) {
      for selection in selections.selections {
        guard let conditions = names.conditions(selection.directives) else { continue }
        let isOpen = place.scope.leavesOpen(conditions)
        switch selection {
        case .field(let field) where field.responseKey == key:
          result.append(
            .init(field: field, conditions: conditions, isConditional: isOpen, scope: scope))
        case .field: break
        case .inlineFragment(let inline):
          let type = type(of: inline)
          guard !isOpen, type.map({ isOf($0, place.scope) }) ?? true else { continue }
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

  // MARK: Fields

  /// The fields that are properties of a place itself.
  private func direct(_ content: ApolloPlace.Content, in place: ApolloPlace) -> [ApolloAccess] {
    var keys: [String] = []
    var found: [String: [ApolloPlace.Selected]] = [:]
    for selected in content.fields {
      let key = selected.field.responseKey
      if found[key] == nil { keys.append(key) }
      found[key, default: []].append(selected)
    }
    return keys.compactMap { key in
      guard let selected = found[key] else { return nil }
      // One struct has it under conditions if all of its selections are.
      let conditions = Dictionary(grouping: selected, by: \.scope.swift).values
        .map { $0.allSatisfy(\.isConditional) }
      let isAlways = selected.contains { !$0.isConditional }
      let isUncertain = !names.isClassic && isAlways && conditions.contains(true)
      return ApolloAccess(
        path: "", isOptional: !isAlways || isUncertain, isUncertain: isUncertain, place: place,
        fields: selected.map(\.field))
    }
  }

  /// All ways to fields of a place's objects that are of `type`, the shorter ones first.
  func fields(of place: ApolloPlace, for type: NamedType) -> [ApolloAccess] {
    var result: [ApolloAccess] = []
    var pending = [(place: place, path: "", isOptional: false)]
    var seen: Set<String> = []
    var next = 0
    while next < pending.count {
      let (place, path, isOptional) = pending[next]
      next += 1
      guard seen.insert("\(place.swift)\(isOptional ? "?" : "")").inserted else { continue }
      let content = content(of: place)
      result += direct(content, in: place).map { access in
        var access = access
        access.path = path
        access.isOptional = access.isOptional || isOptional
        return access
      }
      for (fragment, isConditional) in content.fragments {
        guard let inner = self.place(of: fragment) else { continue }
        let property = "\(path).fragments.\(names.property(of: fragment))"
        pending.append(
          (inner, property + (isConditional ? "?" : ""), isOptional || isConditional))
      }
      for fragment in content.narrowing {
        guard let inner = self.place(of: fragment), schema.isSubtype(type, of: inner.type) else {
          continue
        }
        pending.append((inner, "\(path).fragments.\(names.property(of: fragment))?", true))
      }
      for (property, narrower) in content.narrower
      where schema.isSubtype(type, of: narrower.type) {
        pending.append((narrower, "\(path).\(property)?", true))
      }
    }
    return result
  }

  /// The best ways to a field of a place's objects that are of `type`: one that always leads to it,
  /// or all others. They have one response key.
  func ways(
    to name: String, from place: ApolloPlace, for type: NamedType
  ) -> [ApolloAccess] {
    let all = fields(of: place, for: type).filter { $0.name == name }
    let key = all.contains { $0.responseKey == name } ? name : all.first?.responseKey
    let ways = all.filter { $0.responseKey == key }
    if let sure = ways.first(where: { !$0.isOptional }) { return [sure] }
    return ways
  }
}
