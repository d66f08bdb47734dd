// ApolloSelections: from the operations to the structs of Apollo's, and from these to fields.
//
// A fragment narrows if some object of a struct's type does not satisfy its type condition. The
// fields of one that does not narrow are in the struct itself (inline) or in a struct of their own
// (named). A narrowing inline fragment has a struct `AsType`, which has the fields of the struct
// around it, too. A narrowing named fragment is optional; in Apollo iOS 1.x it is in an `AsType`.
//
// What narrows inside of an `AsType` has a struct inside of it in Apollo iOS 1.x, and one beside it
// in classic structs: the one of its type, or those of all objects that satisfy both conditions.

import GraphQLSchema

struct ApolloSelections {
  let operations: Operations
  let names: ApolloNames

  private var schema: GraphQLSchema.Schema { operations.schema }

  /// What stands in a place. The parser limits the nesting of inline fragments.
  private func content(of place: ApolloPlace) -> ApolloPlace.Content {
    if let content = place.content { return content }
    var content = ApolloPlace.Content()
    for selections in place.selections {
      collect(selections, false, isInside: false, place, &content)
    }
    place.content = content
    return content
  }

  /// - Parameter isInside: Whether what narrows in these selections narrows this place, and not
  ///   the one around it.
  private func collect(
    _ selections: SelectionSetSyntax, _ isConditional: Bool, isInside: Bool, _ place: ApolloPlace,
    _ content: inout ApolloPlace.Content
  ) {
    let isInside = isInside || place.inner.contains(ObjectIdentifier(selections))
    for selection in selections.selections {
      let condition = names.condition(selection.directives)
      let isConditional = isConditional || condition != nil
      switch selection {
      case .field(let field): content.fields.append((field, isConditional))
      case .inlineFragment(let inline):
        let type = inline.typeCondition.flatMap { schema.type(named: $0.text) } ?? place.type
        let narrows = !schema.isSubtype(place.type, of: type)
        if !narrows, names.isClassic || condition == nil {
          collect(inline.selectionSet, isConditional, isInside: isInside, place, &content)
        } else if isInside {
          narrow(place, to: type, narrows, condition, [inline.selectionSet], &content)
          if names.isClassic { narrow(place, inside: type, inline.selectionSet, &content) }
        }
      case .fragmentSpread(let spread):
        guard let fragment = operations.fragment(of: spread),
          let type = schema.type(named: fragment.typeCondition.text)
        else { continue }
        if schema.isSubtype(place.type, of: type) {
          content.fragments.append((fragment, isConditional))
        } else if names.isClassic {
          content.narrowing.append(fragment)
        } else if isInside {
          narrow(place, to: type, true, condition, [], &content)
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
      let inner = inline.typeCondition.flatMap { schema.type(named: $0.text) } ?? type
      if schema.isSubtype(type, of: inner) {
        narrow(place, inside: type, inline.selectionSet, &content)
        continue
      }
      let both =
        schema.isSubtype(inner, of: type)
        ? [inner] : schema.possibleTypes(of: inner).filter { schema.isSubtype($0, of: type) }
      for type in both {
        narrow(place, to: type, true, nil, [inline.selectionSet], &content)
        narrow(place, inside: type, inline.selectionSet, &content)
      }
    }
  }

  /// Adds a narrower form of a place, once. In classic structs, narrower forms have none
  /// themselves.
  private func narrow(
    _ place: ApolloPlace, to type: NamedType, _ narrows: Bool, _ condition: String?,
    _ selections: [SelectionSetSyntax], _ content: inout ApolloPlace.Content
  ) {
    guard place.wider == nil || !names.isClassic, schema.overlap(place.type, type) else { return }
    var name = narrows ? names.type(narrowedTo: type.name) : ""
    // In classic structs, fields under a condition are optional instead.
    let isConditional = condition != nil && !names.isClassic
    if let condition, isConditional { name += "If" + condition }
    let property = name.prefix(1).lowercased() + name.dropFirst()
    if let other = content.narrower.first(where: { $0.property == property })?.place {
      return other.inner.formUnion(selections.map(ObjectIdentifier.init))
    }
    let isNested = place.wider != nil
    let narrower = ApolloPlace(
      type: narrows ? type : place.type, swift: "\(place.swift).\(name)",
      selections: (isConditional || isNested ? selections : []) + place.selections,
      inner: selections, wider: place)
    content.narrower.append((property, narrower))
  }

  // MARK: Places

  /// The struct of a fragment.
  func place(of fragment: FragmentSyntax) -> ApolloPlace? {
    operations.parentType(of: fragment.selectionSet).map {
      ApolloPlace(type: $0, swift: names.type(of: fragment), selections: [fragment.selectionSet])
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
    var fields = access.fields
    // Apollo merges what fragments select of the same field.
    if !content(of: access.place).fragments.isEmpty {
      for other in self.fields(of: access.place, for: access.place.type)
      where other.responseKey == access.responseKey {
        fields += other.fields
      }
    }
    var seen: Set<ObjectIdentifier> = []
    let selections = fields.compactMap(\.selectionSet)
      .filter { seen.insert(ObjectIdentifier($0)).inserted }
    let name = names.type(ofField: access.responseKey, isList: definition.type.element != nil)
    return ApolloPlace(
      type: type, swift: "\(owner(of: access).swift).\(name)", selections: selections)
  }

  /// The struct that has the struct of a field's objects: in Apollo iOS 1.x narrower forms have one
  /// only if they select more of these objects.
  private func owner(of access: ApolloAccess) -> ApolloPlace {
    guard !names.isClassic, let wider = access.place.wider else { return access.place }
    let same = direct(content(of: wider), in: wider).first {
      $0.responseKey == access.responseKey
    }
    let own = Set(access.fields.map(ObjectIdentifier.init))
    guard let same, Set(same.fields.map(ObjectIdentifier.init)) == own else { return access.place }
    return owner(of: same)
  }

  // MARK: Fields

  /// The fields that are properties of a place itself.
  private func direct(_ content: ApolloPlace.Content, in place: ApolloPlace) -> [ApolloAccess] {
    var accesses: [ApolloAccess] = []
    var numbers: [String: Int] = [:]
    for (field, isConditional) in content.fields {
      if let number = numbers[field.responseKey] {
        accesses[number].fields.append(field)
        accesses[number].isOptional = accesses[number].isOptional && isConditional
      } else {
        numbers[field.responseKey] = accesses.count
        accesses.append(
          ApolloAccess(path: "", isOptional: isConditional, place: place, fields: [field]))
      }
    }
    return accesses
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
