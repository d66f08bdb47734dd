// HeldRowsObserver: an observer of single rows that are held in memory.
//
// It observes all changes of a type, and its handler decides which of them concern a row that is
// held. When the data must be read again, only the rows that are held are read. A row that is
// damaged keeps no other row from being read.

/// An observer of the rows that its owner holds.
///
/// Unchecked as `Observer` is: `ids` and `unread` belong to the delivery queue.
final class HeldRowsObserver: RowsObserver, @unchecked Sendable {
  /// The rows that are read in the job that is running; nil for all that are held.
  @exclusivity(unchecked) private var ids: [Int64]?
  /// The rows whose reading by `ids` failed. They are read with those that are held.
  @exclusivity(unchecked) private var unread: [Int64] = []
  private let held: @Sendable () -> [Int64]

  /// - Parameters:
  ///   - held: The ids of the rows that are held.
  ///   - handler: Gets each change of the type, and each row that was read again.
  init(
    _ type: TypeObservers, held: @escaping @Sendable () -> [Int64], _ handler: @escaping Handler
  ) {
    self.held = held
    super.init(type, Query(schema: type.schema), handler)
  }

  override func read(_ past: PastView) throws {
    var left: [Row] = []
    var entered: [Row] = []
    for id in ids ?? (held() + unread) {
      do {
        if let row = try past.row(id: id) {
          entered.append(row)
        } else if !past.isInsertedLater(id) {
          left.append(Row(sound: emptyBytes, id: id))
        }
      } catch let error as StorageError where error.cause == .corruptRow {
        past.report(error)
      }
    }
    event = .changed(left: left, entered: entered)
    if ids == nil { unread = [] }
    isStale = false
  }

  override func apply(_ changed: RereadRows, _ replaced: inout ReplacedRows) -> Bool {
    let left = changed.ids.filter { changed[$0] == nil }
    event = .changed(
      left: left.map { Row(sound: emptyBytes, id: $0) }, entered: changed.rows)
    return false
  }

  override func readingFailed(_ error: any Error) {
    unread += ids ?? []
    super.readingFailed(error)
  }

  /// Reads some rows. Called in a delivery.
  func read(_ ids: [Int64], in workspace: any TransactionHost) {
    // After a failure all rows are read again, and these with them.
    if isStale { unread += ids } else { self.ids = ids }
    type.register(self, -1, in: workspace)
    self.ids = nil
  }
}
