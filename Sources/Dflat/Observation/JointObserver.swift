// JointObserver: an observer that depends on several types, as the deliveries of one type see it.

/// An observer that is changed by the deliveries of several types, which are linked for it; see
/// `TypeLinks`. All calls come from these deliveries, one at a time.
protocol JointObserver: AnyObject, Sendable {
  /// Applies what the transaction that is being delivered has changed, in all types.
  func applyTouches(in workspace: any TransactionHost)
  /// Calls the handler if there is something new to deliver.
  func deliverChange()
  /// Reads everything again in a later delivery.
  func readLater(in workspace: any TransactionHost)
}
