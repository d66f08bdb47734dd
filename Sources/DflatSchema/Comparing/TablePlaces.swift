// Which field of a newer table is which of an older one.
//
// Names come first: where one is found again, there is the field, moved or not. Of fields that are not deprecated the Swift
// name is enough. All others are known by their slots, unless the slot has gone to a field that is known by name.

/// Who has which slot in two versions of a table.
struct TablePlaces {
  /// What has become of an older field.
  enum Match {
    /// In its slot, perhaps under another name or with another type.
    case same(FieldDefinition)
    /// Its name is found in another slot.
    case moved(FieldDefinition)
    case gone
  }

  /// In the order of the older table's fields.
  private(set) var matches: [Match] = []
  private var oldOwners: [Int: FieldDefinition] = [:]
  private var newOwners: [Int: FieldDefinition] = [:]
  /// The offsets of newer fields that were something before.
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

  /// What the same name says; nil if it says nothing.
  private func match(_ old: FieldDefinition, _ new: FieldDefinition) -> Match? {
    // A union that has become something of one slot, or the reverse, begins where it began.
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

  /// Whether a newer field was something before.
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
