// Index maintenance: entries are updated in the transaction that writes the records.
//
// Which indexes of a type are complete is looked up once per type and transaction. See IndexFile
// for the invariants.

internal import LMDB

// Maintenance.
extension TransactionContext {
  /// The positions of the type's indexes that this transaction has to maintain. Throws unless the
  /// context may write.
  @inlinable
  func indexesToMaintain<Record: IndexKeyRecord>(_ recordType: Record.Type) throws -> [Int] {
    try indexesToMaintain(Record.keyPrefix, Record.fieldsVersion, Record.indexTags)
  }

  /// Updates the index entries of a record, from the values that are stored under its key to the
  /// new ones. If those stored are damaged, the type's indexes are discarded.
  @inlinable
  func updateIndexes<Record: IndexKeyRecord>(
    _ positions: [Int], to new: Record?, at key: UnsafeRawBufferPointer
  ) throws {
    // Nothing is written before all entries have been computed without an error.
    let after = try positions.map { try new?.entry(ofIndex: $0) }
    var before: [[UInt8]?] = positions.map { _ in nil }
    if let stored = try storedValue(of: key) {
      guard let entries = entries(of: Record.self, positions, key: key, value: stored) else {
        return try discardIndexes(Record.keyPrefix)
      }
      before = entries
    }
    for (old, new) in zip(before, after) where old != new {
      if let old, try !removeIndexEntry(old, key) { return try discardIndexes(Record.keyPrefix) }
      if let new { try addIndexEntry(new, key) }
    }
  }

  /// The index entries of a stored record; nil if its bytes are damaged.
  @inlinable
  func entries<Record: IndexKeyRecord>(
    of recordType: Record.Type, _ positions: [Int], key: UnsafeRawBufferPointer,
    value: UnsafeRawBufferPointer
  ) -> [[UInt8]]? {
    // Every error is one of these bytes: nothing else is read.
    try? {
      var migration: Migration?
      let record: Record = try decode(key: key, value: value, migration: &migration)
      return try positions.map { try record.entry(ofIndex: $0) }
    }()
  }

  /// Migrates the outdated records of a type and builds its missing indexes.
  @inlinable
  func buildIndexes<Record: IndexKeyRecord>(_ recordType: Record.Type) throws {
    let maintained = try indexesToMaintain(recordType)
    let missing = Record.indexTags.indices.filter { !maintained.contains($0) }
    if missing.isEmpty { return }
    var migrated: [(Migration, Record)] = []
    try forEachEntry(of: recordType) { key, value in
      var migration: Migration?
      let record: Record = try decode(key: key, value: value, migration: &migration)
      if let migration { migrated.append((migration, record)) }
    }
    try rewrite(migrated)
    var entries: [(entry: [UInt8], key: [UInt8])] = []
    try forEachEntry(of: recordType) { key, value in
      var migration: Migration?
      let record: Record = try decode(key: key, value: value, migration: &migration)
      for position in missing {
        entries.append((try record.entry(ofIndex: position), [UInt8](key)))
      }
    }
    entries.sort { $0.entry.lexicographicallyPrecedes($1.entry) }
    for (entry, key) in entries { try key.withUnsafeBytes { try addIndexEntry(entry, $0) } }
    try listIndexes(Record.keyPrefix, Record.fieldsVersion, Record.indexTags)
  }
}

// The file.
extension TransactionContext {
  @usableFromInline
  func indexesToMaintain(
    _ prefix: IndexKeyRecordHash, _ version: IndexKeyRecordHash, _ tags: [IndexKeyRecordHash]
  ) throws -> [Int] {
    try checkWritable()
    // The common case: neither the file nor the type has indexes.
    if tags.isEmpty, case .absent? = writes?.handle { return [] }
    guard let writes, let dbi = try indexDatabase(creating: !tags.isEmpty) else { return [] }
    try stamp(dbi)
    if let known = writes.maintained[prefix], known.version == version, known.tags == tags {
      return known.positions
    }
    let listed = try maintainedTags(dbi, prefix, version, tags)
    let positions = tags.indices.filter { listed.contains(tags[$0]) }
    writes.maintained[prefix] = WriteState.MaintainedIndexes(
      version: version, tags: tags, positions: positions)
    return positions
  }

  /// The tags of the indexes that this type maintains. Removes the other ones from the list.
  private func maintainedTags(
    _ dbi: MDB_dbi, _ prefix: IndexKeyRecordHash, _ version: IndexKeyRecordHash,
    _ tags: [IndexKeyRecordHash]
  ) throws -> [IndexKeyRecordHash] {
    if let list = try list(dbi, prefix) {
      let kept = list.version == version ? list.tags.filter { tags.contains($0) } : []
      if kept == list.tags { return kept }
      for tag in list.tags where !kept.contains(tag) { try removeEntries(dbi, prefix, tag) }
      try write(IndexFile.List(version: version, tags: kept), dbi, prefix)
      if !kept.isEmpty { return kept }
    }
    // Without records, every index is complete.
    guard !tags.isEmpty, try !hasRecords(prefix) else { return [] }
    try write(IndexFile.List(version: version, tags: tags), dbi, prefix)
    return tags
  }

  @usableFromInline
  func listIndexes(
    _ prefix: IndexKeyRecordHash, _ version: IndexKeyRecordHash, _ tags: [IndexKeyRecordHash]
  ) throws {
    guard let dbi = try indexDatabase(creating: true) else { return }
    try write(IndexFile.List(version: version, tags: tags), dbi, prefix)
    writes?.maintained[prefix] = nil
  }

  @usableFromInline
  func addIndexEntry(_ entry: [UInt8], _ key: UnsafeRawBufferPointer) throws {
    guard let dbi = try indexDatabase(creating: true) else { return }
    try entry.withUnsafeBytes { entry in
      try transaction.set(dbi: dbi, keyBuffer: entry, valueBuffer: key)
    }
  }

  /// Removes an entry of an index. Returns false if there is none: the index or the record is
  /// damaged.
  @usableFromInline
  func removeIndexEntry(_ entry: [UInt8], _ key: UnsafeRawBufferPointer) throws -> Bool {
    guard let dbi = try indexDatabase(creating: true) else { return true }
    return try entry.withUnsafeBytes { entry in
      do {
        try transaction.delete(dbi: dbi, key: MDB_val(buffer: entry), value: MDB_val(buffer: key))
        return true
      } catch MDBError.recordNotFound {
        return false
      }
    }
  }

  /// Removes the indexes of a type. They are rebuilt when a query needs them.
  @usableFromInline
  func discardIndexes(_ prefix: IndexKeyRecordHash) throws {
    guard let dbi = try indexDatabase(creating: false), let list = try list(dbi, prefix) else {
      return
    }
    for tag in list.tags { try removeEntries(dbi, prefix, tag) }
    try write(IndexFile.List(version: list.version, tags: []), dbi, prefix)
    writes?.maintained[prefix] = nil
  }

  /// The index database, if it has an index that is complete for this version of the type;
  /// otherwise nil.
  @usableFromInline
  func completeIndex(
    _ prefix: IndexKeyRecordHash, _ version: IndexKeyRecordHash, _ tag: IndexKeyRecordHash
  ) throws -> MDB_dbi? {
    try checkActive()
    guard let dbi = try indexDatabase(creating: false) else { return nil }
    let stamp = try stampedID(dbi)
    guard stamp == transaction.id || !transaction.isReadOnly && stamp == transaction.id - 1,
      let list = try list(dbi, prefix)
    else { return nil }
    return list.version == version && list.tags.contains(tag) ? dbi : nil
  }

  /// The handle of the index database; nil if the file has none, or none that this transaction can
  /// use.
  private func indexDatabase(creating: Bool) throws -> MDB_dbi? {
    guard let writes else { return state.indexHandle }
    switch writes.handle {
    case .open(let dbi): return dbi
    case .absent where !creating: return nil
    case .unknown where !creating:
      let dbi = try transaction.openIfPresent(name: IndexFile.name)
      writes.handle = dbi.map { .open($0) } ?? .absent
      return dbi
    case .unknown, .absent:
      let dbi = try transaction.openWithDuplicates(name: IndexFile.name)
      writes.handle = .open(dbi)
      return dbi
    }
  }

  /// Records that this transaction maintains the indexes. Discards all of them if an earlier
  /// transaction did not.
  private func stamp(_ dbi: MDB_dbi) throws {
    guard let writes, !writes.isStamped else { return }
    let id = transaction.id
    let last = try stampedID(dbi)
    if last != id {
      if let last, last != id - 1 { try transaction.removeAll(dbi: dbi) }
      try put(IndexFile.stateKey, IndexFile.bytes(UInt64(id)), dbi)
    }
    writes.isStamped = true
  }

  private func stampedID(_ dbi: MDB_dbi) throws -> Int? {
    try IndexFile.stateKey.withUnsafeBytes { key in
      guard let bytes = try transaction.get(dbi: dbi, key: MDB_val(buffer: key))?.bufferPointer,
        bytes.count == 8
      else { return nil }
      return Int(truncatingIfNeeded: UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self)))
    }
  }

  private func list(_ dbi: MDB_dbi, _ prefix: IndexKeyRecordHash) throws -> IndexFile.List? {
    try IndexFile.listKey(prefix).withUnsafeBytes { key in
      try transaction.get(dbi: dbi, key: MDB_val(buffer: key)).flatMap {
        IndexFile.List($0.bufferPointer)
      }
    }
  }

  private func write(
    _ list: IndexFile.List, _ dbi: MDB_dbi, _ prefix: IndexKeyRecordHash
  ) throws {
    try put(IndexFile.listKey(prefix), list.tags.isEmpty ? nil : list.bytes, dbi)
  }

  /// Sets the single value of a key, replacing all of its values.
  private func put(_ key: [UInt8], _ value: [UInt8]?, _ dbi: MDB_dbi) throws {
    try key.withUnsafeBytes { key in
      if try transaction.get(dbi: dbi, key: MDB_val(buffer: key)) != nil {
        try transaction.delete(dbi: dbi, key: MDB_val(buffer: key))
      }
      try value?.withUnsafeBytes {
        try transaction.set(dbi: dbi, keyBuffer: key, valueBuffer: $0)
      }
    }
  }

  private func removeEntries(
    _ dbi: MDB_dbi, _ prefix: IndexKeyRecordHash, _ tag: IndexKeyRecordHash
  ) throws {
    var keys: [[UInt8]] = []
    try IndexFile.head(prefix, tag).withUnsafeBytes { head in
      var rest = Int.max
      try scan(dbi, .atOrAbove, from: head, to: head, limit: &rest) { entry, _ in
        // There is one entry per record; entries with the same values are adjacent.
        if keys.last.map({ !entry.elementsEqual($0) }) ?? true { keys.append([UInt8](entry)) }
      }
    }
    for key in keys {
      try key.withUnsafeBytes { try transaction.delete(dbi: dbi, key: MDB_val(buffer: $0)) }
    }
  }

  private func hasRecords(_ prefix: IndexKeyRecordHash) throws -> Bool {
    var rest = 1
    try IndexFile.bytes(prefix).withUnsafeBytes {
      try scan(core.records, .atOrAbove, from: $0, to: $0, limit: &rest) { _, _ in }
    }
    return rest == 0
  }
}
