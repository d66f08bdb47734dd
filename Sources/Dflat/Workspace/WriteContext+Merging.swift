// Merging drafts.

extension WriteContext {
  /// Merges a draft into what is stored now.
  ///
  ///     let stored = try txn.merge(draft, .mine)
  ///
  /// Each field of the object is merged by itself. A field that only the draft has changed gets the
  /// draft's value; all others keep what is stored, including fields that only a newer version of
  /// the schema knows. If both have changed a field to different values, or the object was deleted
  /// and the draft has changes, there is a conflict.
  ///
  /// The object is found by the row id of the draft's base, and otherwise by its primary key. A
  /// primary key is merged like any other field: a draft with another key gives the stored object
  /// that key, as `update` does. The draft itself remains as it is: to go on editing, make a draft
  /// of the result. Merging the same draft again changes nothing, also if it has changed the key:
  /// an object with the new key and all of the draft's changes is taken for the merged one.
  ///
  /// - Parameters:
  ///   - draft: The draft.
  ///   - policy: How conflicts are settled.
  /// - Returns: The object as it is stored; nil if it was deleted and remains so.
  /// - Throws: ``DraftConflicts``; the same errors as `insert`. Nothing is changed then.
  @discardableResult
  public func merge<Element: Atom>(
    _ draft: Draft<Element>, _ policy: MergePolicy = .refuse
  ) throws -> Element? {
    let merge = try DraftMerge(draft, in: self)
    let conflicts = merge.conflicts
    if case .refuse = policy, !conflicts.isEmpty { throw DraftConflicts(conflicts: conflicts) }
    return try merge.finish(in: transaction) { _ in
      if case .theirs = policy { .theirs } else { .mine }
    }
  }

  /// Merges a draft into what is stored now, and lets a closure settle each conflict.
  ///
  ///     try txn.merge(draft) { conflict in
  ///       guard conflict.field == "tags", let theirs = conflict.theirs else { return .mine }
  ///       return .value { $0.tags = theirs.tags + conflict.mine.tags }
  ///     }
  ///
  /// - Parameters:
  ///   - draft: The draft.
  ///   - resolve: Called for each conflict, in the order of the schema's fields.
  /// - Returns: The object as it is stored; nil if it was deleted and remains so.
  /// - Throws: What `resolve` throws; the same errors as `insert`. Nothing is changed then.
  @discardableResult
  public func merge<Element: Atom>(
    _ draft: Draft<Element>,
    resolve: (DraftConflict<Element>) throws -> MergeResolution<Element>
  ) throws -> Element? {
    try DraftMerge(draft, in: self).finish(in: transaction, resolve)
  }
}

/// The merge of one draft.
private struct DraftMerge<Element: Atom> {
  private let draft: Draft<Element>
  /// The object as it is stored now; nil if it was deleted.
  private let stored: Element?
  /// The version of the transaction when it was looked up.
  private let version: TransactionVersion
  /// The fields that the draft has changed.
  private let changes: [Property]

  init(_ draft: Draft<Element>, in context: WriteContext) throws {
    try context.requireUse(of: Element.self)
    if let refusal = draft.object._row.refusal {
      throw StorageError(refused: refusal, Element._schema)
    }
    self.draft = draft
    changes = draft.changes
    stored = try Self.lookUp(draft, changes, in: context.transaction)
      .map { Element(_row: context.transaction.own($0)) }
    version = context.transaction.version
  }

  /// The stored row of the draft's object. If it is not found, the draft may have been merged
  /// already: then the object has the draft's key, and all that the draft has changed.
  private static func lookUp(
    _ draft: Draft<Element>, _ changes: [Property], in transaction: Transaction
  ) throws -> Row? {
    let schema = Element._schema
    if let row = try transaction.lookUp(objectOf: draft.base._row, schema, for: "merge(_:)") {
      return row
    }
    let edited = draft.object._row
    if schema.hasSameKey(draft.base._row, edited) { return nil }
    let row = try transaction.lookUp(
      objectOf: edited.withBytes { Row(sound: $0) }, schema, for: "merge(_:)")
    return row.flatMap { row in
      let isMerged = edited.read { edited in
        row.read { row in changes.allSatisfy { $0.isEqual(edited, row) } }
      }
      return isMerged ? row : nil
    }
  }

  var conflicts: [DraftConflict<Element>] {
    if changes.isEmpty { return [] }
    guard let stored else { return [conflict(about: nil)] }
    return changes.filter { isConflict($0, stored) }.map { conflict(about: $0) }
  }

  private func conflict(about property: Property?) -> DraftConflict<Element> {
    DraftConflict(property, base: draft.base, theirs: stored, mine: draft.object)
  }

  /// Whether a field that the draft has changed was also changed in the storage, to another value.
  private func isConflict(_ property: Property, _ stored: Element) -> Bool {
    stored._row.read { stored in
      let theirs = stored.value(of: property)
      return draft.base._row.read { !theirs.equals($0.value(of: property)) }
        && draft.object._row.read { !theirs.equals($0.value(of: property)) }
    }
  }

  /// Settles the conflicts and stores the result.
  func finish(
    in transaction: Transaction,
    _ resolve: (DraftConflict<Element>) throws -> MergeResolution<Element>
  ) throws -> Element? {
    if changes.isEmpty { return stored }
    guard let stored else { return try storeAgain(in: transaction, resolve) }
    var values: [(field: Property, row: Row)] = []
    for property in changes {
      var source = draft.object
      if isConflict(property, stored) {
        switch try resolve(conflict(about: property)) {
        case .mine: break
        case .theirs: continue
        case .value(let change): source = try source.with(change)
        }
      }
      values.append((property, source._row))
    }
    if values.isEmpty { return stored }
    return Element(
      _row: try transaction.set(values, of: stored._row, at: version, Element._schema))
  }

  private func storeAgain(
    in transaction: Transaction,
    _ resolve: (DraftConflict<Element>) throws -> MergeResolution<Element>
  ) throws -> Element? {
    let object: Element
    switch try resolve(conflict(about: nil)) {
    case .theirs: return nil
    case .mine: object = draft.object
    case .value(let change): object = try draft.object.with(change)
    }
    return Element(_row: try transaction.storeAgain(object._row, Element._schema))
  }
}
