// The database: the table of an entity's objects, its key, and its indexes.
//
// The table is named after the root, its namespace and its version. A new name means a new, empty
// table, and the objects in the old one are no longer read. Key columns are in the order of the
// fields' declarations.

extension Comparer {
  // MARK: Roots

  mutating func compareRoots() {
    let (before, after) = (old.files.first, new.files.first)
    switch (before?.root, after?.root) {
    case (nil, nil): break
    case (nil, let root?):
      report(
        .rootAdded, .compatible, root.description, "'\(root)' is a root now",
        "the first transaction makes the table '\(new.tableName(of: root))' for its objects",
        old.types[root]?.position ?? old.start, after?.rootPosition ?? new.start)
    case (let root?, nil):
      report(
        .rootRemoved, .incompatible, root.description, "'\(root)' is no longer a root",
        "the objects in the table '\(old.tableName(of: root))' cannot be fetched any more",
        before?.rootPosition ?? old.start, new.types[root]?.position ?? new.start)
    case (let left?, let right?):
      compareRoot(
        Pair(old: left, new: right), before?.rootPosition ?? old.start,
        after?.rootPosition ?? new.start)
    }
    // Included files are also compiled on their own, and their objects are stored, too.
    let included = Set(new.includedRoots)
    for root in old.includedRoots where included.contains(root) {
      guard let before = old.types[root], let after = new.types[root] else { continue }
      compareRoot(Pair(old: root, new: root), before.position, after.position)
    }
    findKeptIndexes()
  }

  private mutating func compareRoot(
    _ pair: Pair, _ oldRoot: SourcePosition, _ newRoot: SourcePosition
  ) {
    let (before, after) = (old.tableName(of: pair.old), new.tableName(of: pair.new))
    if before == after {
      entities.insert(pair)
      follow(pair)
    } else if pair.old == pair.new {
      // Only the version differs.
      leftBehind.formUnion(old.reachable(from: pair.old))
      report(
        .versionChanged, .caution, pair.new.description,
        "'\(pair.new)' has another version: its objects are in the table '\(after)', not in '\(before)'",
        "the new table is empty at first; the old one stays, readable through the old type, so nothing in it is misread, "
          + "whatever else has changed in '\(pair.new)'",
        old.types[pair.old]?.position ?? oldRoot, new.types[pair.new]?.position ?? newRoot)
    } else if new.types[pair.old] != nil {
      report(
        .rootReplaced, .incompatible, pair.new.description,
        "the root was '\(pair.old)' and is '\(pair.new)'",
        "the objects in the table '\(before)' cannot be fetched any more; those of '\(pair.new)' are in '\(after)'",
        oldRoot, newRoot)
    } else {
      report(
        .rootRenamed, .incompatible, pair.new.description,
        "the root '\(pair.old)' is now called '\(pair.new)': its objects are in the table '\(after)', not in '\(before)'",
        "the new table is empty, and what is stored is left behind; keep the name, or take the objects over with a Migration",
        old.types[pair.old]?.position ?? oldRoot, new.types[pair.new]?.position ?? newRoot)
      // The other changes are still reported, in case the old name is restored.
      renamedRoots.insert(pair)
      follow(pair)
    }
  }

  /// Versions of types that do not name a table; values in the dictionary carry them.
  mutating func compareVersions(
    _ old: String?, _ new: String?, _ name: QualifiedName, _ oldPlace: SourcePosition,
    _ newPlace: SourcePosition
  ) {
    guard old != new else { return }
    func text(_ version: String?) -> String { version.map { "\"\($0)\"" } ?? "none" }
    report(
      .versionChanged, .caution, name.description,
      "the version of '\(name)' has changed from \(text(old)) to \(text(new))",
      "values of it in the dictionary read as nil; inside of objects a version means nothing",
      oldPlace, newPlace)
  }

  // MARK: Keys

  mutating func compareKeys(
    _ old: TableDefinition, _ new: TableDefinition, _ places: TablePlaces
  ) {
    let newKeys = new.fields.filter(\.isPrimary)
    var order: [Int] = []
    var isSameSet = true
    for (field, match) in zip(old.fields, places.matches) where field.isPrimary {
      let place = match.field
      if let place, place.isPrimary {
        order.append(place.offset)
      } else {
        isSameSet = false
        if let place { reportKey(.primaryRemoved, new, place, field.position) }
      }
    }
    let known = Set(order)
    for key in newKeys where !known.contains(key.offset) {
      isSameSet = false
      reportKey(.primaryAdded, new, key, oldPositions[key.position] ?? old.position)
    }
    guard isSameSet else { return }
    guard let first = zip(newKeys, order).first(where: { $0.offset != $1 })?.0 else { return }
    report(
      .primaryReordered, .incompatible, "\(new.name).\(first.name)",
      "the primary fields of '\(new.name)' are declared in another order",
      "the key columns '__pk0', '__pk1', … follow this order, so stored keys would be exchanged; keep the old "
        + "order, and set 'id' to keep the slots", old.position, first.position)
  }

  private mutating func reportKey(
    _ kind: SchemaChange.Kind, _ table: TableDefinition, _ field: FieldDefinition,
    _ old: SourcePosition
  ) {
    let isAdded = kind == .primaryAdded
    report(
      kind, .incompatible, "\(table.name).\(field.name)",
      "'\(field.name)' is \(isAdded ? "" : "no longer ")part of the primary key\(isAdded ? " now" : "")",
      "the key is columns of the database table, and those of stored objects are fixed for ever; use another 'v' "
        + "for another key", old, field.position)
  }

  // MARK: Indexes

  private struct Index {
    var table: String
    var isUnique: Bool
    var position: SourcePosition
    /// The fields of a compound index.
    var compound: CompoundIndex?
  }

  private func indexes(of root: QualifiedName, in schema: Schema) -> [String: Index] {
    let table = schema.tableName(of: root)
    return Dictionary(
      schema.indexPaths(of: root).map {
        (
          $0.path,
          Index(
            table: "\(table)__\($0.path)", isUnique: $0.isUnique, position: $0.position,
            compound: $0.compound)
        )
      }
    ) { first, _ in first }
  }

  private mutating func findKeptIndexes() {
    for pair in entities.sorted(by: { $0.new.description < $1.new.description }) {
      let before = indexes(of: pair.old, in: old)
      for (path, index) in indexes(of: pair.new, in: new).sorted(by: { $0.key < $1.key })
      where before[path] != nil {
        for field in index.compound?.columns.map(\.field) ?? [index.position] {
          keptIndexes[field, default: []].append(index.table)
        }
      }
      guard let fullText = new.fullText(of: pair.new),
        fullText.storageName == old.fullText(of: pair.old)?.storageName
      else { continue }
      for field in fullText.fields {
        keptIndexes[field.position, default: []].append(
          "\(new.tableName(of: pair.new))__\(fullText.storageName)")
      }
    }
  }

  /// How the indexes on one field, with their side tables, or a compound index, have changed.
  private struct IndexChange: Hashable {
    var kind: SchemaChange.Kind
    var old: SourcePosition
    var new: SourcePosition
    /// A compound index, as subject: `Post.(archived, sort_date)`.
    var compound: String?
  }

  mutating func compareIndexes() {
    for pair in entities.sorted(by: { $0.new.description < $1.new.description }) {
      let before = indexes(of: pair.old, in: old)
      let after = indexes(of: pair.new, in: new)
      var found: [IndexChange: [String]] = [:]
      func note(
        _ kind: SchemaChange.Kind, _ left: SourcePosition, _ right: SourcePosition, _ index: Index
      ) {
        let change = IndexChange(
          kind: kind, old: left, new: right,
          compound: index.compound.map { "\(pair.new).(\($0.name))" })
        found[change, default: []].append(index.table)
      }
      let (oldRoot, newRoot) = (old.position(of: pair.old), new.position(of: pair.new))
      for (path, index) in after.sorted(by: { $0.key < $1.key }) {
        let place = before[path]?.position ?? oldPositions[index.position] ?? oldRoot
        switch before[path]?.isUnique {
        case nil:
          note(index.isUnique ? .uniqueAdded : .indexAdded, place, index.position, index)
        case false where index.isUnique: note(.uniqueAdded, place, index.position, index)
        case true where !index.isUnique: note(.uniqueRemoved, place, index.position, index)
        default: break
        }
      }
      for (path, index) in before.sorted(by: { $0.key < $1.key }) where after[path] == nil {
        note(
          index.isUnique ? .uniqueRemoved : .indexRemoved, index.position,
          newPositions[index.position] ?? newRoot, index)
      }
      let names = (old: old.fieldNames, new: new.fieldNames)
      for (change, tables) in found.sorted(by: { $0.key.kind.rawValue < $1.key.kind.rawValue }) {
        let isGone = change.kind == .indexRemoved || change.kind == .uniqueRemoved
        let subject =
          change.compound ?? (isGone ? names.old[change.old] : names.new[change.new])
        reportIndex(change, subject ?? "", tables)
      }
    }
  }

  private mutating func reportIndex(
    _ change: IndexChange, _ subject: String, _ tables: [String]
  ) {
    // The name of a compound index has points of its own.
    let name =
      change.compound.flatMap { $0.firstIndex(of: "(").map(subject.suffix(from:)) }
      ?? subject.split(separator: ".").last ?? ""
    let severity: SchemaChange.Severity
    let (message, effect): (String, String)
    switch change.kind {
    case .uniqueAdded:
      severity = .caution
      message = "'\(name)' has become unique"
      effect =
        "stored objects with equal values stay, and the error hook hears of them; new ones are refused. The side table "
        + "\(listed(tables)) is built lazily"
    case .uniqueRemoved:
      severity = .caution
      message = "'\(name)' is no longer unique"
      effect = "equal values are allowed, except by programs of the old version"
    case .indexRemoved:
      severity = .compatible
      message = "'\(name)' is no longer indexed"
      effect =
        "queries are right without it, and slower; the side table \(listed(tables)) stays in the file for programs of "
        + "the old version"
    default:
      severity = .compatible
      message = "'\(name)' has an index now"
      effect =
        "the side table \(listed(tables)) is built lazily: queries are right at once, and the first one that mentions it "
        + "starts to fill it"
    }
    report(change.kind, severity, subject, message, effect, change.old, change.new)
  }
}

extension Schema {
  /// The roots of included files.
  fileprivate var includedRoots: [QualifiedName] { files.dropFirst().compactMap(\.root) }

  func position(of type: QualifiedName) -> SourcePosition {
    types[type]?.position ?? start
  }

  /// A type and all types that it contains.
  fileprivate func reachable(from root: QualifiedName) -> Set<QualifiedName> {
    var result: Set<QualifiedName> = []
    var pending = [root]
    while let name = pending.popLast() {
      guard let type = types[name], result.insert(name).inserted else { continue }
      pending += type.contents.compactMap(\.innermost)
    }
    return result
  }

  /// The full names of fields, by position.
  var fieldNames: [SourcePosition: String] {
    var result: [SourcePosition: String] = [:]
    for (name, type) in types {
      let fields: [FieldDefinition]
      switch type {
      case .table(let table): fields = table.fields
      case .structure(let structure): fields = structure.fields
      case .enumeration, .union: continue
      }
      for field in fields { result[field.position] = "\(name).\(field.name)" }
    }
    return result
  }
}

extension TypeDefinition {
  /// The types of fields or members.
  fileprivate var contents: [FieldType] {
    switch self {
    case .table(let table): table.fields.map(\.type)
    case .structure(let structure): structure.fields.map(\.type)
    case .union(let union): union.members.map(\.type)
    case .enumeration: []
    }
  }
}

extension FieldType {
  /// The declared type that it, or its element, is.
  fileprivate var innermost: QualifiedName? {
    switch self {
    case .enumeration(let name), .structure(let name), .table(let name), .union(let name): name
    case .vector(let element), .array(let element, _): element.innermost
    case .scalar, .string: nil
    }
  }
}
