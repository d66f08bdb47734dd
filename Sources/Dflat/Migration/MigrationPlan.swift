// MigrationPlan: all migrations to one type in a workspace, and the objects that remain to be
// migrated.
//
// Which objects are migrated follows from the file alone:
//
//  - objects that are not kept are deleted from their table in the transaction that stores their
//    successors;
//  - objects that are kept have ids up to a mark, which is set in that transaction. Marks are in
//    the table of the dictionary, in a namespace of their own.
//
// So no object is migrated twice, whichever process continues the migration, and however an earlier
// process ended.

import FlatBuffersRuntime

/// All migrations to one type.
final class MigrationPlan: Sendable {
  let new: EntitySchema
  let sources: [MigrationSource]
  /// Stores a new object.
  private let insert: @Sendable (Row, Transaction) throws -> SubmittedRow

  init(
    _ new: EntitySchema, _ sources: [MigrationSource],
    insert: @escaping @Sendable (Row, Transaction) throws -> SubmittedRow
  ) {
    self.new = new
    self.sources = sources
    self.insert = insert
  }

  init<Old: Atom, New: Atom>(_ migration: Migration<Old, New>) {
    new = New._schema
    sources = migration.sources
    insert = { row, transaction in
      let request = New._Draft.creationRequest(New(_row: row))
      return try transaction.carryOut(&request._change, of: New._schema) { request._encode(to: $0) }
    }
  }

  /// This plan with sources of another plan for the type, which replace those for the same tables.
  func merging(_ other: MigrationPlan) -> MigrationPlan {
    let replaced = Set(other.sources.map(\.old))
    return MigrationPlan(
      new, sources.filter { !replaced.contains($0.old) } + other.sources, insert: other.insert)
  }

  /// The types that a step reads and writes.
  var types: TypeSet { sources.reduce(into: [new]) { $0.insert($1.old) } }

  /// Whether there are objects that have not been migrated.
  func isNeeded(_ reader: any StorageReader) throws -> Bool {
    for source in sources where try source.hasRows(reader) { return true }
    return false
  }

  /// How many old objects are left, at most.
  func remaining(_ reader: any StorageReader) throws -> Int {
    // A damaged file may have any ids, and what is left is added to what was migrated.
    let most = Int64.max / 2
    let remaining: Int64 = try sources.reduce(0) { sum, source in
      // If only damaged objects are left, nothing remains to be migrated.
      guard try source.hasRows(reader) else { return sum }
      let last = try reader.lastID(of: source.old) ?? 0
      let (distance, isOver) = try last.subtractingReportingOverflow(source.first(reader))
      return min(most, sum + (isOver ? most : min(most, max(0, distance)) + 1))
    }
    return Int(remaining)
  }

  // MARK: Steps

  /// Migrates some objects, in a transaction that holds a write lease.
  /// - Parameter limit: The largest number of objects.
  /// - Returns: The number of migrated objects, and the error, if an object could not be migrated.
  func step(_ transaction: Transaction, limit: Int) throws -> (
    migrated: Int, failure: MigrationError?
  ) {
    transaction.refusesUnstorable = true
    var migrated = 0
    for source in sources {
      while migrated < limit {
        let rows = try transaction.writing(shared: source.keepsOld) { writer in
          try source.rows(writer, limit: limit - migrated).map { $0 }
        }
        if rows.isEmpty { break }
        var last: Int64?
        var failure: MigrationError?
        // In the state in which nothing of these rows is stored.
        let conversions = try source.conversions(of: rows, to: new) { body in
          try transaction.writing { try body($0) }
        }
        for (row, conversion) in zip(rows, conversions) {
          failure = try move(row, to: conversion, from: source, transaction)
          if let left = failure, let leftOut = source.leftOut, leftOut.add(left) {
            leftOut.report(left) { transaction.workspace.report($0) }
            failure = nil
            continue
          }
          if failure != nil { break }
          last = row.id
          migrated += 1
        }
        if source.keepsOld, let last {
          try transaction.writing(shared: true) { try source.setMark(last, $0) }
        }
        if let failure { return (migrated, failure) }
      }
    }
    return (migrated, nil)
  }

  /// - Returns: Why the object cannot be migrated; nil if it is.
  private func move(
    _ row: Row, to conversion: Result<[Row], any Error>, from source: MigrationSource,
    _ transaction: Transaction
  ) throws -> MigrationError? {
    func failed(_ cause: MigrationError.Cause) -> MigrationError {
      MigrationError(
        cause: cause, table: source.old.table, rowid: row.id, newTable: new.table)
    }
    let successors: [Row]
    do { successors = try conversion.get() } catch { return failed(.function(error)) }
    var stored: [Row] = []
    // All successors of an object are stored, or none.
    func undo() throws { for row in stored { try transaction.remove(row, new) } }
    for successor in successors {
      do {
        if case .inserted(let row) = try insert(successor, transaction) { stored.append(row) }
      } catch let error as StorageError where error.cause == .alreadyExists {
        let rows = try transaction.writing { try owners(of: successor, $0) }
        try undo()
        return failed(.alreadyExists(error, rows: rows))
      } catch let error as StorageError where error.isRefusal || error.isUnstorable {
        try undo()
        return failed(.unstorable(error))
      }
    }
    if !source.keepsOld { try transaction.remove(row, source.old) }
    return nil
  }

  /// The rows that have the key, or a unique value, of an object.
  private func owners(of row: Row, _ reader: any StorageReader) throws -> [Int64] {
    var rows: Set<Int64> = []
    if let owner = try reader.row(of: new, keyOf: row) { rows.insert(owner.id) }
    for index in new.indexes where index.isUnique {
      guard let condition = row.read({ index.columns.sameValues(as: $0) }) else { continue }
      let found = try reader.rows(.query(Query(schema: new, condition: condition)), mark: .none)
      for position in 0..<found.count { rows.insert(found[position].id) }
    }
    return rows.sorted()
  }

  // MARK: Reading

  /// The result of a query as it will be when everything is migrated.
  /// - Parameters:
  ///   - query: The query for the new type.
  ///   - reader: A view of one state.
  ///   - mark: What rows of the new type carry. Rows that are not stored carry none.
  ///   - wanted: Called if there are objects that are not migrated.
  ///   - report: Called with the errors of objects that cannot be migrated, and are left out.
  func rows(
    _ query: Query, in reader: any StorageReader, mark: ReadMark,
    wanted: () -> Void, report: (any Error) -> Void
  ) throws -> RowBuffer {
    guard try isNeeded(reader) else { return try reader.rows(.query(query), mark: mark) }
    wanted()
    if query.start != nil { throw QueryError.unmigrated(new) }
    let whole = query.fromBeginning
    let stored = try reader.rows(.query(whole), mark: mark)
    var rows = stored.map { $0 }
    let condition = query.condition.map(Program.init)
    let keys = query.order.map(SortKey.init)
    // Without an order, stored objects come first, as they will when the remaining ones are
    // migrated.
    let most = keys.isEmpty ? whole.limit ?? .max : .max
    let hasStored = try reader.lastID(of: new) != nil
    var known: Set<KeyValues> = []
    for source in sources {
      var id = try source.mark(reader)
      let leftOut = source.leftOut?.ids(in: source.old.table) ?? []
      while rows.count < most {
        let some = try reader.rows(.after(source.old, id: id, limit: 500), mark: .none).map { $0 }
        guard let last = some.last else { break }
        id = last.id
        let old = some.filter { !leftOut.contains($0.id) }
        var successors: [Row] = []
        for (row, conversion) in try zip(
          old, source.conversions(of: old, to: new) { try $0(reader) })
        {
          let (converted, cause) = self.successors(conversion)
          successors += converted
          if let cause {
            let failure = MigrationError(
              cause: cause, table: source.old.table, rowid: row.id, newTable: new.table)
            if let leftOut = source.leftOut {
              leftOut.report(failure, to: report)
            } else {
              report(failure)
            }
          }
        }
        // The newest version of an object is the first one.
        successors = successors.filter { successor in
          new.keyValues(of: successor).map { known.insert($0).inserted } ?? true
        }
        if let condition { successors = successors.filter { $0.read(condition.evaluate) == .true } }
        if hasStored { successors = try unstored(successors, reader) }
        for successor in successors { rows.append(successor.unstored()) }
      }
    }
    let ordered = Self.ordered(rows, keys, query)
    try condition?.throwFailure(query.schema)
    for key in keys { try key.program.throwFailure(query.schema) }
    return ordered
  }

  /// The successors of an object, or why it cannot be migrated whatever is stored already.
  private func successors(
    _ conversion: Result<[Row], any Error>
  ) -> (rows: [Row], cause: MigrationError.Cause?) {
    let rows: [Row]
    do { rows = try conversion.get() } catch { return ([], .function(error)) }
    do { for row in rows { try new.refuseUnstorable(row) } } catch {
      return ([], (error as? StorageError).map { .unstorable($0) } ?? .function(error))
    }
    return (rows, nil)
  }

  /// How `rows` finds the result of a query.
  func explain(_ query: Query, in reader: any StorageReader) throws -> QueryExplanation {
    guard try isNeeded(reader) else { return try reader.explain(query) }
    let stored = try reader.explain(query.fromBeginning)
    return QueryExplanation(
      statement: stored.statement,
      plan: stored.plan + sources.map { "convert each row of \($0.old.table) that is left" },
      indexes: stored.indexes, of: new,
      rowByRow: query.condition.map { $0.text(in: new) }, isSortedInMemory: !query.order.isEmpty)
  }

  /// The successors whose keys no stored object has.
  private func unstored(_ successors: [Row], _ reader: any StorageReader) throws -> [Row] {
    let keys = successors.map { new.keyValues(of: $0) }
    let known = keys.compactMap { $0 }
    if known.isEmpty { return successors }
    let stored = Set(
      zip(known, try reader.ids(of: new, with: .values(known))).lazy
        .filter { $0.1 != nil }.map(\.0))
    return zip(successors, keys).filter { $1.map { !stored.contains($0) } ?? true }.map(\.0)
  }

  /// Sorts rows by the keys. The sort is stable.
  private static func ordered(_ rows: [Row], _ keys: [SortKey], _ query: Query) -> RowBuffer {
    var rows = rows
    if !keys.isEmpty {
      rows = rows.enumerated().sorted { left, right in
        let order = compare(keys, left.element, right.element)
        return order == 0 ? left.offset < right.offset : order < 0
      }.map(\.element)
    }
    var buffer = RowBuffer()
    for row in rows.dropFirst(query.offset).prefix(query.limit ?? .max) { buffer.append(row) }
    return buffer
  }
}

extension Query {
  /// The stored objects among which the result is, with what its offset leaves out.
  fileprivate var fromBeginning: Query {
    Query(schema: schema, condition: condition, order: order, limit: limitWithOffset)
  }
}

extension MigrationSource {
  /// What the functions make of old objects, without what is outdated.
  /// - Parameters:
  ///   - new: The newest version.
  ///   - read: Reads in the state in which the objects are. The functions are called outside of it.
  func conversions(
    of rows: [Row], to new: EntitySchema,
    _ read: (_ body: (any StorageReader) throws -> [[Row]]) throws -> [[Row]]
  ) throws -> [Result<[Row], any Error>] {
    if let decisions = leftOut?.decisions {
      return try conversions(of: rows) { row in
        try convert(row) { $1 }
      } filter: { converted in
        try read { try decisions.successorsToStore(of: converted, in: $0) }
      }
    }
    let decisions = KeyDecisions()
    func current(_ schema: EntitySchema, _ rows: [Row]) throws -> [Row] {
      try read { [try decisions.current(rows, of: schema, $0)] }[0]
    }
    return try conversions(of: rows) { row in
      try current(new, convert(row, current))
    } filter: {
      $0.map(\.successors)
    }
  }

  private func conversions(
    of rows: [Row], _ convert: (Row) throws -> [Row],
    filter: ([(old: Row, successors: [Row])]) throws -> [[Row]]
  ) throws -> [Result<[Row], any Error>] {
    var conversions = rows.map { row in Result { try convert(row) } }
    var places: [Int] = []
    var converted: [(old: Row, successors: [Row])] = []
    for (place, row) in rows.enumerated() {
      guard case .success(let successors) = conversions[place] else { continue }
      places.append(place)
      converted.append((row, successors))
    }
    for (place, rest) in try zip(places, filter(converted)) { conversions[place] = .success(rest) }
    return conversions
  }

  private static let namespace = "dflat.migrations"
  private var key: String { "\(old.table) \(successor)" }

  /// The id of the last object that is migrated and kept; nil if there is none.
  func mark(_ reader: any StorageReader) throws -> Int64? {
    let item = DictionaryItem.row(key, in: Self.namespace, .int(0))
    guard let row = try reader.row(of: DictionaryItem.schema, keyOf: item),
      case .int(let mark) = try DictionaryItem.contents(of: row)
    else { return nil }
    return Int64(mark)
  }

  func setMark(_ id: Int64, _ writer: any StorageWriter) throws {
    _ = try DictionaryItem.store(
      key, in: Self.namespace, .int(Int(id)), row: -1, writer)
  }

  /// Objects that are not migrated, in the order of their ids.
  func rows(_ reader: any StorageReader, limit: Int) throws -> RowBuffer {
    let leftOut = leftOut?.ids(in: old.table) ?? []
    let (most, isOver) = limit.addingReportingOverflow(leftOut.count)
    let rows = try reader.rows(
      .after(old, id: mark(reader), limit: isOver ? .max : most), mark: .none)
    if leftOut.isEmpty { return rows }
    var others = RowBuffer()
    for position in 0..<rows.count where others.count < limit {
      if !leftOut.contains(rows[position].id) { others.append(rows[position]) }
    }
    return others
  }

  func hasRows(_ reader: any StorageReader) throws -> Bool {
    try rows(reader, limit: 1).count > 0
  }

  /// The id of the first object that is not migrated.
  func first(_ reader: any StorageReader) throws -> Int64 {
    let rows = try rows(reader, limit: 1)
    return rows.count > 0 ? rows[0].id : 0
  }
}

extension Row {
  /// The same bytes as an object that is not stored. The function may return a stored object of
  /// another type.
  fileprivate func unstored() -> Row {
    id < 0 ? self : withBytes { Row(sound: $0) }
  }
}
