// Planning in a view: which indexes can answer queries in the state that is read.
//
// A query that mentions indexes examines these indexes and reads in one read transaction, so both
// see the same state.

import Dflat
import Platform
import SQLiteAccess

extension SQLiteView {
  func withPlan<R: ~Copyable>(_ query: Query, _ body: (Plan) throws -> R) throws -> R {
    let sql = engine.sql(for: query.schema)
    try sql.requireOwnTable(on: connection)
    if query.condition != nil || !query.order.isEmpty {
      try sql.requireComparableKeys(on: connection)
    }
    if !query.mayUseIndexes {
      return try body(plan(query) { _ in false })
    }
    let before = generationBeforeState()
    return try inOneState {
      let best = try plan(query, sql, before, mayUseFullText: true)
      if !best.usesFullText { return try body(best) }
      // FTS5 finds the rows of a search before it gives the first one. So damage that is found
      // later is damage to the objects.
      let outer = hasGivenRows
      hasGivenRows = false
      defer { hasGivenRows = outer || hasGivenRows }
      let damage: SQLiteError
      do { return try body(best) } catch let error as SQLiteError
        where error.mayBeDamage && !hasGivenRows
      {
        damage = error
      }
      let result = try body(try plan(query, sql, before, mayUseFullText: false))
      // The objects are sound, so it is the full-text table that is not.
      noteDamaged(sql, damage)
      return result
    }
  }

  private func plan(
    _ query: Query, _ sql: TableSQL, _ before: Int, mayUseFullText: Bool
  ) throws -> Plan {
    try plan(query) { place in
      if place < sql.sides.count { return try isUsable(sql.sides[place], sql, before) }
      if place > sql.sides.count {
        return try isUsable(sql.elements[place - sql.sides.count - 1], sql)
      }
      return try mayUseFullText && isUsable(sql)
    }
  }

  /// Chooses a plan. In a large table SQLite finds even the objects of a long list sooner by a key
  /// or an index than by a look at each row. Many comparisons of their own take it long to prepare.
  private func plan(_ query: Query, isUsable: (Int) throws -> Bool) throws -> Plan {
    var capabilities = engine.capabilities.queries
    let few = capabilities.maximumPredicateSize
    guard query.mayHaveConstants(moreThan: few), let last = try lastID(of: query.schema),
      last / 8 > few
    else { return try Plan(query, capabilities, isUsable: isUsable) }
    capabilities.maximumPredicateSize = min(Int(last / 8), SelectSQL.mostConstants)
    let long = try Plan(query, capabilities, isUsable: isUsable)
    if long.predicate?.comparisons ?? 0 <= SelectSQL.mostComparisons { return long }
    return try Plan(query, engine.capabilities.queries, isUsable: isUsable)
  }

  /// Whether a side table can answer queries: it covers all objects and agrees with them. If it
  /// does not cover them, a build is requested, and if only its mark is missing, that.
  private func isUsable(_ side: SideTable, _ sql: TableSQL, _ before: Int) throws -> Bool {
    let extent = try IndexExtent.read(of: side, connection)
    let isGuarded =
      try extent?.verified != nil
      && side.guards.stand(on: connection, isCommitted: isCommitted)
    if let extent, isGuarded, extent.isComplete, extent.verified == IndexMarks.everything {
      return true
    }
    if try extent == nil && !connection.tableExists(sql.table) { return false }
    guard let extent, extent.isComplete else {
      engine.want(indexesOf: sql.schema)
      return false
    }
    defer { engine.confirm(indexesOf: sql.schema) }
    if let verdict = try verdict(of: side.trustKey, at: before) { return verdict }
    let start = isGuarded ? extent.verified ?? IndexMarks.nothing : IndexMarks.nothing
    let isRight = try side.agrees(
      with: sql, from: IndexMarks.first(behind: start), connection)
    note(isRight, of: side.trustKey, at: before)
    return isRight
  }

  /// Whether a table of elements can answer queries. If not, a build is requested.
  private func isUsable(_ elements: ElementTable, _ sql: TableSQL) throws -> Bool {
    let extent = try IndexExtent.read(of: elements, connection)
    if extent?.verified == IndexMarks.everything,
      try elements.guards.stand(on: connection, isCommitted: isCommitted)
    {
      return true
    }
    if try connection.tableExists(sql.table) { engine.want(indexesOf: sql.schema) }
    return false
  }

  /// Whether the full-text table of a type can answer queries. If not, a build is requested.
  private func isUsable(_ sql: TableSQL) throws -> Bool {
    guard let fullText = sql.fullText, engine.fullTexts.supports(fullText.table) else {
      return false
    }
    var extent: IndexExtent?
    do { extent = try IndexExtent.read(of: fullText, connection) } catch {
      if error.isMissingModule {
        engine.noteUnsupported(fullText.table, error)
        return false
      }
      guard error.mayBeDamage else { throw error }
      noteDamaged(sql, error)
      return false
    }
    if let extent, extent.isComplete, extent.verified == IndexMarks.everything,
      try !engine.fullTexts.isDamaged(fullText.table, on: connection),
      try fullText.guards.stand(on: connection, isCommitted: isCommitted)
    {
      return true
    }
    if extent == nil, try fullText.guards.stand(on: connection, isCommitted: isCommitted) {
      // SQLite tells that a table is missing before it takes a snapshot; by now it has one, in
      // which the table may have been created.
      if try IndexExtent.read(of: fullText, connection) == nil {
        // The table is there, and FTS5 cannot open it.
        noteDamaged(sql, nil)
      }
      return false
    }
    if try connection.tableExists(sql.table) { engine.want(indexesOf: sql.schema) }
    return false
  }

  private func noteDamaged(_ sql: TableSQL, _ error: SQLiteError?) {
    guard let fullText = sql.fullText else { return }
    if let version = try? connection.schemaVersion() {
      engine.fullTexts.noteDamaged(fullText.table, at: version)
    }
    // FTS5 may go on with what it has read of the table, also when that was created anew.
    connection.isReusable = false
    engine.reports.reportOnce(
      StorageError(
        .corruptFile, table: fullText.table,
        message:
          "the full-text table is damaged: searches look at each object until it is filled again",
        underlying: error, path: error?.path))
    engine.want(indexesOf: sql.schema)
  }

  func inOneState<R: ~Copyable>(_ body: () throws -> R) throws -> R {
    if connection.isInTransaction { return try body() }
    try connection.begin(.deferred)
    do {
      let result = try body()
      try connection.commit()
      return result
    } catch {
      // The first error is reported; a failure to end the read transaction adds nothing.
      try? connection.rollback()
      throw error
    }
  }
}
