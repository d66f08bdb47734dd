// Copying the dictionaries: all values of all namespaces, except those of the engine's own copies.
//
//  - Values are compared at each pass: there are few, and which ones have changed is not recorded.
//  - They are written by the target's own dictionaries, which remember values and have watchers.
//  - A value that was set outside of a transaction counts from that moment, though it is stored a
//    little later. So at the end what the source has in memory counts, too.
//  - What is compared is the value, and not how an item happens to be encoded.

/// A key of a dictionary.
struct CopiedItem: Hashable {
  let namespace: String
  let key: String

  /// Compares the bytes, as the storage does.
  static func == (left: CopiedItem, right: CopiedItem) -> Bool {
    left.place == right.place
  }

  func hash(into hasher: inout Hasher) { hasher.combine(place) }

  private var place: CompositeKey<String, String> { CompositeKey(namespace, key) }

  struct Change {
    let old: DictionaryContents
    let new: DictionaryContents
  }

  init(namespace: String, key: String) {
    self.namespace = namespace
    self.key = key
  }

  init(_ row: Row) {
    self.init(namespace: DictionaryItem.namespace(of: row), key: DictionaryItem.key(of: row))
  }

  /// The item in the form in which Dflat writes it; nil if the key is absent.
  func row(_ contents: DictionaryContents) -> Row? {
    contents.isAbsent ? nil : DictionaryItem.row(key, in: namespace, contents)
  }

  func areSame(_ left: DictionaryContents, _ right: DictionaryContents) -> Bool {
    switch (row(left), row(right)) {
    case (let left?, let right?): left.hasBytes(of: right)
    case (nil, nil): true
    default: false
    }
  }
}

extension WorkspaceCopy {
  /// - Parameter withMemory: Whether values that are set, and not stored yet, count.
  func copyDictionary(
    _ snapshot: any StorageSnapshot, _ stage: CopyProgress.Stage, withMemory: Bool
  ) throws {
    var changes: [CopiedItem: CopiedItem.Change] = [:]
    func flush() throws {
      if !changes.isEmpty { try target.write(changes) }
      changes = [:]
    }
    func compare(
      _ item: CopiedItem, _ original: DictionaryContents, _ copy: DictionaryContents
    ) throws {
      if item.areSame(original, copy) { return }
      changes[item] = CopiedItem.Change(old: copy, new: original)
      if changes.count >= 500 { try flush() }
    }
    let memory = withMemory ? contentsInMemory() : ContentsInMemory()
    var originals = rows(of: DictionaryItem.schema, in: snapshot)
    while let row = try originals.next() {
      let item = CopiedItem(row)
      if item.namespace == CopyTarget.namespace || memory.knows(item) { continue }
      try compare(item, DictionaryItem.contents(of: row), contentsOfTarget(item))
    }
    var copies = try rowsOfTarget(DictionaryItem.schema)
    while let row = try copies.next() {
      let item = CopiedItem(row)
      if item.namespace == CopyTarget.namespace || memory.contents[item] != nil { continue }
      let isThere = try snapshot.read { try $0.row(of: DictionaryItem.schema, keyOf: row) } != nil
      if isThere, !memory.knows(item) { continue }
      try compare(item, .absent, DictionaryItem.contents(of: row))
    }
    for (item, original) in memory.contents {
      try compare(item, original, contentsOfTarget(item))
    }
    try flush()
    let count = target.contents(of: DictionaryItem.schema).count
    report(stage, nil, count, nil)
  }

  /// What the source has in memory that is newer than what is stored.
  private struct ContentsInMemory {
    var contents: [CopiedItem: DictionaryContents] = [:]
    /// The dictionaries whose stored values are all removed.
    var erased: Set<CompositeKey<String>> = []

    func knows(_ item: CopiedItem) -> Bool {
      contents[item] != nil || erased.contains(CompositeKey(item.namespace))
    }
  }

  private func contentsInMemory() -> ContentsInMemory {
    var memory = ContentsInMemory()
    for store in source.core.dictionaries.all where store.namespace != CopyTarget.namespace {
      let unstored = store.unstored
      if unstored.erases { memory.erased.insert(CompositeKey(store.namespace)) }
      for (key, value) in unstored.contents {
        memory.contents[CopiedItem(namespace: store.namespace, key: key.text)] = value
      }
    }
    return memory
  }

  private func contentsOfTarget(_ item: CopiedItem) throws -> DictionaryContents {
    let key = DictionaryItem.row(item.key, in: item.namespace, .int(0))
    let row = try target.core.engine.read(for: .copying) {
      try $0.row(of: DictionaryItem.schema, keyOf: key)
    }
    return try row.map { try DictionaryItem.contents(of: $0) } ?? .absent
  }

  func contentsOfTargetDictionary() throws -> CopiedContents {
    try contents(ofItems: try rowsOfTarget(DictionaryItem.schema))
  }

  private func contents(ofItems rows: consuming RowStream) throws -> CopiedContents {
    var rows = rows
    var contents = CopiedContents()
    while let row = try rows.next() {
      let item = CopiedItem(row)
      if item.namespace == CopyTarget.namespace { continue }
      if let plain = item.row(try DictionaryItem.contents(of: row)) { contents.add(plain, id: 0) }
    }
    return contents
  }

  func verifyDictionary(_ snapshot: any StorageSnapshot) throws {
    let original = try contents(ofItems: rows(of: DictionaryItem.schema, in: snapshot))
    let copied = try contentsOfTargetDictionary()
    if original != copied || copied != target.contents(of: DictionaryItem.schema) {
      throw CopyError.verificationFailed(table: nil, source: original, target: copied)
    }
  }
}
