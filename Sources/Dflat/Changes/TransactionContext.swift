// TransactionContext: what a changes handler gets.

public import FlatBuffersRuntime

/// Submits requests inside a transaction. It has a meaning only inside the changes handler, on the handler's thread.
public protocol TransactionContext {
  /// Carries out what a request is for. Programs call `submit`.
  /// - Parameters:
  ///   - change: What it is for. It is spent if the request succeeds.
  ///   - schema: The type of its object.
  ///   - encode: Writes the fields that were set as a root table, and does not look at `change`.
  func _carryOut(
    _ change: inout PendingChange, of schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> SubmittedRow

  /// Undoes everything that was submitted and makes the completion handler get `false`.
  /// - Returns: Whether this call aborted it; false if it was aborted before.
  @discardableResult
  func abort() -> Bool
}

/// What was done with a row. For generated code and `submit`.
@frozen
public enum SubmittedRow: Sendable {
  case inserted(Row)
  case updated(Row)
  case identity(Row)
  case deleted(Int64)
}

extension ChangeRequest {
  // Generic code stands here, where it is specialised for the program's types, and leads at once to what is not generic.
  @inlinable
  func _submit(to transaction: any TransactionContext) throws -> UpdatedObject<Element> {
    UpdatedObject(
      try transaction._carryOut(&_change, of: Element._schema) { _encode(to: $0) })
  }
}

extension TransactionContext {
  /// Carries a request out.
  ///
  /// The first one takes the write lock. A request that was refused keeps its kind: correct it and submit it again. A request
  /// that succeeded is spent; submitting it again is a programmer error, as is a request for a type that is not in the
  /// transaction's list.
  ///
  /// - Returns: What was done, with the object as it is stored now.
  /// - Throws: `TransactionError`.
  @inlinable @inline(__always)
  @discardableResult
  public func submit<T: ChangeRequest>(_ changeRequest: T) throws -> UpdatedObject<T.Element> {
    try changeRequest._submit(to: self)
  }

  /// Carries a request out; nil if it was refused for whatever reason.
  ///
  /// A failure that ends the transaction goes to the workspace's error hook. The refusal of this request alone, because its key
  /// belongs to another object for example, does not: call `submit(_:)` to learn the reason.
  @inlinable
  @discardableResult
  public func `try`<T: ChangeRequest>(submit changeRequest: T) -> UpdatedObject<T.Element>? {
    do { return try submit(changeRequest) } catch { return nil }
  }
}
