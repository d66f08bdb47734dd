// Matches the fields of a newer table with those of an older one.
//
// Names take precedence: a field whose name is found again is the same field, whether it has moved
// or not. For fields that are not deprecated, the same Swift name is enough. All other fields are
// matched by their slots, unless the slot belongs to a field that was matched by name.

/// The slots of the fields in two versions of a table.
struct TablePlaces {
  /// What has happened to an older field.
  enum Match {
    /// It has the same slot, perhaps with another name or type.
    case same(FieldDefinition)
    /// Its name is found in another slot.
    case moved(FieldDefinition)
    case gone
  }

  /// In the order of the older table's fields.
  private(set) var matches: [Match] = []
  private var oldOwners: [Int: FieldDefinition] = [:]
  private var newOwners: [Int: FieldDefinition] = [:]
  /// The offsets of newer fields that match an older one.
  private var matched: Set<Int> = []

  init(_ old: TableDefinition, _ new: TableDefinition) {
    var named: [String: FieldDefinition] = [:]
    var namedInSwift: [String: FieldDefinition] = [:]
    for field in old.fields { for place in field.places { oldOwners[place] = field } }
    for field in new.fields {
      for place in field.places { newOwners[place] = field }
      named[field.name] = field
      if !field.isDeprecated { namedInSwift[camel(field.name)] = field }
    }
    let byName = old.fields.map { field -> Match? in
      let place = named[field.name] ?? (field.isDeprecated ? nil : namedInSwift[camel(field.name)])
      return place.flatMap { match(field, $0) }
    }
    let claimed = Set(byName.compactMap { $0?.field?.offset })
    matches = zip(old.fields, byName).map { field, match in
      if let match { return match }
      guard let occupant = occupant(of: field), !claimed.contains(occupant.offset) else {
        return .gone
      }
      return .same(occupant)
    }
    matched = Set(matches.compactMap { $0.field?.offset })
  }

  /// The match by name; nil if there is none.
  private func match(_ old: FieldDefinition, _ new: FieldDefinition) -> Match? {
    // If a union becomes a field with a single slot, or the reverse, its first slot stays the same.
    if new.offset == old.offset || new.places[0] == old.places[0] { return .same(new) }
    // A deprecated field may give its name to a new one, if it keeps its slot.
    let isReplaced = newOwners[old.offset].map { $0.isDeprecated && $0.offset == old.offset }
    if isReplaced == true, displaced(by: new) == nil { return nil }
    return .moved(new)
  }

  /// The newer field in the slot of an older one, perhaps with its tag.
  func occupant(of old: FieldDefinition) -> FieldDefinition? {
    newOwners[old.offset] ?? newOwners[old.places[0]]
  }

  /// Whether a newer field matches an older one.
  func isMatched(_ field: FieldDefinition) -> Bool { matched.contains(field.offset) }

  /// The older field whose slot a newer one has.
  func displaced(by field: FieldDefinition) -> FieldDefinition? {
    field.places.lazy.compactMap { oldOwners[$0] }.first
  }
}

extension TablePlaces.Match {
  /// The newer field.
  var field: FieldDefinition? {
    switch self {
    case .same(let field), .moved(let field): field
    case .gone: nil
    }
  }
}
