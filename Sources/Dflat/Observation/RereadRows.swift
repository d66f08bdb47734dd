// RereadRows: rows that other connections have changed, as they are stored now.
//
// What was stored before is not known, and an observer may have the rows already. So an observer
// compares the rows that it has with these, and a row that is read once more does no harm.

struct RereadRows {
  /// The ids of all rows that may have changed.
  let ids: Set<Int64>
  /// Those that exist, in ascending order of ids.
  let rows: [Row]
  /// The state up to which they have all changes; nil if it is not known.
  let point: ChangePoint?
  private let places: [Int64: Int]

  init(ids: Set<Int64>, _ rows: [Row], upTo point: ChangePoint? = nil) {
    self.ids = ids
    self.point = point
    self.rows = rows
    places = Dictionary(rows.indices.map { (rows[$0].id, $0) }, uniquingKeysWith: { $1 })
  }

  /// The row with an id; nil if it does not exist.
  subscript(id: Int64) -> Row? { places[id].map { rows[$0] } }
}

extension PastView {
  /// The rows that other connections have changed since an earlier state.
  /// - Returns: nil if it is not known which rows.
  func changes(since point: ChangePoint) throws -> RereadRows? {
    guard let recorded = snapshot as? any ChangeRecordingSnapshot else { return nil }
    let changes = try recorded.recordedChanges(since: point)
    guard let tables = changes.tables else { return nil }
    switch tables[schema.table] {
    case .unknown: return nil
    case nil: return RereadRows(ids: [], [], upTo: changes.point)
    case .rows(let ids): return try rows(Set(ids), upTo: changes.point)
    }
  }

  /// The rows with some ids.
  /// - Parameter point: See `RereadRows.point`.
  func rows(_ ids: Set<Int64>, upTo point: ChangePoint? = nil) throws -> RereadRows {
    var rows = try stored(ids.filter { !earlier.keys.contains($0) }.sorted())
    for id in ids { if case let row?? = earlier[id] { rows.append(row.marked(workspace.unread)) } }
    return RereadRows(ids: ids, rows.sorted { $0.id < $1.id }, upTo: point)
  }
}

extension QueryObserver {
  /// Applies what other connections have done to rows, unless the result must be read again anyway.
  /// - Returns: Whether it must be read again.
  final func follow(_ changed: RereadRows, _ replaced: inout ReplacedRows) -> Bool {
    isStale || isUnstable ? true : apply(changed, &replaced)
  }

  /// The rows that match the condition; nil if only a query can tell.
  final func matches(in changed: RereadRows) -> [Row]? {
    guard let condition = query.condition else { return changed.rows }
    let program = Program(condition)
    if !program.calls.isEmpty { return nil }
    return changed.rows.filter { $0.read(program.evaluate) == .true }
  }
}

extension TypeObservers {
  /// From which state on the changes of other connections are not delivered yet.
  enum Start: Sendable {
    /// Not known: everything is read again.
    case unknown
    case point(ChangePoint)
  }

  /// Delivers what other connections have changed.
  /// - Returns: Whether that has failed and is to be repeated. The error was reported.
  func follow(_ start: Start, in workspace: any TransactionHost) -> Bool {
    guard case .point(let point) = start else { return refresh(in: workspace) }
    return withRegistered { registered in
      sweep(&registered)
      do {
        if let changed = try reread(in: workspace, { try $0.changes(since: point) }) {
          return follow(changed, &registered, in: workspace)
        }
      } catch {
        return failed(error, &registered, in: workspace)
      }
      return refresh(&registered, in: workspace)
    }
  }

  /// Delivers what rows have become that were overtaken when they were read last.
  /// - Returns: Whether that has failed and is to be repeated. The error was reported.
  func followOvertaken(_ ids: Set<Int64>, in workspace: any TransactionHost) -> Bool {
    withRegistered { registered in
      sweep(&registered)
      do {
        guard let changed = try reread(in: workspace, { try $0.rows(ids) }) else { return false }
        return follow(changed, &registered, in: workspace)
      } catch {
        return failed(error, &registered, in: workspace)
      }
    }
  }

  /// Rows could not be read. If that does not pass by itself, everything is read again: that
  /// reports the error if it lasts, and then the next change has everything read once more.
  /// - Returns: Whether the rows are to be read again.
  private func failed(
    _ error: any Error, _ registered: inout Registered, in workspace: any TransactionHost
  ) -> Bool {
    if !StorageError.mayPass(error) { return refresh(&registered, in: workspace) }
    workspace.reportReading(error)
    return true
  }

  /// Reads rows that others have changed. The snapshot is closed before handlers are called, which
  /// may take their time.
  private func reread(
    in workspace: any TransactionHost, _ read: (PastView) throws -> RereadRows?
  ) throws -> RereadRows? {
    let past = try PastView(of: self, in: workspace)
    defer { past.close() }
    let changed = try read(past)
    if let changed {
      workspace.followLater(try past.overtaken(among: changed.ids), of: schema)
    }
    return changed
  }

  private func follow(
    _ changed: RereadRows, _ registered: inout Registered, in workspace: any TransactionHost
  ) -> Bool {
    if let point = changed.point { registered.point = point }
    if changed.ids.isEmpty { return false }
    var replaced = ReplacedRows()
    var unread = registered.stale
    var touched: [Observer] = []
    for observer in registered.index.all {
      switch observer {
      case let object as ObjectObserver:
        guard changed.ids.contains(object.row.id) else { continue }
        object.follow(changed[object.row.id], &replaced)
        touched.append(object)
      case let result as QueryObserver:
        if !result.follow(changed, &replaced) {
          touched.append(result)
        } else if !result.isStale {
          unread.append(result)
        }
      default: break
      }
    }
    let isFailed = read(unread, &registered, in: workspace)
    for observer in touched { observer.deliverChange() }
    for observer in unread {
      observer.deliverChange()
      registered.insert(observer)
    }
    withExtendedLifetime(replaced) {}
    return isFailed
  }
}
