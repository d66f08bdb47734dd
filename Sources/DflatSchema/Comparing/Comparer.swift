// Walks two versions of a schema: compares pairs of types and collects the differences.
//
//  - Pairs come from the roots, then from the fields and members that refer to types, then from
//    equal names. Each pair is compared once, and never inside the comparison of another one, so
//    cycles and long chains need no stack.
//  - Findings are final: none is withdrawn later.
//  - A trial starts from one pair only and stops at the first incompatible difference: it
//    determines whether bytes of one type can be read as another one, regardless of names.

struct Comparer {
  /// An older type and the newer one that its bytes are read as.
  struct Pair: Hashable {
    var old: QualifiedName
    var new: QualifiedName
  }

  let old: Schema
  let new: Schema
  private(set) var changes: [SchemaChange] = []
  /// Roots whose objects stay in the same database table.
  var entities: Set<Pair> = []
  /// Older types whose objects remain in a table of their own version.
  var leftBehind: Set<QualifiedName> = []
  /// The indexes that both versions have, by the position of the field in the newer one, with their
  /// side tables.
  var keptIndexes: [SourcePosition: [String]] = [:]
  /// The old position of each field by its new one, and the reverse.
  var oldPositions: [SourcePosition: SourcePosition] = [:]
  var newPositions: [SourcePosition: SourcePosition] = [:]
  /// Roots that have been replaced: their objects are in another table.
  var renamedRoots: Set<Pair> = []
  private let isTrial: Bool
  private var seen: Set<Pair> = []
  private var pending: [Pair] = []
  /// The first newer type that each older type was compared with.
  private var partners: [QualifiedName: QualifiedName] = [:]
  private var pairedNew: Set<QualifiedName> = []
  /// The results of trials.
  private var trials: [Pair: SchemaChange?] = [:]

  init(old: Schema, new: Schema, isTrial: Bool = false) {
    self.old = old
    self.new = new
    self.isTrial = isTrial
  }

  mutating func compareAll() {
    compareRoots()
    run()
    for name in old.declared where partners[name] == nil && !leftBehind.contains(name) {
      if new.types[name] != nil { follow(Pair(old: name, new: name)) }
    }
    run()
    compareNames()
    compareIndexes()
    compareFullText()
    compareFiles()
  }

  // MARK: Pairs

  /// Schedules the comparison of a pair, once.
  mutating func follow(_ pair: Pair) {
    guard seen.insert(pair).inserted else { return }
    if partners[pair.old] == nil { partners[pair.old] = pair.new }
    pairedNew.insert(pair.new)
    pending.append(pair)
  }

  private mutating func run() {
    while let pair = pending.popLast() {
      guard let old = old.types[pair.old], let new = new.types[pair.new] else { continue }
      compareName(pair, old, new)
      switch (old, new) {
      case (.table(let old), .table(let new)): compare(old, new, as: pair)
      case (.structure(let old), .structure(let new)): compare(old, new)
      case (.enumeration(let old), .enumeration(let new)): compare(old, new)
      case (.union(let old), .union(let new)): compare(old, new)
      default:
        report(
          .typeKindChanged, .incompatible, pair.new.description,
          "'\(pair.new)' was \(old.described) and is \(new.described)",
          "the two have nothing in common on disk, so whatever holds one is misread",
          old.position, new.position)
      }
      if isTrial, changes.contains(where: { $0.severity == .incompatible }) { return }
    }
  }

  /// The reason why one type's bytes cannot be read as another's.
  mutating func obstacle(_ pair: Pair) -> SchemaChange? {
    if let known = trials[pair] { return known }
    var trial = Comparer(old: old, new: new, isTrial: true)
    trial.follow(pair)
    trial.run()
    let found = trial.changes.first { $0.severity == .incompatible }
    trials[pair] = found
    return found
  }

  /// Whether the newer name replaces the older one, which no longer exists. In a trial names do not
  /// matter.
  func isRenaming(_ pair: Pair) -> Bool {
    isTrial
      || (new.types[pair.old] == nil && old.types[pair.new] == nil
        && partners[pair.old] ?? pair.new == pair.new)
  }

  // MARK: Names of types

  private mutating func compareName(_ pair: Pair, _ old: TypeDefinition, _ new: TypeDefinition) {
    guard pair.old != pair.new, !isTrial, !renamedRoots.contains(pair) else { return }
    report(
      .typeRenamed, .compatible, pair.new.description, "'\(pair.old)' is now called '\(pair.new)'",
      "nothing changes on disk, where \(old.plural) have no names; programs use the new name",
      old.position, new.position)
  }

  private mutating func compareNames() {
    for name in old.declared
    where partners[name] == nil && !leftBehind.contains(name) && new.types[name] == nil {
      guard let type = old.types[name] else { continue }
      report(
        .typeRemoved, .compatible, name.description, "\(type.described) '\(name)' is gone",
        "no field that is left holds it; values of it in the dictionary can no longer be read",
        type.position, new.start)
    }
    for name in new.declared where !pairedNew.contains(name) && old.types[name] == nil {
      guard let type = new.types[name] else { continue }
      report(
        .typeAdded, .compatible, name.description, "\(type.described) '\(name)' is new",
        "nothing is stored of it yet", old.start, type.position)
    }
  }

  // MARK: Changes

  mutating func report(
    _ kind: SchemaChange.Kind, _ severity: SchemaChange.Severity, _ subject: String,
    _ message: String, _ effect: String, _ old: SourcePosition, _ new: SourcePosition
  ) {
    changes.append(
      SchemaChange(
        kind: kind, severity: severity, subject: subject, message: message, effect: effect,
        old: old, new: new))
  }
}

extension Schema {
  /// All types in the order of the source.
  var declared: [QualifiedName] { files.flatMap(\.types) }

  /// The beginning of the compiled file.
  var start: SourcePosition { SourcePosition(file: files.first?.path ?? "", line: 1, column: 1) }
}

extension TypeDefinition {
  /// The kind, worded for a message.
  var described: String {
    switch self {
    case .enumeration: "the enum"
    case .structure: "the struct"
    case .table: "the table"
    case .union: "the union"
    }
  }

  var plural: String {
    switch self {
    case .enumeration: "enums"
    case .structure: "structs"
    case .table: "nested tables"
    case .union: "unions"
    }
  }
}
