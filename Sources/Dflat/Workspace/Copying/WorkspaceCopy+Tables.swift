// Copying the tables, and reading what both sides have.

extension WorkspaceCopy {
  /// Brings the target to a state of the source.
  /// - Parameter readsBack: Whether what was written is read again and compared.
  func copy(
    _ state: CopySource.State, _ stage: CopyProgress.Stage, readsBack: Bool
  ) throws {
    for (place, schema) in schemas.enumerated() {
      if let ids = state.changes?[place] {
        try copy(ids, of: schema, in: state.snapshot, stage)
        if readsBack { try readBack(ids, of: schema, in: state.snapshot) }
      } else {
        try copyAll(of: schema, in: state.snapshot, stage)
      }
    }
    try copyDictionary(state.snapshot, stage, withMemory: readsBack)
  }

  // MARK: Everything

  /// Compares all rows, and copies those that differ.
  private func copyAll(
    of schema: EntitySchema, in snapshot: any StorageSnapshot, _ stage: CopyProgress.Stage
  ) throws {
    var batch = CopyBatch()
    func flush() throws {
      if !batch.isEmpty { try target.write(batch, of: schema) }
      batch = CopyBatch()
    }
    // Rows that are no longer there, or not as they were.
    var copies = try rowsOfTarget(schema)
    if try copies.peek() != nil {
      var originals = rows(of: schema, in: snapshot)
      while let copy = try copies.next() {
        while let original = try originals.peek(), original.id < copy.id {
          _ = try originals.next()
        }
        if let original = try originals.peek(), original.id == copy.id, original.hasBytes(of: copy)
        {
          continue
        }
        batch.remove(copy)
        if batch.isFull { try flush() }
      }
      try flush()
    }
    // Rows that are missing.
    let total = try snapshot.read { try $0.count(Query(schema: schema)) }
    var seen = 0
    copies = try rowsOfTarget(schema)
    var originals = rows(of: schema, in: snapshot)
    while let original = try originals.next() {
      seen += 1
      while let copy = try copies.peek(), copy.id < original.id { _ = try copies.next() }
      if try copies.peek()?.id == original.id { continue }
      batch.add(original)
      if batch.isFull {
        try flush()
        report(stage, schema, seen, total)
      }
    }
    try flush()
    report(stage, schema, seen, total)
    try requireAll(of: schema, seen, total)
  }

  /// Damaged rows are left out when rows are read.
  private func requireAll(of schema: EntitySchema, _ seen: Int, _ total: Int?) throws {
    if let total, total > seen { throw CopyError.damaged(table: schema.table, count: total - seen) }
  }

  // MARK: Changes

  /// Copies rows that were written since the last state.
  private func copy(
    _ ids: [Int64], of schema: EntitySchema, in snapshot: any StorageSnapshot,
    _ stage: CopyProgress.Stage
  ) throws {
    if ids.isEmpty { return }
    var batch = CopyBatch()
    func flush() throws {
      if !batch.isEmpty { try target.write(batch, of: schema) }
      batch = CopyBatch()
      try check()
    }
    // The rows that must be there in the end and are not now.
    var missing: [Int64] = []
    try forEach(of: ids, schema, in: snapshot) { id, original, copy in
      if let copy, let original, original.hasBytes(of: copy) { return }
      if original != nil { missing.append(id) }
      if let copy {
        batch.remove(copy)
        if batch.isFull { try flush() }
      }
    }
    for id in missing {
      guard let original = try snapshot.read({ try $0.row(of: schema, id: id) }) else { continue }
      batch.add(original)
      if batch.isFull { try flush() }
    }
    try flush()
    report(stage, schema, ids.count, ids.count)
  }

  /// Calls `body` with each id, and the rows of both sides that have it.
  private func forEach(
    of ids: [Int64], _ schema: EntitySchema, in snapshot: any StorageSnapshot,
    _ body: (_ id: Int64, _ original: Row?, _ copy: Row?) throws -> Void
  ) throws {
    let portion = 64
    for start in stride(from: 0, to: ids.count, by: portion) {
      let some = ids[start..<min(ids.count, start + portion)]
      let copies = try target.rows(of: schema, ids: some)
      for (id, copy) in zip(some, copies) {
        try body(id, try snapshot.read { try $0.row(of: schema, id: id) }, copy)
      }
    }
  }

  private func readBack(
    _ ids: [Int64], of schema: EntitySchema, in snapshot: any StorageSnapshot
  ) throws {
    try forEach(of: ids, schema, in: snapshot) { _, original, copy in
      if copy == nil, original == nil { return }
      if let copy, let original, original.hasBytes(of: copy) { return }
      var contents = (source: CopiedContents(), target: CopiedContents())
      if let original { contents.source.add(original) }
      if let copy { contents.target.add(copy) }
      throw CopyError.verificationFailed(
        table: schema.table, source: contents.source, target: contents.target)
    }
  }

  // MARK: Reading

  func rows(of schema: EntitySchema, in snapshot: any StorageSnapshot) -> RowStream {
    RowStream(upTo: .max) { [self] id, limit in
      try check()
      return try snapshot.read {
        try $0.rows(.after(schema, id: id, limit: limit), mark: .none).map { $0 }
      }
    }
  }

  func rowsOfTarget(_ schema: EntitySchema) throws -> RowStream {
    try target.rows(of: schema) { [self] in try check() }
  }

  /// What the source has in a table.
  func contents(
    of schema: EntitySchema, in snapshot: any StorageSnapshot, _ stage: CopyProgress.Stage
  ) throws -> CopiedContents {
    let total = try snapshot.read { try $0.count(Query(schema: schema)) }
    var contents = CopiedContents()
    var rows = rows(of: schema, in: snapshot)
    while let row = try rows.next() {
      contents.add(row)
      if contents.count % 4096 == 0 { report(stage, schema, contents.count, total) }
    }
    report(stage, schema, contents.count, total)
    try requireAll(of: schema, contents.count, total)
    return contents
  }

  /// What the target has in a table.
  func contentsOfTarget(_ schema: EntitySchema) throws -> CopiedContents {
    var contents = CopiedContents()
    var rows = try rowsOfTarget(schema)
    while let row = try rows.next() { contents.add(row) }
    return contents
  }
}

extension Row {
  /// Whether another row has the same bytes.
  func hasBytes(of other: Row) -> Bool {
    withBytes { bytes in other.withBytes { equalBytes(bytes, $0) } }
  }
}
