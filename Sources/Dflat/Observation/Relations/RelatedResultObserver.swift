// RelatedResultObserver: an observer of a result that looks through relations to one object.
//
// A transaction may change the result by its objects and by those that they refer to. Each type has
// a side that notes the changes (RelatedSide), and the types are linked (TypeLinks): so the result
// sees each transaction at once, and all of them in the order of the commits. Then
//
//  1. the objects are found that may have entered, left or moved: those that the transaction has
//     changed, and those that refer to another object whose values it has changed;
//  2. the rows among them that are in the result leave it, by the order that they had;
//  3. those that match now are put where they belong.
//
// The result is read again only if it has a limit and lacks rows, after a failure, if very many
// other objects have changed, and for changes by other connections.

import Platform

/// Unchecked as `Observer` is: everything belongs to the deliveries of the linked types.
final class RelatedResultObserver: ResultObserver, JointObserver, @unchecked Sendable {
  /// The types that the result depends on.
  let types: TypeSet
  private let observers: [TypeObservers]
  private let values: [RelatedValues]
  /// What rows must satisfy without other objects.
  private let ownCondition: Node?
  /// The condition and the order, with related values looked up.
  private let program: Program?
  private let keys: [SortKey]
  /// Whether the order needs other objects, so that the values of all rows are kept.
  private let isOrderedByRelated: Bool
  // The deliveries run one at a time, and access the properties only briefly.

  /// One for the result's own type, then one for each of `values`. Set once, before it is enrolled.
  @exclusivity(unchecked) private var sides: [RelatedSide] = []
  /// How many times in succession reading has failed.
  @exclusivity(unchecked) private var failures = 0
  /// Whether a delivery is enqueued that reads everything.
  private let isReadLater = Atomic(false)

  /// With more keys than this that have changed, the result is read again.
  private static let mostKeys = 256
  /// How many keys are kept that no row refers to.
  private static let mostUnused = 1024

  /// - Parameters:
  ///   - observers: The observers of the workspace.
  ///   - origin: The origin of the result. It is maintained; see `Query.reasonToAskAgain`.
  ///   - rows: The result as the program has it; nil if it has none yet.
  init(
    _ observers: Observers, _ origin: ResultOrigin, _ rows: ContiguousArray<Row>?,
    _ handler: @escaping Handler
  ) {
    let query = origin.query
    let schema = query.schema
    let values = query.makeRelatedValues()
    let schemas = [schema] + query.relatedTypes
    types = schemas.reduce(into: []) { $0.insert($1) }
    self.observers = types.types.map { observers.of($0) }
    self.values = values
    ownCondition = query.ownCondition
    program = query.condition.map { Program($0.lookingUp(values, of: schema)) }
    keys = query.order.map { SortKey($0.with($0.node.lookingUp(values, of: schema))) }
    isOrderedByRelated = query.order.contains { $0.node.followsRelations }
    super.init(observers.of(schema), origin, rows, handler)
    sides =
      [RelatedSide(type, Query(schema: schema, condition: ownCondition), of: self)]
      + values.map { values in
        let target = values.path.target
        return RelatedSide(
          observers.of(target), Query(schema: target, condition: values.condition), of: self)
      }
  }

  // MARK: Beginning and end

  /// Announces the observer. From now on the changes of its types are recorded, and delivered one
  /// after another.
  func expect() {
    for side in sides { side.type.expect() }
    for observers in observers { observers.link(types) }
  }

  /// Begins to observe. Called in a delivery of all types.
  func begin(in workspace: any TransactionHost) {
    if isCancelled { return }
    for side in sides { side.type.insert(side, in: workspace) }
    readAll(in: workspace, followingOvertaken: workspace.engine.asChangeRecording != nil)
    deliverChange()
  }

  override func end() {
    // Other deliveries may be using it.
    type.atDelivery(of: types) { [self] in
      for side in sides { side.leave() }
      for observers in observers { observers.unlink(types) }
    }
  }

  // MARK: Reading everything

  func readLater(in workspace: any TransactionHost) {
    // What it holds lacks changes: nothing is applied to it.
    isStale = true
    if !isReadLater.exchange(true, ordering: .acquiringAndReleasing) {
      enqueueReading(in: workspace)
    }
  }

  private func enqueueReading(in workspace: any TransactionHost) {
    workspace.atLaterDelivery(of: types, failures: failures) { [self] workspace in
      isReadLater.store(false, ordering: .releasing)
      if isCancelled { return }
      readAll(in: workspace, followingOvertaken: true)
      deliverChange()
    }
  }

  /// - Parameter followingOvertaken: Whether everything is read again later if rows are overtaken;
  ///   see `PastView`.
  private func readAll(in workspace: any TransactionHost, followingOvertaken: Bool = false) {
    do {
      let past = try PastViews(of: observers, in: workspace)
      defer { past.close() }
      let resolver = RelationResolver { PastReader(past.of($0)) }
      let wider = Query(
        schema: query.schema, condition: query.condition, order: query.order,
        limit: query.limitWithOffset.map(ResultWindow.capacity))
      let (rows, isComplete) = try past.of(query.schema).rows(try resolver.resolve(wider))
      for values in values {
        values.keep([])
        if !isOrderedByRelated { continue }
        try values.read(Array(values.keys(of: rows)), in: past.of(values.path.target))
      }
      take(rows, isComplete: isComplete)
      failures = 0
      if followingOvertaken,
        try past.views.contains(where: { try !$0.overtaken(among: $0.earlier.keys).isEmpty })
      {
        readLater(in: workspace)
      }
    } catch {
      failed(error, in: workspace)
    }
  }

  private func failed(_ error: any Error, in workspace: any TransactionHost) {
    isStale = true
    workspace.reportReading(error)
    readingFailed(error)
    if !StorageError.mayPass(error) { return }
    failures += 1
    readLater(in: workspace)
  }

  // MARK: Changes

  func applyTouches(in workspace: any TransactionHost) {
    let touches = sides.map { $0.takeTouches() }
    if isCancelled { return }
    if isStale { return readAll(in: workspace) }
    do {
      if try apply(touches, in: workspace) { readAll(in: workspace) }
    } catch {
      failed(error, in: workspace)
    }
  }

  /// Applies changes.
  /// - Parameter touches: What each side has noted.
  /// - Returns: Whether the result must be read again.
  private func apply(
    _ touches: [[RelatedSide.Touch]], in workspace: any TransactionHost
  ) throws -> Bool {
    var replaced = ReplacedRows()
    defer { withExtendedLifetime(replaced) {} }
    var opened: PastViews?
    defer { opened?.close() }
    func past(_ schema: EntitySchema) throws -> PastView {
      let views = try opened ?? PastViews(of: observers, in: workspace)
      opened = views
      return views.of(schema)
    }

    let changes = zip(values, touches.dropFirst()).map { $0.changes($1) }
    if changes.contains(where: { $0.count > Self.mostKeys }) { return true }
    var affected = AffectedRows(touches[0])
    for (values, changes) in zip(values, changes) where !changes.isEmpty {
      let refers = Node.key(values.path.keys, isOneOf: Array(changes.keys))
      let condition = ownCondition.map { .conjunction($0, refers) } ?? refers
      let rows = try past(query.schema).rows(Query(schema: query.schema, condition: condition)).rows
      for row in rows { affected.add(row) }
      if !type.mayLag { continue }
      // Another connection may have led them to other objects, which was not delivered yet.
      for row in window.rows where values.leads(row, toOneOf: changes) { affected.add(row) }
    }

    // By the order before the changes. A change by another connection that was not delivered yet
    // may have taken a row out of the result, or elsewhere, before the transaction saw it.
    let places =
      type.mayLag ? window.places(of: affected.ids) : window.places(of: affected.earlier, keys)
    for (values, changes) in zip(values, changes) { values.apply(changes) }
    if affected.isEmpty { return false }
    let rows = affected.latest
    for values in values {
      let unknown = values.unknown(values.keys(of: rows))
      if !unknown.isEmpty { try values.read(unknown, in: past(values.path.target)) }
    }
    let matching =
      program.map { program in rows.filter { $0.read(program.evaluate) == .true } } ?? rows
    // A row that leaves may be read again at its old place: what was delivered is compared then.
    let delivered = query.limit == nil ? nil : window
    let isVisible = window.replace(places, by: matching, keys, query.schema.layout, &replaced)
    if let delivered, window.isShort {
      window = delivered
      return true
    }
    if isVisible { markChanged() }
    forgetUnused()
    return false
  }

  /// Forgets values that rows have brought which are not in the result.
  private func forgetUnused() {
    for values in values where values.count > Self.mostUnused + 2 * window.rows.count {
      values.keep(isOrderedByRelated ? values.keys(of: window.rows) : [])
    }
  }
}

/// The rows that a transaction may bring into the result, out of it, or to another position.
private struct AffectedRows {
  /// As they were, if they may have been in the result.
  private(set) var earlier: [Row] = []
  /// As they are, if they may be in the result.
  private(set) var latest = ContiguousArray<Row>()
  private(set) var ids: Set<Int64> = []

  var isEmpty: Bool { ids.isEmpty }

  /// - Parameter touches: The changes of the result's own type.
  init(_ touches: [RelatedSide.Touch]) {
    for touch in touches {
      ids.insert(touch.change.id)
      if touch.wasIn, let row = touch.change.old { earlier.append(row) }
      if touch.isIn, let row = touch.change.new { latest.append(row) }
    }
  }

  /// Adds a row that refers to an object that has changed, unless the row has changed itself.
  mutating func add(_ row: Row) {
    guard ids.insert(row.id).inserted else { return }
    earlier.append(row)
    latest.append(row)
  }
}
