// Indexes are kept up with the records: in the same transaction, entry by entry.
//
// Which of a type's indexes are complete is looked up once for each type and transaction. See IndexFile for what holds.

internal import LMDB

// Keeping up.
extension TransactionContext {
  /// The positions of the type's indexes that have to be kept up with what is written now. Throws unless the context may write.
  @inlinable
  func indexesToKeep<Record: IndexKeyRecord>(_ recordType: Record.Type) throws -> [Int] {
    try indexesToKeep(Record.keyPrefix, Record.fieldsVersion, Record.indexTags)
  }

  /// Writes how the entries of a record change: from what is stored under its key to what will be.
  @inlinable
  func updateIndexes<Record: IndexKeyRecord>(
    _ positions: [Int], to new: Record?, at key: UnsafeRawBufferPointer
  ) throws {
    var old: Record?
    if let stored = try storedValue(of: key) {
      var migration: Migration?
      old = try decode(key: key, value: stored, migration: &migration)
    }
    var changes: [(old: [UInt8]?, new: [UInt8]?)] = []
    for position in positions {
      let before = try old?.entry(ofIndex: position)
      let after = try new?.entry(ofIndex: position)
      if before != after { changes.append((before, after)) }
    }
    // Nothing is written before all is known to be right.
    for change in changes {
      if let old = change.old { try removeIndexEntry(old, key) }
      if let new = change.new { try addIndexEntry(new, key) }
    }
  }

  /// Makes those of a type's indexes that are missing, and migrates its outdated records before.
  @inlinable
  func buildIndexes<Record: IndexKeyRecord>(_ recordType: Record.Type) throws {
    let kept = try indexesToKeep(recordType)
    let missing = Record.indexTags.indices.filter { !kept.contains($0) }
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
  func indexesToKeep(
    _ prefix: IndexKeyRecordHash, _ version: IndexKeyRecordHash, _ tags: [IndexKeyRecordHash]
  ) throws -> [Int] {
    try checkWritable()
    // As most files are, and most types.
    if tags.isEmpty, case .absent? = writes?.handle { return [] }
    guard let writes, let dbi = try indexDatabase(creating: !tags.isEmpty) else { return [] }
    try stamp(dbi)
    if let kept = writes.kept[prefix], kept.version == version, kept.tags == tags {
      return kept.positions
    }
    let listed = try keptList(dbi, prefix, version, tags)
    let positions = tags.indices.filter { listed.contains(tags[$0]) }
    writes.kept[prefix] = WriteState.Kept(version: version, tags: tags, positions: positions)
    return positions
  }

  /// The tags of the indexes that this type keeps up. Those that it does not are struck off the list.
  private func keptList(
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
    // Without records every index is complete.
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
    writes?.kept[prefix] = nil
  }

  @usableFromInline
  func addIndexEntry(_ entry: [UInt8], _ key: UnsafeRawBufferPointer) throws {
    guard let dbi = try indexDatabase(creating: true) else { return }
    try entry.withUnsafeBytes { entry in
      try transaction.set(dbi: dbi, keyBuffer: entry, valueBuffer: key)
    }
  }

  @usableFromInline
  func removeIndexEntry(_ entry: [UInt8], _ key: UnsafeRawBufferPointer) throws {
    guard let dbi = try indexDatabase(creating: true) else { return }
    try entry.withUnsafeBytes { entry in
      do {
        try transaction.delete(dbi: dbi, key: MDB_val(buffer: entry), value: MDB_val(buffer: key))
      } catch MDBError.recordNotFound {
        throw StoreError.indexDamaged
      }
    }
  }

  /// The database of the indexes with an index that is complete for this version of the type; nil if it has to be done without.
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

  /// The handle of the database of the indexes; nil if there is none in the file, or none that this transaction could use.
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

  /// Writes down that this transaction keeps the indexes. Voids them if one before it did not.
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

  /// Gives a key one value, in place of all that it has.
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
        // One for each record; those with the same values stand together.
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
