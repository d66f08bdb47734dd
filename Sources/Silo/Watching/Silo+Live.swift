// Live objects of a silo: values, one value, or their number, always up to date.

public import Dflat
public import Dispatch

extension Silo {
  /// The values for which a condition is true, now and from now on.
  ///
  ///     let open = try tasks.live(where: !Task.isDone, orderBy: [Task.created.descending])
  ///
  /// The present values are read during this call, on the calling thread. For what other processes
  /// change see <doc:WatchingSilos>.
  ///
  /// - Parameters:
  ///   - condition: Values for which it is unknown are left out.
  ///   - order: Keys from most to least significant; ties are in order of insertion.
  ///   - limit: How many values at most.
  ///   - queue: The queue on which the object changes. It must be serial; the default is the main
  ///     queue, for views. With nil, it changes on any thread, some time after the transaction.
  /// - Throws: `SiloError.newerVersion`, `SiloError.unknownVersion`; the errors of the storage.
  ///   Values that cannot be read are reported, as by ``changes(where:orderBy:limit:)``.
  public func live(
    where condition: some QueryExpression<Bool, Canonical<Value>>,
    orderBy order: [OrderBy<Canonical<Value>>] = [], limit: Int? = nil,
    on queue: DispatchQueue? = .main
  ) throws -> LiveValues<Value> {
    try LiveValues(
      changes(ValueQuery(where: condition, orderBy: order, limit: limit)), on: queue)
  }

  /// All values, now and from now on.
  /// - Parameters:
  ///   - order: Keys from most to least significant; ties are in order of insertion.
  ///   - limit: How many values at most.
  ///   - queue: As for ``live(where:orderBy:limit:on:)``.
  /// - Throws: As ``live(where:orderBy:limit:on:)``.
  public func live(
    orderBy order: [OrderBy<Canonical<Value>>] = [], limit: Int? = nil,
    on queue: DispatchQueue? = .main
  ) throws -> LiveValues<Value> {
    try LiveValues(changes(ValueQuery(orderBy: order, limit: limit)), on: queue)
  }

  /// The value with an id, now and from now on, whether it is stored or not.
  /// - Parameters:
  ///   - id: The id.
  ///   - queue: As for ``live(where:orderBy:limit:on:)``.
  /// - Throws: As ``live(where:orderBy:limit:on:)``.
  public func live(_ id: Value.ID, on queue: DispatchQueue? = .main) throws -> LiveItem<Value> {
    let key = Field<Value.ID._Key, Canonical<Value>>(Value._canonical.keyOffset)
    return try LiveItem(id, changes(ValueQuery(where: key.in([id._key]))), on: queue)
  }

  /// How many values a condition is true for, now and from now on.
  /// - Parameters:
  ///   - condition: Values for which it is unknown are left out.
  ///   - queue: As for ``live(where:orderBy:limit:on:)``.
  /// - Throws: As ``live(where:orderBy:limit:on:)``.
  public func liveCount(
    where condition: some QueryExpression<Bool, Canonical<Value>>,
    on queue: DispatchQueue? = .main
  ) throws -> LiveCount<Value> {
    try LiveCount(changes(ValueQuery(where: condition)), on: queue)
  }

  /// How many values there are, now and from now on.
  /// - Parameter queue: As for ``live(where:orderBy:limit:on:)``.
  /// - Throws: As ``live(where:orderBy:limit:on:)``.
  public func liveCount(on queue: DispatchQueue? = .main) throws -> LiveCount<Value> {
    try LiveCount(changes(ValueQuery()), on: queue)
  }
}
