// ChangeSignal: an observer that only learns that objects of a type have changed.

/// An observer of any change of a type. Its handler is called once for each transaction with one.
///
/// Unchecked as `Observer` is: `isTouched` belongs to the delivery queue.
final class ChangeSignal: QueryObserver, @unchecked Sendable {
  typealias Handler = @Sendable () -> Void

  @exclusivity(unchecked) private var isTouched = false
  private let callback: Callback<Handler>

  init(_ type: TypeObservers, _ handler: @escaping Handler) {
    callback = Callback(handler)
    super.init(type, Query(schema: type.schema), callback)
  }

  override func apply(
    _ touches: ResultTouches, _ orders: inout ChangeRanks.Table, _ replaced: inout ReplacedRows
  ) -> Bool {
    isTouched = true
    return false
  }

  override func read(_ past: PastView) throws {
    isTouched = true
    isStale = false
  }

  override func deliverChange() {
    if !isTouched { return }
    isTouched = false
    callback.call { $0() }
  }
}
