// RetainingTransaction: what transactions and domains know about values of retained versions.

import Dflat
import Platform

/// A transaction that reads and removes also what cannot be read as a value.
package protocol RetainingTransaction: StoreTransaction, DecisionTable {
  /// Whether there are values of a type. It need not be possible to read them.
  func hasRows<V: Persistable>(_ type: V.Type) throws -> Bool
  /// The stored forms of values in the order of insertion, without damaged ones.
  func rows<V: Persistable>(of type: V.Type, limit: Int?) throws -> [Canonical<V>]
  /// Saves values in their stored form.
  func save<V: Persistable>(rows: [Canonical<V>]) throws
}

/// The stores that keep retained versions.
package protocol VersionedDomain: StoreDomain {
  /// Which values could not be migrated, and why.
  var failures: MigrationFailures { get }
  /// Reads values of some types as they are at one moment, without changing anything.
  func read<R: Sendable>(
    _ types: [any Persistable.Type],
    _ body: @escaping @Sendable (any RetainingTransaction) throws -> R
  ) async throws -> R
  /// Calls the storage's own handler of errors.
  func reportToStorage(_ error: any Error)
}

/// Gets the errors that are found outside of calls: silos.
protocol ErrorReceiver: AnyObject, Sendable {
  var errorHandler: (@Sendable (any Error) -> Void)? { get }
}

/// The values of a domain that could not be migrated, and the silos whose handlers are called.
///
/// A failure is reported once, however often the value is tried again.
package final class MigrationFailures: Sendable {
  private struct Listener {
    weak var target: (any ErrorReceiver)?
  }

  /// By the retained versions, and the rows in them.
  private let known = Mutex<[ObjectIdentifier: [Int64: ValueMigrationError]]>([:])
  private let listeners = Mutex<[Listener]>([])

  package init() {}

  /// Has the error handler of silos called from now on.
  func add(_ target: any ErrorReceiver) {
    listeners.withLock { listeners in
      listeners.removeAll { $0.target == nil || $0.target === target }
      listeners.append(Listener(target: target))
    }
  }

  /// Calls the error handlers of the silos.
  /// - Returns: Whether there are any.
  package func deliver(_ error: any Error) -> Bool {
    let handlers = listeners.withLock { $0.compactMap(\.target) }.compactMap(\.errorHandler)
    for handler in handlers { handler(error) }
    return !handlers.isEmpty
  }

  /// Notes that a value could not be migrated.
  /// - Returns: Whether that was not known.
  func note<Old: Persistable>(_ reason: ValueMigrationError, _ old: Old.Type, row: Int64) -> Bool {
    known.withLock { $0[ObjectIdentifier(old), default: [:]].updateValue(reason, forKey: row) }
      != reason
  }

  /// Why a value could not be migrated; nil if that is not known.
  func reason<Old: Persistable>(_ old: Old.Type, row: Int64) -> ValueMigrationError? {
    known.withLock { $0[ObjectIdentifier(old)]?[row] }
  }
}

/// A value that could not be migrated, for the error hook of its workspace.
struct ReportedFailure: RoutedError {
  let reason: ValueMigrationError
  /// The same as the workspace has it.
  let reported: any Error
  let failures: MigrationFailures

  func deliver() -> Bool { failures.deliver(reason) }
}
