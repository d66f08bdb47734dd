// CopyTarget: what a copy writes, and the marks by which an interrupted copy is recognised.
//
//  - The marks are values in a dictionary of their own: one for the copy, and one for each table,
//    with the contents that copies have stored there. A table's mark is written together with its
//    rows, so it is right after a crash, too.
//  - A table with a mark that is right was filled by a copy only. Its rows may be removed again.

import Platform

/// The target of a copy. Used by one thread.
final class CopyTarget {
  let core: WorkspaceCore
  /// What copies have stored, by table.
  private(set) var contents: [String: CopiedContents] = [:]

  /// The namespace of the marks.
  static let namespace = "dflat.copy"
  /// The key of the mark of the copy; it is no table.
  private static let copyKey = ""

  init(_ core: WorkspaceCore) { self.core = core }

  /// What copies have stored in a table.
  func contents(of schema: EntitySchema) -> CopiedContents {
    contents[schema.table] ?? CopiedContents()
  }

  // MARK: Reading

  /// The rows of a table, read as they are needed.
  /// - Parameter check: Called before each portion.
  func rows(of schema: EntitySchema, _ check: @escaping () throws -> Void) throws -> RowStream {
    let last = try core.engine.read(for: .copying) { try $0.lastID(of: schema) }
    return RowStream(upTo: last) { [core] id, limit in
      try check()
      return try core.engine.read(for: .copying) { reader in
        try reader.rows(.after(schema, id: id, limit: limit), mark: .none).map { $0 }
      }
    }
  }

  /// How many objects a table has, the damaged ones included if the engine counts them.
  func count(of schema: EntitySchema) throws -> Int {
    try core.engine.read(for: .copying) { reader in
      let query = Query(schema: schema)
      return try reader.count(query) ?? reader.ids(query).count
    }
  }

  /// The rows with some ids, nil for each that there is not.
  func rows(of schema: EntitySchema, ids: ArraySlice<Int64>) throws -> [Row?] {
    try core.engine.read(for: .copying) { reader in
      try ids.map { try reader.row(of: schema, id: $0) }
    }
  }

  // MARK: Marks

  /// The mark of a table, or of the copy; nil if there is none.
  func mark(_ key: String) throws -> String? {
    try core.engine.read(for: .copying) { try Self.mark(key, $0) }
  }

  private static func mark(_ key: String, _ reader: any StorageReader) throws -> String? {
    let item = DictionaryItem.row(key, in: namespace, .int(0))
    guard let row = try reader.row(of: DictionaryItem.schema, keyOf: item),
      case .string(let text) = try DictionaryItem.contents(of: row)
    else { return nil }
    return text
  }

  private static func setMark(_ key: String, _ text: String?, _ writer: any StorageWriter) throws {
    let contents = text.map { DictionaryContents.string($0) } ?? .absent
    _ = try DictionaryItem.store(key, in: namespace, contents, row: -1, writer)
  }

  /// Whether a copy was interrupted.
  func isUnfinished() throws -> Bool { try mark(Self.copyKey) != nil }

  /// Begins a copy, or continues one.
  /// - Parameter contents: What copies have stored.
  /// - Throws: `CopyError.ontoItself` if the source has the same storage.
  func begin(_ contents: [String: CopiedContents], from source: WorkspaceCore) throws {
    let name = String(UInt64.random(in: .min ... .max), radix: 16)
    let before = try mark(Self.copyKey)
    try writeMarks { try Self.setMark(Self.copyKey, name, $0) }
    let seen = try source.engine.read(for: .copying) { try Self.mark(Self.copyKey, $0) }
    if seen == name {
      try writeMarks { try Self.setMark(Self.copyKey, before, $0) }
      throw CopyError.ontoItself
    }
    self.contents = contents
    try setMarks()
  }

  /// Marks the copy as unfinished.
  func setMarks() throws {
    let contents = contents
    try writeMarks { writer in
      if try Self.mark(Self.copyKey, writer) == nil { try Self.setMark(Self.copyKey, "", writer) }
      for (table, contents) in contents { try Self.setMark(table, contents.text, writer) }
    }
  }

  /// Marks the copy as finished.
  func removeMarks() throws {
    let tables = contents.keys
    try writeMarks { writer in
      for key in tables + [Self.copyKey] { try Self.setMark(key, nil, writer) }
    }
  }

  private func writeMarks(_ body: (any StorageWriter) throws -> Void) throws {
    try core.commitHere([DictionaryItem.schema]) { try $0.writing(shared: true, body) }
  }

  // MARK: Writing

  /// Removes and adds rows of a table, in one transaction.
  func write(_ batch: CopyBatch, of schema: EntitySchema) throws {
    var contents = contents(of: schema)
    for row in batch.removals { contents.remove(row) }
    for row in batch.additions { contents.add(row) }
    try core.commitHere([schema]) { transaction in
      // The mark is written where all types have theirs, so its place is taken at once.
      try transaction.writing(shared: true) { _ in }
      for row in batch.removals { try transaction.remove(row, schema) }
      for row in batch.additions { try transaction.add(row, schema) }
      try transaction.writing { try Self.setMark(schema.table, contents.text, $0) }
    }
    self.contents[schema.table] = contents
  }

  /// Changes values of dictionaries, in one transaction.
  func write(_ changes: [CopiedItem: CopiedItem.Change]) throws {
    var contents = contents(of: DictionaryItem.schema)
    for (item, change) in changes {
      if let old = item.row(change.old) { contents.remove(old, id: 0) }
      if let new = item.row(change.new) { contents.add(new, id: 0) }
    }
    try core.commitHere([DictionaryItem.schema]) { [core] transaction in
      for (item, change) in changes {
        let store = core.dictionaries.store(item.namespace)
        guard let draft = transaction.draft(of: store, for: "a dictionary was copied") else {
          throw transaction.failure ?? WorkspaceError.shutDown
        }
        draft.set(change.new, for: store.key(item.key))
      }
      try transaction.writing {
        try Self.setMark(DictionaryItem.schema.table, contents.text, $0)
      }
    }
    self.contents[DictionaryItem.schema.table] = contents
  }
}

/// Rows to remove from a table, and then to add.
struct CopyBatch {
  /// More rows, or bytes, are not collected.
  private static let most = (rows: 1000, bytes: 1 << 21)

  private(set) var removals: [Row] = []
  private(set) var additions: [Row] = []
  private var bytes = 0

  mutating func remove(_ row: Row) {
    removals.append(row)
    bytes += row.count
  }

  mutating func add(_ row: Row) {
    additions.append(row)
    bytes += row.count
  }

  var isEmpty: Bool { removals.isEmpty && additions.isEmpty }
  var isFull: Bool { removals.count + additions.count >= Self.most.rows || bytes > Self.most.bytes }
}

extension Transaction {
  /// Stores a row of another workspace under its own id.
  fileprivate func add(_ row: Row, _ schema: EntitySchema) throws {
    do {
      try write { writer, _ in
        try writer.insert(schema, keepingIDOf: row)
        record(schema, row.id, old: nil, new: row)
      }
    } catch let error as StorageError where error.isRefusal || error.cause == .other {
      throw CopyError.refused(table: schema.table, rowid: row.id, error)
    }
  }
}
