// LiveValues: the values of a query that are always up to date, for views and for Swift's
// Observation framework.

import Dflat
import Dispatch
public import Observation

/// The values of a query, as they are now. It notifies Swift's Observation when they have changed.
///
///     struct OpenTasks: View {
///       let tasks: LiveValues<Task>  // try silos[Task.self].live(where: !Task.isDone)
///       var body: some View { List(tasks.values) { Text($0.title) } }
///     }
///
/// Other programs use `withObservationTracking` to learn of the next change. It begins with what is
/// stored, and follows the silo through all stores that it is moved to, as long as the object
/// exists. It may be used on any thread. Made by ``Silo/live(where:orderBy:limit:on:)``.
public final class LiveValues<Value: Persistable>: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let state: LiveState<Value, [Value]>

  init(_ changes: ValueChanges<Value>, on queue: DispatchQueue?) throws {
    let report = changes.report
    state = try LiveState(changes, on: queue) { $0.readableValues(report) }
    state.follow(changes) { [weak self] in self?.show() }
  }

  /// The values as they are now. Stored values that cannot be read are left out.
  public var values: [Value] {
    registrar.access(self, keyPath: \.values)
    return state.shown
  }

  /// Why the values are not followed any more, if that is so: a newer version of the program has
  /// migrated them. ``values`` stays as it was. In a SQLite file another process is noticed after
  /// `lookForOtherWriters(every:)` was called on the workspace.
  public var failure: (any Error)? {
    registrar.access(self, keyPath: \.failure)
    return state.failure
  }

  private func show() {
    registrar.withMutation(of: self, keyPath: \.values) {
      registrar.withMutation(of: self, keyPath: \.failure) { state.advance() }
    }
  }
}

/// The value with an id, as it is now. It notifies Swift's Observation when it has changed.
///
///     let task = try silos[Task.self].live(id)
///     print(task.value?.title ?? "not stored")
///
/// See ``LiveValues``. Made by ``Silo/live(_:on:)``.
public final class LiveItem<Value: Persistable>: Observable, Identifiable, Sendable {
  private let registrar = ObservationRegistrar()
  private let state: LiveState<Value, Value?>
  /// The id.
  public let id: Value.ID

  init(_ id: Value.ID, _ changes: ValueChanges<Value>, on queue: DispatchQueue?) throws {
    self.id = id
    let report = changes.report
    state = try LiveState(changes, on: queue) { $0.readableValues(report).first }
    state.follow(changes) { [weak self] in self?.show() }
  }

  /// The value as it is now; nil while it is not stored, or cannot be read.
  public var value: Value? {
    registrar.access(self, keyPath: \.value)
    return state.shown
  }

  /// Why the value is not followed any more, if that is so; see ``LiveValues/failure``.
  public var failure: (any Error)? {
    registrar.access(self, keyPath: \.failure)
    return state.failure
  }

  private func show() {
    registrar.withMutation(of: self, keyPath: \.value) {
      registrar.withMutation(of: self, keyPath: \.failure) { state.advance() }
    }
  }
}

/// How many values a query has now. It notifies Swift's Observation when that has changed.
///
///     let open = try silos[Task.self].liveCount(where: !Task.isDone)
///     badge.show(open.count)
///
/// The rows of the query are held in memory, as those of ``LiveValues``, but no values are made of
/// them. Made by ``Silo/liveCount(where:on:)``.
public final class LiveCount<Value: Persistable>: Observable, Sendable {
  private let registrar = ObservationRegistrar()
  private let state: LiveState<Value, Int>

  init(_ changes: ValueChanges<Value>, on queue: DispatchQueue?) throws {
    state = try LiveState(changes, on: queue) { $0.count }
    state.follow(changes) { [weak self] in self?.show() }
  }

  /// How many there are now, also of those that cannot be read.
  public var count: Int {
    registrar.access(self, keyPath: \.count)
    return state.shown
  }

  /// Why the values are not followed any more, if that is so; see ``LiveValues/failure``.
  public var failure: (any Error)? {
    registrar.access(self, keyPath: \.failure)
    return state.failure
  }

  private func show() {
    registrar.withMutation(of: self, keyPath: \.count) {
      registrar.withMutation(of: self, keyPath: \.failure) { state.advance() }
    }
  }
}
