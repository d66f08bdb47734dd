// HeldRowsObserver: an observer of single rows that are held in memory.
//
// It observes all changes of a type, and its handler decides which of them concern a row that is
// held. When the data must be read again, only the rows that are held are read.

/// An observer of the rows that its owner holds.
///
/// Unchecked as `Observer` is: `ids` belongs to the delivery queue.
final class HeldRowsObserver: RowsObserver, @unchecked Sendable {
  /// The rows that are read in the job that is running; nil for all that are held.
  @exclusivity(unchecked) private var ids: [Int64]?
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
    for id in ids ?? held() {
      if let row = try past.row(id: id) {
        entered.append(row.withoutMark())
      } else {
        left.append(Row(sound: emptyBytes, id: id))
      }
    }
    event = .changed(left: left, entered: entered)
    isStale = false
  }

  /// Reads some rows. Called in a delivery.
  func read(_ ids: [Int64], in workspace: any TransactionHost) {
    self.ids = ids
    type.register(self, -1, in: workspace)
    self.ids = nil
  }
}
