// Import: storing the objects of JSON lines or CSV in a file or a database.
//
//  - An object replaces the one with its key, or is new; fields that its line lacks get their
//    defaults.
//  - Lines are read in batches, which are transactions of their own, or parts of a single one. They
//    are decoded on several threads.
//  - The first bad line ends the import. The lines before it are stored, or, with a single
//    transaction, nothing is.

import Dflat
import Dispatch
public import Foundation
import Platform
import SQLiteDflat

/// An import into a file.
///
///     var job = try Import(into: "blog.db", type: "Post")
///     let report = try job.run(reading: { try input.read(upToCount: 1 << 20) })
///     for problem in report.problems { print(problem) }
///
/// The type is one of the file, or the root of a schema that is given; then the file need not
/// exist.
public struct Import: Sendable {
  /// The path of the file.
  public let path: String
  /// The type of the objects.
  public let type: StoredType
  /// Whether there is no such file yet.
  public let isNewFile: Bool
  /// The form of the input.
  public var format = DataFile.ExportFormat.jsonLines
  /// The first line whose object is imported, from 1 up. The line with the names of CSV is read in
  /// any case.
  public var firstLine = 1
  /// Whether all is stored in one transaction. Otherwise each 5000 objects are.
  public var isOneTransaction = false
  /// Whether nothing is stored. All lines are read then, and stored in a
  /// temporary file, with the objects of the target that they can be in conflict with.
  public var isDryRun = false
  /// How many bad lines a dry run reports.
  public var problemLimit = 100
  let given: [GivenSchema]
  private let target: StoreTarget

  /// Prepares an import.
  ///
  /// - Parameters:
  ///   - path: The file.
  ///   - name: The type, as ``DataStore/type(named:)`` finds it.
  ///   - schemas: Paths of `.fbs` files, as ``DataFile/open(_:schemas:readerLimit:)`` takes them.
  /// - Throws: ``ToolError`` if there is no such type, or nothing is known of it but its bytes, the
  ///   file cannot be read, or a schema has errors.
  public init(into path: String, type name: String, schemas: [String] = []) throws {
    try self.init(into: .file(path), type: name, schemas: schemas)
  }

  /// Prepares an import into a file or a database.
  ///
  /// - Parameters:
  ///   - target: The file or the database.
  ///   - name: The type, as ``DataStore/type(named:)`` finds it.
  ///   - schemas: Paths of `.fbs` files, as ``DataFile/open(_:schemas:readerLimit:)`` takes them.
  /// - Throws: ``ToolError`` if there is no such type, or nothing is known of it but its bytes, the
  ///   target cannot be read, or a schema has errors.
  public init(into target: StoreTarget, type name: String, schemas: [String] = []) throws {
    self.target = target
    path = target.path
    given = try schemas.map { try GivenSchema(path: $0) }
    let given = given + given.flatMap(\.included)
    isNewFile = !target.isThere
    if isNewFile, given.isEmpty {
      throw target.isOnServer
        ? ToolError(
          .noSuchFile, "there is no such PostgreSQL schema: \(path)",
          advice: "check the address; a new one needs types, --schema FILE.fbs")
        : ToolError(
          .noSuchFile, "there is no file \(path)",
          advice: "check the path; a new file needs a schema, --schema FILE.fbs")
    }
    var types = try target.types(given)
    let new = StoredType.all(in: StoredTables(of: given), given: given)
    types += new.filter { type in !types.contains { $0.table == type.table } }
    type = try StoredType.named(name, among: types, of: path)
    try requireFit(try type.requireEntity())
  }

  /// Objects that the store has must stay readable beside new ones.
  private func requireFit(_ entity: EntitySchema) throws {
    guard !isNewFile, case .file(let path) = type.origin,
      let stored = try target.types([]).first(where: { $0.table == type.table })?.entity,
      let problem = SchemaFit.problem(of: entity, beside: stored)
    else { return }
    throw ToolError(
      .badData,
      "the schema \(path) does not fit the objects of \(type.name) in \(self.path): "
        + problem,
      advice: "give new fields new names behind the others, as `dflatc check` explains")
  }

  /// Runs the import on the calling thread.
  ///
  /// - Parameters:
  ///   - read: Returns the next bytes of the input; nil or none at its end. An error that it throws
  ///     ends the import.
  ///   - progress: Called after each batch.
  /// - Returns: What was done. There are ``ImportReport/problems`` if a line is bad.
  /// - Throws: ``ToolError`` if the file cannot be written, which says where to go on; the errors
  ///   of `read`.
  public func run(
    reading read: @escaping () throws -> Data?, progress: (ImportProgress) -> Void = { _ in }
  ) throws -> ImportReport {
    let entity = try type.requireEntity()
    let isCreated = isNewFile && !FileManager.default.fileExists(atPath: path)
    // After it was closed.
    defer { if isCreated, !isDryRun { target.removeIfEmpty() } }
    var source = ImportSource(
      read, RowReading(entity), isCSV: format == .csv, from: firstLine,
      skipsBadLines: isDryRun)
    let sink: any ImportSink
    if isDryRun {
      sink = try TrialSink(
        isNewFile ? nil : target.openStore(given), entity, problemLimit: problemLimit)
    } else {
      sink = StoringSink(OpenTarget(target), entity, isOneTransaction: isOneTransaction)
    }
    defer { sink.close() }
    var report = ImportReport(type: type.name, isDryRun: isDryRun)
    do {
      try sink.run {
        while let batch = try source.next() {
          let refused = try sink.take(batch.rows, &report)
          report.problems += (refused + batch.problems).sorted { $0.line < $1.line }
          if !report.problems.isEmpty, !isDryRun { throw BadInput() }
          progress(ImportProgress(bytes: source.bytes, objects: report.objects))
          if report.problems.count >= problemLimit { break }
        }
      }
    } catch is BadInput {
      report.end(isOneTransaction ? firstLine : nil)
    } catch let problem as ImportProblem {
      // Known at the end of the single transaction.
      report.problems.append(problem)
      report.end(firstLine)
    } catch let error as StorageError {
      // The single transaction reports its first error itself.
      if isOneTransaction, !report.problems.isEmpty {
        report.end(firstLine)
        return report
      }
      let error = ToolError(error)
      let next = isOneTransaction || isDryRun ? firstLine : source.firstOfBatch
      throw ToolError(
        error.kind, "\(error.message); the objects of line \(next) and later are not stored",
        advice: "go on with --from-line \(next)")
    }
    report.problems = Array(report.problems.prefix(problemLimit))
    return report
  }
}

/// Ends an import: what is wrong is in the report.
private struct BadInput: Error {}

/// Rolls a transaction back.
private struct RolledBack: Error {}

extension ImportReport {
  /// Ends an import with a bad line.
  /// - Parameter first: The first line of a single transaction, of which nothing is stored.
  fileprivate mutating func end(_ first: Int?) {
    nextLine = first ?? problems[0].line
    if first != nil { (inserted, updated, unchanged) = (0, 0, 0) }
  }

  fileprivate mutating func add(_ change: BulkChange) {
    inserted += change.inserted
    updated += change.updated
    unchanged += change.unchanged
  }

  fileprivate mutating func add(_ other: ImportReport) {
    inserted += other.inserted
    updated += other.updated
    unchanged += other.unchanged
  }
}

// MARK: Where rows go

/// A row and the line that it comes from.
struct ImportedRow: Sendable {
  let line: Int
  let row: Row
}

/// What is done with the rows of an import.
protocol ImportSink {
  /// Calls `body`, which passes the batches on.
  func run(_ body: () throws -> Void) throws
  /// Takes a batch.
  /// - Returns: What is wrong with rows that cannot be stored. Those before the first are taken.
  func take(_ rows: [ImportedRow], _ report: inout ImportReport) throws -> [ImportProblem]
  func close()
}

/// Stores rows.
final class StoringSink: ImportSink {
  private let target: OpenTarget
  private let entity: EntitySchema
  private let isOneTransaction: Bool
  /// Those of the single transaction.
  private var upserts: ExchangingUpserts?

  init(_ target: OpenTarget, _ entity: EntitySchema, isOneTransaction: Bool) {
    self.target = target
    self.entity = entity
    self.isOneTransaction = isOneTransaction
  }

  func close() { target.close() }

  func run(_ body: () throws -> Void) throws {
    if !isOneTransaction { return try body() }
    try target.write([entity], once: true) { context in
      try withProblems {
        try context.withExchanges(of: entity) { upserts in
          self.upserts = upserts
          defer { self.upserts = nil }
          try body()
        }
      }
    }
  }

  /// - Returns: At most one problem: the rows behind it are not looked at.
  func take(_ rows: [ImportedRow], _ report: inout ImportReport) throws -> [ImportProblem] {
    if rows.isEmpty { return [] }
    do {
      if let upserts {
        report.add(try store(rows[...], upserts))
      } else {
        return try storeInTransactions(rows, &report).map { [$0] } ?? []
      }
    } catch let problem as ImportProblem { return [problem] }
    return []
  }

  private func storeInTransactions(
    _ rows: [ImportedRow], _ report: inout ImportReport
  ) throws -> ImportProblem? {
    do {
      report.add(try storeTogether(rows[...]))
      return nil
    } catch let error as StorageError where error.isAboutAnObject {
      // Once more, one by one: objects may exchange their unique values.
      guard let problem = try exchange(rows[...], &report) else { return nil }
      let before = rows.prefix { $0.line < problem.line }
      if try exchange(before, &report) == nil { return problem }
      // Those before the bad line need what is behind it. What can be stored line by line is.
      let (first, count) = try firstProblem(in: before)
      report.add(try storeTogether(rows[..<count]))
      // Another program may have made room for what could not be stored before.
      return first ?? problem
    }
  }

  private func storeTogether(_ rows: ArraySlice<ImportedRow>) throws -> BulkChange {
    if rows.isEmpty { return BulkChange() }
    return try target.write([entity]) {
      try $0.upsert(entity, rows.map(\.row), losingNothing: true)
    }
  }

  /// Stores rows in a transaction, or none of them.
  /// - Returns: The first one that is wrong.
  private func exchange(
    _ rows: ArraySlice<ImportedRow>, _ report: inout ImportReport
  ) throws -> ImportProblem? {
    if rows.isEmpty { return nil }
    // The transaction may throw the error of the storage instead.
    var problem: ImportProblem?
    do {
      report.add(
        try target.write([entity]) { context in
          do {
            return try withProblems {
              try context.withExchanges(of: entity) { try store(rows, $0) }
            }
          } catch let found as ImportProblem {
            problem = found
            throw found
          }
        })
      return nil
    } catch {
      guard let problem, error is ImportProblem || (error as? StorageError)?.isAboutAnObject == true
      else { throw error }
      return problem
    }
  }

  /// Tries to store rows one after another. Nothing stays stored.
  /// - Returns: The first row that cannot be stored after those before it, and their number.
  private func firstProblem(
    in rows: ArraySlice<ImportedRow>
  ) throws -> (ImportProblem?, count: Int) {
    var count = 0
    do {
      try target.write([entity]) { context in
        // On a server it may run again.
        count = 0
        for row in rows {
          try context.upsert(entity, [row.row], losingNothing: true)
          count += 1
        }
        throw RolledBack()
      }
    } catch let error as StorageError where error.isAboutAnObject {
      let row = rows[rows.startIndex + count]
      return (problem(row.line, error), count)
    } catch is RolledBack {}
    return (nil, count)
  }

  /// Stores rows one by one. After an error the transaction can only be rolled back.
  /// - Throws: `ImportProblem` for a row that cannot be stored.
  private func store(
    _ rows: ArraySlice<ImportedRow>, _ upserts: ExchangingUpserts
  ) throws -> ImportReport {
    var stored = ImportReport(type: entity.layout.name, isDryRun: false)
    for row in rows {
      do { stored.add(try upserts.store(row.row, place: row.line)) } catch let error
        as StorageError where error.isAboutAnObject
      {
        throw problem(row.line, error)
      }
    }
    return stored
  }

  /// Calls `body`, and throws the problem of a line whose unique value another object has.
  private func withProblems<R>(_ body: () throws -> R) throws -> R {
    do { return try body() } catch let refusal as ExchangeRefusal {
      throw problem(refusal.place, refusal.error)
    }
  }

  private func problem(_ line: Int, _ error: StorageError) -> ImportProblem {
    ImportProblem(line: line, field: entity.field(of: error), message: error.message)
  }
}

extension StorageError {
  /// Whether the object that was to be stored is the reason, and not the file.
  fileprivate var isAboutAnObject: Bool {
    switch cause {
    case .alreadyExists, .invalidValue, .corruptRow: true
    // A key that is NaN, an object that is too deep or too large; the storage was not asked.
    case .other: isUnstorable
    default: false
    }
  }
}

extension EntitySchema {
  /// The names of the fields whose value is refused; nil if they are not known.
  fileprivate func field(of error: StorageError) -> String? {
    if let table = error.table, indexes.contains(where: { $0.table == table }) {
      return fieldNames(ofIndex: table)
    }
    return error.key.flatMap { key in key.split(separator: ":").first.map(String.init) }
  }
}
