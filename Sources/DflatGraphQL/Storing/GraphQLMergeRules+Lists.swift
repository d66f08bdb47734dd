// How lists of a response are merged into stored ones.
//
// A list replaces the stored one as a whole, unless it pages. Where an error names a path in a
// list, what is stored there stays: an element that has failed is the stored one at its position,
// and one with a failed path below is merged with its stored element, which is the one with its key
// or, without a key, the one at its position. A page has no stored elements at its positions.
//
// A list that is only on the way to what a payload has brought stays as it is stored, apart from
// the elements that the payload is about. What it adds to a list comes behind what is stored. A
// list with elements whose keys are not selected does not say which elements the stored one has, so
// that keeps them, and those with keys are merged.

extension GraphQLMergeRules {
  /// A list of values; null elements are left out.
  ///
  /// - Parameters:
  ///   - selected: The list in the response.
  ///   - stored: The stored list.
  ///   - convert: Makes the stored form of an element; nil for null.
  @inlinable
  public func list<Selected, Stored>(
    _ selected: [Selected]?, _ stored: @autoclosure () -> [Stored],
    _ convert: (Selected) -> Stored?
  ) -> [Stored] {
    guard let selected else { return [] }
    guard let node else { return selected.compactMap(convert) }
    return node.merged(selected, stored(), keepsUnknown: false) { element, _, _ in
      convert(element)
    }
  }

  /// A list of keys of entities, which may be a page.
  ///
  /// - Parameters:
  ///   - selected: The list in the response.
  ///   - stored: The stored list.
  ///   - convert: The key of an element; nil for null.
  @inlinable
  public func references<Selected, Key: Hashable>(
    _ selected: [Selected]?, _ stored: @autoclosure () -> [Key], _ convert: (Selected) -> Key?
  ) -> [Key] {
    guard let selected else { return [] }
    guard let node else { return selected.compactMap(convert) }
    return node.references(selected, stored(), convert)
  }

  /// A list of objects without keys.
  ///
  /// - Parameters:
  ///   - selected: The list in the response.
  ///   - stored: The stored list.
  ///   - convert: Merges an element into a stored one, by the element's own rules; nil for null.
  @inlinable
  public func objects<Selected, Stored>(
    _ selected: [Selected]?, _ stored: @autoclosure () -> [Stored],
    _ convert: (Selected, Stored?, GraphQLMergeRules) -> Stored?
  ) -> [Stored] {
    guard let selected else { return [] }
    if let node { return node.merged(selected, stored(), keepsUnknown: true, convert) }
    let new = selected.compactMap { convert($0, nil, self) }
    if isWhole || new.count == selected.count || countOfElements(selected) == new.count {
      return new
    }
    let stored = stored()
    return stored.isEmpty ? new : stored
  }

  /// A list of lists of objects. Each is merged with the stored list at its position.
  ///
  /// - Parameters:
  ///   - selected: The list in the response.
  ///   - stored: The stored list.
  ///   - convert: Merges an element into a stored one, by the element's own rules; nil for null.
  @inlinable
  public func lists<Selected, Stored>(
    _ selected: [Selected]?, _ stored: @autoclosure () -> [Stored],
    _ convert: (Selected, Stored?, GraphQLMergeRules) -> Stored?
  ) -> [Stored] {
    guard let selected else { return [] }
    if isWhole { return selected.compactMap { convert($0, nil, self) } }
    return (node ?? MergeRuleNode()).merged(lists: selected, stored(), convert)
  }

  /// A list of objects with keys, which may be a page.
  ///
  /// - Parameters:
  ///   - selected: The list in the response.
  ///   - stored: The stored list.
  ///   - key: The key of a stored object; nil if it has none.
  ///   - place: The field of an element that has the key, by its key in the response; nil if that
  ///     is no field of its own.
  ///   - convert: Merges an element into a stored one, by the element's own rules; nil for null.
  @inlinable
  public func objects<Selected, Stored, Key: Hashable>(
    _ selected: [Selected]?, _ stored: @autoclosure () -> [Stored], by key: (Stored) -> Key?,
    in place: String? = nil, _ convert: (Selected, Stored?, GraphQLMergeRules) -> Stored?
  ) -> [Stored] {
    guard let selected else { return [] }
    if let node {
      return node.merged(
        selected, stored(), by: key, in: place, keepsUnknown: true, convert)
    }
    // Elements are not converted again: the lists in them would be twice as often at each depth.
    let new = selected.compactMap { convert($0, nil, self) }
    if isWhole || new.count == selected.count || countOfElements(selected) == new.count {
      return new
    }
    let stored = stored()
    if stored.isEmpty { return new }
    return MergeRuleNode().merged(selected, stored, by: key, keepsUnknown: true, convert)
  }
}

extension MergeRuleNode {
  typealias Convert<Selected, Stored> = (Selected, Stored?, GraphQLMergeRules) -> Stored?

  /// Elements have no keys, so they are matched by their positions.
  /// - Parameter keepsUnknown: Whether the stored list stays if an element cannot be told.
  @usableFromInline
  func merged<Selected, Stored>(
    _ selected: [Selected], _ stored: [Stored], keepsUnknown: Bool,
    _ convert: (Selected, Stored?, GraphQLMergeRules) -> Stored?
  ) -> [Stored] {
    if isClosed { return merging(selected, into: stored, convert) }
    if keepsUnknown, !stored.isEmpty {
      let isKnown = selected.allSatisfy {
        isNull($0) || convert($0, nil, GraphQLMergeRules(nil)) != nil
      }
      if !isKnown { return stored }
    }
    return selected.enumerated().compactMap { index, element in
      guard let rules = self.element(index) else {
        return convert(element, nil, GraphQLMergeRules(nil))
      }
      let before = index < stored.count ? stored[index] : nil
      if rules.hasFailed { return before }
      return convert(element, before, GraphQLMergeRules(rules))
        ?? (rules.hasFailures ? before : nil)
    }
  }

  @usableFromInline
  func merged<Selected, Stored>(
    lists selected: [Selected], _ stored: [Stored],
    _ convert: (Selected, Stored?, GraphQLMergeRules) -> Stored?
  ) -> [Stored] {
    if isClosed { return merging(selected, into: stored, convert) }
    var merged: [Stored] = []
    var place = 0
    for (index, element) in selected.enumerated() {
      let rules = self.element(index)
      // Null elements are not stored, unless they have failed.
      if rules?.hasFailures != true, isNull(element) { continue }
      let before = place < stored.count ? stored[place] : nil
      place += 1
      let new =
        rules?.hasFailed == true ? nil : convert(element, before, GraphQLMergeRules(rules))
      if let list = new ?? (rules?.hasFailures == true ? before : nil) { merged.append(list) }
    }
    return merged
  }

  /// Elements are their keys, so a page changes none that is stored.
  @usableFromInline
  func references<Selected, Key: Hashable>(
    _ selected: [Selected], _ stored: [Key], _ convert: (Selected) -> Key?
  ) -> [Key] {
    if update == .replace, !isClosed {
      return merged(selected, stored, by: { $0 }, keepsUnknown: false) { element, _, _ in
        convert(element)
      }
    }
    let page = new(selected.count).compactMap { index, _ in convert(selected[index]) }
    if update == .replace { return stored + page }
    let added = page.missing(in: stored)
    return update == .append ? stored + added : added + stored
  }

  /// - Parameters:
  ///   - place: The field of an element that has its key, if it has one.
  ///   - keepsUnknown: Whether stored elements stay if one of the new ones is not known.
  @usableFromInline
  func merged<Selected, Stored, Key: Hashable>(
    _ selected: [Selected], _ stored: [Stored], by key: (Stored) -> Key?, in place: String? = nil,
    keepsUnknown: Bool, _ convert: (Selected, Stored?, GraphQLMergeRules) -> Stored?
  ) -> [Stored] {
    if Key.self == String.self {
      // Keys are compared as bytes.
      return merged(
        selected, stored, by: { key($0).map { ByteText(unsafeBitCast($0, to: String.self)) } },
        in: place, keepsUnknown: keepsUnknown, convert)
    }
    if isClosed { return merging(selected, into: stored, by: key, in: place, convert) }
    var elements: [KeyedElement<Selected, Stored, Key>] = []
    var isWhole = true
    for (index, element) in selected.enumerated() {
      let rules = self.element(index)
      let new =
        rules?.hasFailed == true ? nil : convert(element, nil, GraphQLMergeRules(nil))
      // A null element that no error is about is left out.
      if new == nil, rules?.hasFailures != true {
        if keepsUnknown, !stored.isEmpty, !isNull(element) { isWhole = false }
        continue
      }
      elements.append(
        KeyedElement(
          index: index, selected: element, new: new, key: new.flatMap(key),
          rules: GraphQLMergeRules(rules), keyIn: place))
    }
    if update != .replace { return adding(elements, to: stored, key, convert) }
    return isWhole
      ? replacing(stored, by: elements, key, convert)
      : merging(elements, into: stored, key, convert)
  }

  // MARK: Lists on the way

  /// The elements that a payload is about, in order, with the rules for them.
  private func delivered(_ count: Int) -> [(index: Int, rules: GraphQLMergeRules)] {
    func isDelivered(_ index: Int, _ rules: MergeRuleNode) -> Bool {
      !rules.hasFailed && added?.contains(index) != true
    }
    if let cut {
      return cut.indices.prefix(count).enumerated().compactMap { place, index in
        elements[index].flatMap { isDelivered(index, $0) ? (place, GraphQLMergeRules($0)) : nil }
      }
    }
    return elements.filter { $0.key < count && isDelivered($0.key, $0.value) }
      .sorted { $0.key < $1.key }.map { ($0.key, GraphQLMergeRules($0.value)) }
  }

  /// The elements that are new in a list, with the rules for them.
  private func new(_ count: Int) -> [(index: Int, rules: GraphQLMergeRules)] {
    func rules(_ index: Int, at place: Int) -> (index: Int, rules: GraphQLMergeRules)? {
      let rules = element(index)
      return rules?.hasFailed == true ? nil : (place, GraphQLMergeRules(rules))
    }
    let added = isClosed ? added ?? 0..<0 : 0..<Int.max
    guard let cut else {
      return added.clamped(to: 0..<count).compactMap { rules($0, at: $0) }
    }
    return cut.indices.prefix(count).enumerated().compactMap { place, index in
      added.contains(index) ? rules(index, at: place) : nil
    }
  }

  /// The elements of which something is stored, with the rules for them.
  func storedElements(_ count: Int) -> [(index: Int, rules: GraphQLMergeRules)] {
    (isClosed ? delivered(count) : []) + new(count)
  }

  /// Merges elements without keys, each into the stored one at its position: null elements have
  /// none.
  private func merging<Selected, Stored>(
    _ selected: [Selected], into stored: [Stored], _ convert: Convert<Selected, Stored>
  ) -> [Stored] {
    var stored = stored
    var (next, place) = (0, 0)
    for (index, rules) in delivered(selected.count) {
      while next < cut?.indices[index] ?? index {
        if !(cut?.whole[next].isNull ?? isNull(selected[next])) { place += 1 }
        next += 1
      }
      guard place < stored.count else { break }
      stored[place] = convert(selected[index], stored[place], rules) ?? stored[place]
    }
    return stored + new(selected.count).compactMap { convert(selected[$0], nil, $1) }
  }

  /// Merges elements into the stored ones with their keys.
  private func merging<Selected, Stored, Key: Hashable>(
    _ selected: [Selected], into stored: [Stored], by key: (Stored) -> Key?, in place: String?,
    _ convert: Convert<Selected, Stored>
  ) -> [Stored] {
    func keyed(
      _ elements: [(index: Int, rules: GraphQLMergeRules)]
    ) -> [KeyedElement<Selected, Stored, Key>] {
      elements.compactMap { index, rules in
        guard let new = convert(selected[index], nil, GraphQLMergeRules(nil)) else { return nil }
        return KeyedElement(
          index: index, selected: selected[index], new: new, key: key(new), rules: rules,
          keyIn: place)
      }
    }
    let merged = merging(keyed(delivered(selected.count)), into: stored, key, convert)
    let new = keyed(new(selected.count))
    return update == .replace
      ? merged + new.compactMap(\.new) : adding(new, to: merged, key, convert)
  }

  private func merging<Selected, Stored, Key: Hashable>(
    _ elements: [KeyedElement<Selected, Stored, Key>], into stored: [Stored],
    _ key: (Stored) -> Key?, _ convert: Convert<Selected, Stored>
  ) -> [Stored] {
    var stored = stored
    let places = places(of: Set(elements.lazy.compactMap(\.key)), in: stored, key)
    for element in elements {
      // A list that was stored as a whole may have an object several times.
      for place in element.key.flatMap({ places[$0] }) ?? [] {
        stored[place] = convert(element.selected, stored[place], element.rules) ?? stored[place]
      }
    }
    return stored
  }

  // MARK: Whole lists

  private func replacing<Selected, Stored, Key: Hashable>(
    _ stored: [Stored], by elements: [KeyedElement<Selected, Stored, Key>],
    _ key: (Stored) -> Key?, _ convert: Convert<Selected, Stored>
  ) -> [Stored] {
    let keys = Set(elements.lazy.compactMap(\.key))
    // Without rules for its elements, a list is what the response says.
    let places =
      elements.contains { $0.rules.node != nil } ? places(of: keys, in: stored, key) : [:]
    return elements.compactMap { element in
      guard let new = element.new else {
        guard element.index < stored.count else { return nil }
        let before = stored[element.index]
        // The response may have it at another position.
        if key(before).map(keys.contains) == true { return nil }
        return element.rules.node?.hasFailed == true
          ? before : convert(element.selected, before, element.rules) ?? before
      }
      guard element.rules.node != nil, let place = element.key.flatMap({ places[$0]?.first })
      else { return new }
      return convert(element.selected, stored[place], element.rules) ?? new
    }
  }

  private func adding<Selected, Stored, Key: Hashable>(
    _ elements: [KeyedElement<Selected, Stored, Key>], to stored: [Stored],
    _ key: (Stored) -> Key?, _ convert: Convert<Selected, Stored>
  ) -> [Stored] {
    var stored = stored
    let places = places(of: Set(elements.lazy.compactMap(\.key)), in: stored, key)
    var added: [Stored] = []
    var addedPlaces: [Key: Int] = [:]
    for element in elements {
      guard let new = element.new else { continue }
      guard let key = element.key else {
        added.append(new)
        continue
      }
      if let place = places[key]?.first {
        stored[place] = convert(element.selected, stored[place], element.rules) ?? new
      } else if let place = addedPlaces[key] {
        added[place] = convert(element.selected, added[place], element.rules) ?? new
      } else {
        addedPlaces[key] = added.count
        added.append(new)
      }
    }
    return update == .append ? stored + added : added + stored
  }

  /// Where elements with some keys are.
  private func places<Stored, Key: Hashable>(
    of keys: Set<Key>, in stored: [Stored], _ key: (Stored) -> Key?
  ) -> [Key: [Int]] {
    var places: [Key: [Int]] = [:]
    for (place, element) in stored.enumerated() {
      if let key = key(element), keys.contains(key) { places[key, default: []].append(place) }
    }
    return places
  }
}

/// How many elements of a list are not null.
@usableFromInline
func countOfElements(_ list: [some Any]) -> Int { list.count { !isNull($0) } }

/// Whether an element of a list is null.
private func isNull(_ element: some Any) -> Bool {
  if case Optional<Any>.none = element as Any { true } else { false }
}

/// An element of a list in the response.
private struct KeyedElement<Selected, Stored, Key: Hashable> {
  let index: Int
  let selected: Selected
  /// What is stored for it if nothing is stored before; nil if it has failed, or its key.
  let new: Stored?
  let key: Key?
  let rules: GraphQLMergeRules

  /// - Parameter place: The field that has the key, if it has one.
  init(
    index: Int, selected: Selected, new: Stored?, key: Key?, rules: GraphQLMergeRules,
    keyIn place: String?
  ) {
    self.index = index
    self.selected = selected
    self.key = key
    self.rules = rules
    let hasFailed = key == nil && place.map { rules.node?.hasFailure($0) ?? false } ?? false
    self.new = hasFailed ? nil : new
  }
}
