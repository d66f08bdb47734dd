// The questions of a silo with a condition that has no type of its own: `where: .always`.
//
// The compiler finds `.always` only where the type of the condition is named. Each form forwards to
// the generic one, which is preferred wherever both could be meant.

public import Dflat
public import Dispatch

extension Silo {
  /// The same for a condition without a type of its own, as `.always`.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func values(
    where condition: Condition<Canonical<Value>>, orderBy order: [OrderBy<Canonical<Value>>] = [],
    limit: Int? = nil
  ) async throws -> [Value] {
    try await values(where: condition, orderBy: order, limit: limit)
  }

  /// The same for a condition without a type of its own, as `.always`.
  /// - Throws: The errors of the storage.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func count(where condition: Condition<Canonical<Value>>) async throws -> Int {
    try await count(where: condition)
  }

  /// The same for a condition without a type of its own, as `.always`.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func changes(
    where condition: Condition<Canonical<Value>>, orderBy order: [OrderBy<Canonical<Value>>] = [],
    limit: Int? = nil
  ) -> ValueChanges<Value> {
    changes(where: condition, orderBy: order, limit: limit)
  }

  /// The same for a condition without a type of its own, as `.always`.
  /// - Throws: As ``live(where:orderBy:limit:on:)``.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func live(
    where condition: Condition<Canonical<Value>>, orderBy order: [OrderBy<Canonical<Value>>] = [],
    limit: Int? = nil, on queue: DispatchQueue? = .main
  ) throws -> LiveValues<Value> {
    try live(where: condition, orderBy: order, limit: limit, on: queue)
  }

  /// The same for a condition without a type of its own, as `.always`.
  /// - Throws: As ``live(where:orderBy:limit:on:)``.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func liveCount(
    where condition: Condition<Canonical<Value>>, on queue: DispatchQueue? = .main
  ) throws -> LiveCount<Value> {
    try liveCount(where: condition, on: queue)
  }
}

extension SiloTransaction {
  /// The same for a condition without a type of its own, as `.always`.
  /// - Throws: `UnreadableValue`; the errors of the storage.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func values(
    where condition: Condition<Canonical<Value>>, orderBy order: [OrderBy<Canonical<Value>>] = [],
    limit: Int? = nil
  ) throws -> [Value] {
    try values(where: condition, orderBy: order, limit: limit)
  }

  /// The same for a condition without a type of its own, as `.always`.
  /// - Throws: The errors of the storage.
  @_documentation(visibility: internal)
  @_disfavoredOverload
  public func count(where condition: Condition<Canonical<Value>>) throws -> Int {
    try count(where: condition)
  }
}
