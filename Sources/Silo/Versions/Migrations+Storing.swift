// Migrations in the transactions of any store, by the functions of steps alone: for Empire stores,
// and for steps that read other values.

import Dflat
import StandardConformances

/// A value that cannot be migrated.
package struct MigrationFailure: Error {
  /// Its row in the table of the retained version.
  let row: Int64
  package let reason: ValueMigrationError

  init<Old: Persistable>(_ object: Canonical<Old>, _ error: any Error) {
    row = object._rowid
    reason = .failed(Old.version, id: "\(object.id)", reason: "\(error)")
  }
}

/// What a transaction of a migration has done.
package struct MigrationOutcome: Sendable {
  /// How many values it has looked at.
  let count: Int
  fileprivate(set) var failures: [MigrationFailure]
}

/// Migrates some values, in a transaction that settles nothing.
package typealias MigrationTransaction =
  @Sendable (
    any RetainingTransaction, @escaping (_ table: String) throws -> Int?
  ) throws -> MigrationOutcome

extension Migrations {
  /// Migrates all values of the retained versions, in transactions of bounded size. Those that
  /// cannot be migrated are left as they are.
  /// - Parameters:
  ///   - size: How many values one transaction migrates at most.
  ///   - failures: Gets the values that could not be migrated.
  ///   - report: Called with each failure that was not known.
  ///   - write: Runs a transaction over a retained version and the type.
  /// - Returns: Why values could not be migrated.
  /// - Throws: What is wrong with the steps themselves; the errors of the storage.
  package func migrateStored(
    size: Int, _ failures: MigrationFailures, report: (ValueMigrationError) -> Void,
    write: (
      _ old: any Persistable.Type, _ step: @escaping MigrationTransaction
    ) async throws -> MigrationOutcome
  ) async throws -> [ValueMigrationError] {
    func migrate<Old: Persistable>(_ old: Old.Type) async throws -> [ValueMigrationError] {
      let found = try await migrateAll(of: old, size: size) { try await write(old, $0) }
      for failure in found where failures.note(failure.reason, old, row: failure.row) {
        report(failure.reason)
      }
      return found.map(\.reason)
    }
    var reasons: [ValueMigrationError] = []
    for old in oldTypes { reasons += try await migrate(old) }
    return reasons
  }

  private func migrateAll<Old: Persistable>(
    of old: Old.Type, size: Int,
    _ write: (_ step: @escaping MigrationTransaction) async throws -> MigrationOutcome
  ) async throws -> [MigrationFailure] {
    var failures: [MigrationFailure] = []
    while true {
      let failed = Set(failures.map(\.row))
      do {
        let outcome = try await write { transaction, storedVersion in
          try step(
            from: old, limit: size, besides: failed, in: transaction, storedVersion: storedVersion)
        }
        failures += outcome.failures
        if outcome.count < size { return failures }
      } catch let failure as MigrationFailure {
        // Its transaction is undone. The next one leaves the value out.
        failures.append(failure)
      }
    }
  }

  /// Migrates some values of a retained version, in a transaction.
  private func step<Old: Persistable>(
    from old: Old.Type, limit: Int, besides failed: Set<Int64>,
    in transaction: any RetainingTransaction, storedVersion: @escaping (String) throws -> Int?
  ) throws -> MigrationOutcome {
    let objects = try transaction.rows(of: old, limit: limit + failed.count)
      .filter { !failed.contains($0._rowid) }.prefix(limit)
    let reader = MigrationReader(TransactionValues(transaction, storedVersion: storedVersion))
    var outcome = MigrationOutcome(count: objects.count, failures: [])
    for object in objects {
      let value: Old
      let new: [Value]
      do {
        value = try object.value()
        new = try migrateAll(value, reading: reader)
      } catch let error as ValueMigrationError {
        throw error
      } catch {
        outcome.failures.append(MigrationFailure(object, error))
        continue
      }
      if let error = try collision(of: new, in: transaction) {
        outcome.failures.append(MigrationFailure(object, error))
        continue
      }
      do { try transaction.save(new) } catch let error as StorageError
        where error.cause == .alreadyExists || error.cause == .invalidValue
      {
        throw MigrationFailure(object, error)
      }
      _ = try transaction.remove(old, [value.id])
    }
    return outcome
  }

  /// Why values that came of one cannot be stored: another value has the id or a unique property of
  /// one of them. It is found out before, since what the storage refuses undoes the transaction.
  private func collision(
    of values: [Value], in transaction: any RetainingTransaction
  ) throws -> StorageError? {
    var ids = IDSet<Value>()
    let repeated = values.first { !ids.insert($0.id) }?.id
    if let id = try repeated ?? transaction.load(Value.self, values.map { $0.id }).first?.id {
      return StorageError(
        .alreadyExists, table: Canonical<Value>._schema.table, key: "\(id)",
        message: "another value that is new has the id \(id)",
        advice: "give each its own in the step")
    }
    for value in values {
      if let error = try uniqueCollision(of: Canonical(value), in: transaction) { return error }
    }
    return nil
  }

  /// Why a value with a new id cannot be stored: another value has one of its unique properties.
  private func uniqueCollision(
    of object: Canonical<Value>, in transaction: any RetainingTransaction
  ) throws -> StorageError? {
    let schema = Canonical<Value>._schema
    for index in schema.indexes where index.isUnique {
      let same = object._row.read { index.columns.sameValues(as: $0, usingIndex: true) }
      guard let same else { continue }
      // It is counted: it need not be possible to read it.
      let others = ValueQuery<Value>(where: SameValues(_tree: ExpressionTree(same)), limit: 1)
      if try transaction.count(others) == 0 { continue }
      return StorageError(
        .alreadyExists, table: schema.table,
        key: object._row.read { schema.describe(index.columns, of: $0) },
        message: "another value that is new has it",
        advice: "give each its own in the step")
    }
    return nil
  }

  /// The values that come from retained versions and are not stored as this one yet. Those that
  /// cannot be migrated are left out.
  package func pending(
    in transaction: any RetainingTransaction, storedVersion: @escaping (String) throws -> Int?
  ) throws -> [Value] {
    let reader = MigrationReader(TransactionValues(transaction, storedVersion: storedVersion))
    // The newest version of a value is the first one.
    var known = IDSet<Value>()
    func pending<Old: Persistable>(_ old: Old.Type) throws -> [Value] {
      try transaction.rows(of: old, limit: nil).flatMap { object in
        // The migration reports why a value cannot be migrated.
        guard let new = try? migrateAll(object.value(), reading: reader) else { return [Value]() }
        return new.filter { known.insert($0.id) }
      }
    }
    return try oldTypes.flatMap { try pending($0) }
  }
}

/// The condition that a stored object has the values of another one in the columns of an index.
private struct SameValues<Stored: Persistable>: QueryExpression {
  typealias Value = Bool
  typealias Element = Canonical<Stored>
  let _tree: ExpressionTree
}
