// TransactionContext: what a changes handler gets.

/// Submits requests inside a transaction. It has a meaning only inside the changes handler, on the handler's thread.
public protocol TransactionContext {
  /// Carries a request out.
  ///
  /// The first one takes the write lock. A request that was refused keeps its kind: correct it and submit it again. A request
  /// that succeeded is spent; submitting it again is a programmer error, as is a request for a type that is not in the
  /// transaction's list.
  ///
  /// - Returns: What was done, with the object as it is stored now.
  /// - Throws: `TransactionError`.
  @discardableResult
  func submit<T: ChangeRequest>(_ changeRequest: T) throws -> UpdatedObject<T.Element>

  /// Carries a request out; nil if it was refused for whatever reason.
  @discardableResult
  func `try`<T: ChangeRequest>(submit changeRequest: T) -> UpdatedObject<T.Element>?

  /// Undoes everything that was submitted and makes the completion handler get `false`.
  /// - Returns: Whether this call aborted it; false if it was aborted before.
  @discardableResult
  func abort() -> Bool
}

extension TransactionContext {
  /// Carries a request out; nil if it was refused for whatever reason.
  @discardableResult
  public func `try`<T: ChangeRequest>(submit changeRequest: T) -> UpdatedObject<T.Element>? {
    // The reason was told to the error hook where it is not the request's own.
    do { return try submit(changeRequest) } catch { return nil }
  }
}
