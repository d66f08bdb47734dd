// Live: one observable object for one stored row.

public import Dispatch
public import Observation
import Platform

/// A stored object as a reference that follows the data, and notifies Swift's Observation when it
/// has changed.
///
///     struct PostRow: View {
///       let post: Live<Post>
///       var body: some View { Text(post.title) }
///     }
///
/// Objects come from ``Workspace/uniqued(_:on:)``. As long as one exists, all callers that ask for
/// its row get the same one. The fields of the object are read under their own names. To change it,
/// pass ``value`` to `update` in a transaction, or merge a ``Draft`` of it.
@dynamicMemberLookup
public final class Live<Element: Atom>: Observable, Identifiable, Sendable, LiveObject {
  private struct State {
    var value: Element
    var isDeleted = false
    /// The number of the last event.
    var number = 0
  }

  private let registrar = ObservationRegistrar()
  private let state: Mutex<State>
  private let rowid: Int64
  private let rows: LiveRows

  fileprivate init(_ row: Row, _ rows: LiveRows) {
    state = Mutex(State(value: Element(_row: row)))
    rowid = row.id
    self.rows = rows
  }

  deinit { rows.remove(rowid) }

  /// The object as it is now, or as it was before it was deleted.
  public var value: Element {
    registrar.access(self, keyPath: \.value)
    return state.withLock { $0.value }
  }

  /// Whether the object was deleted. A new object with the same key is another one.
  public var isDeleted: Bool {
    registrar.access(self, keyPath: \.isDeleted)
    return state.withLock { $0.isDeleted }
  }

  /// A property of the object as it is now.
  public subscript<Value>(dynamicMember property: KeyPath<Element, Value>) -> Value {
    value[keyPath: property]
  }

  func show(_ row: Row, isDeleted: Bool, _ number: Int) {
    func change() {
      // Concurrent calls may come in another order than their changes.
      state.withLock { state in
        if number <= state.number { return }
        state = State(value: Element(_row: row), isDeleted: isDeleted, number: number)
      }
    }
    if !isDeleted { return registrar.withMutation(of: self, keyPath: \.value, change) }
    registrar.withMutation(of: self, keyPath: \.isDeleted) {
      // Its last change may not have been shown yet.
      let shown = state.withLock { $0.value }._row
      let isShown = row.withBytes { row in shown.withBytes { equalBytes(row, $0) } }
      if isShown { change() } else { registrar.withMutation(of: self, keyPath: \.value, change) }
    }
  }
}

extension Live: Hashable {
  /// Compares identities.
  public static func == (lhs: Live, rhs: Live) -> Bool { lhs === rhs }
  /// Hashes the identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// The identity map of a type: it gives one ``Live`` object for each row, and keeps none of them
/// alive.
public struct UniquedObjects<Element: Atom>: Sendable {
  private let rows: LiveRows
  private let core: WorkspaceCore

  fileprivate init(_ rows: LiveRows, _ core: WorkspaceCore) {
    self.rows = rows
    self.core = core
  }

  /// The number of live objects that exist now.
  public var count: Int { rows.count }

  /// The live objects of fetched objects, in their order.
  ///
  ///     let posts = dflat.uniqued(Post.self).objects(dflat.fetch(for: Post.self).all())
  ///
  /// A live object that exists already is returned as it is; if the fetched object is newer, the
  /// live one takes its values. Otherwise it begins with the fetched object. Objects without a row
  /// id, and those of other workspaces, are looked up by their keys, and left out if they are not
  /// stored, or not migrated yet.
  @inlinable
  public func objects(_ objects: some Sequence<Element>) -> [Live<Element>] {
    var rows: ContiguousArray<Row> = []
    rows.reserveCapacity(objects.underestimatedCount)
    for object in objects { rows.append(object._row) }
    return self.objects(ofRows: rows)
  }

  @usableFromInline
  func objects(ofRows all: ContiguousArray<Row>) -> [Live<Element>] {
    var stored = all
    if all.contains(where: { !core.owns($0) }) {
      stored = ContiguousArray(
        all.compactMap { core.owns($0) ? $0 : find(Element(_row: $0).id) }.filter { $0.id >= 0 })
    }
    if stored.isEmpty { return [] }
    return [Live<Element>](unsafeUninitializedCapacity: stored.count) { objects, count in
      // An object is one reference, whatever its type.
      let memory = UnsafeMutableRawPointer(objects.baseAddress.unsafelyUnwrapped)
        .assumingMemoryBound(to: Unmanaged<AnyObject>.self)
      rows.objects(stored, to: memory, in: core) { Live<Element>($0, rows) }
      count = stored.count
    }
  }

  /// The live object of a fetched object; nil if it has no row id, or is one of another
  /// workspace, and its key is not stored.
  public func object(_ object: Element) -> Live<Element>? {
    objects(CollectionOfOne(object)).first
  }

  /// The live object with a primary key; nil if none is stored.
  ///
  /// This fetches the object, as `find` does, and its errors go to the workspace's error hook.
  public subscript(key: Element.ID) -> Live<Element>? {
    find(key).flatMap { object(Element(_row: $0)) }
  }

  private func find(_ key: Element.ID) -> Row? {
    core.row(of: Element._schema, with: key)
  }
}

extension Workspace {
  /// The identity map of a type, which makes one row one observable object.
  ///
  ///     let posts = dflat.uniqued(Post.self)
  ///     let first = posts["first"]
  ///     print(first === posts["first"])  // true
  ///
  /// There is one map for each type and queue, which all calls share. It may be used on any thread.
  /// - Parameters:
  ///   - type: The entity type.
  ///   - queue: The queue on which the objects change. It must be serial; the default is the main
  ///     queue, for views. With nil, they change where callbacks run, and so before the completion
  ///     handler of the transaction that has changed them; or on the thread that calls
  ///     ``UniquedObjects/objects(_:)`` with a newer object.
  public func uniqued<Element: Atom>(
    _ type: Element.Type, on queue: DispatchQueue? = .main
  ) -> UniquedObjects<Element> {
    let core = _core
    return UniquedObjects(core.liveRows.of(type._schema, queue, in: core), core)
  }
}
