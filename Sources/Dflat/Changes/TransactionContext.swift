// TransactionContext: the interface that a changes handler gets.

public import FlatBuffersRuntime

/// Submits requests inside a transaction. Valid only inside the changes handler, on the handler's
/// thread.
public protocol TransactionContext {
  /// Carries a request out. Programs call `submit`.
  /// - Parameters:
  ///   - change: The purpose of the request. It is spent if the request succeeds.
  ///   - schema: The schema of the object's type.
  ///   - encode: Writes the fields that were set as a root table. It must not access `change`.
  func _carryOut(
    _ change: inout PendingChange, of schema: EntitySchema,
    _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) throws -> SubmittedRow

  /// Whether the request can be carried out at all. A mistake of the program, for which `submit`
  /// stops it, goes to the error hook. Programs call `try(submit:)`.
  func _accepts(_ change: PendingChange, of schema: EntitySchema) -> Bool

  /// Rolls back everything that was submitted, and makes the completion handler get `false`.
  /// - Returns: Whether this call aborted the transaction; false if it was aborted before.
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
  // This is generic code, to be specialised for the program's types. It calls non-generic code at
  // once.
  @inlinable
  func _submit(to transaction: any TransactionContext) throws -> UpdatedObject<Element> {
    UpdatedObject(
      try transaction._carryOut(&_change, of: Element._schema) { _encode(to: $0) })
  }
}

extension TransactionContext {
  /// Carries a request out.
  ///
  /// The first request takes the write lock. A refused request keeps its kind: correct it and
  /// submit it again. A request that has succeeded is spent. Submitting it again is a programmer
  /// error, as is submitting a request for a type that is not in the transaction's list.
  ///
  /// - Returns: What was done, with the object as it is stored now.
  /// - Throws: `TransactionError`.
  @inlinable @inline(__always)
  @discardableResult
  public func submit<T: ChangeRequest>(_ changeRequest: T) throws -> UpdatedObject<T.Element> {
    try changeRequest._submit(to: self)
  }

  /// Carries a request out; nil if it was refused for any reason. It never stops the program.
  ///
  /// A failure that ends the transaction goes to the workspace's error hook, and so does what would
  /// be a programmer error in `submit(_:)`. A refusal of this request alone, for example because
  /// its key belongs to another object, does not: call `submit(_:)` to learn the reason.
  @inlinable
  @discardableResult
  public func `try`<T: ChangeRequest>(submit changeRequest: T) -> UpdatedObject<T.Element>? {
    if !_accepts(changeRequest._change, of: T.Element._schema) { return nil }
    do { return try submit(changeRequest) } catch { return nil }
  }
}
