// Changes with a way back.

extension WriteContext {
  /// Makes changes that a later transaction can take back, such as a change that is shown before a
  /// server has confirmed it.
  ///
  ///     let like = try await dflat.write(Post.self) { txn in
  ///       try txn.revertible { try txn.update(post) { $0.likes += 1 } }
  ///     }
  ///
  /// The changes themselves are as always. Whatever changes objects in the closure is recorded:
  /// single objects, many objects in one call, and what a deletion does to the objects that refer
  /// to the deleted one. Dictionaries are not. If the transaction is rolled back, there is nothing
  /// to take back. Calls may be nested; the outer one has the changes of the inner one, too.
  ///
  /// - Parameter body: Makes the changes, with this context.
  /// - Returns: The changes, for ``revert(_:)``.
  /// - Throws: What `body` throws; what it has changed before is not taken back by itself.
  public func revertible(_ body: () throws -> Void) throws -> RevertibleChanges {
    try scope.requireOpen()
    return try transaction.recording(body)
  }

  /// Takes changes back, as far as nothing else has been changed in their place since.
  ///
  ///     let reversal = try await dflat.write(Post.self) { txn in try txn.revert(like) }
  ///     if !reversal.isComplete { print(reversal) }
  ///
  /// - A field that was changed gets the value of before if it still has the one that the changes
  ///   have given to it, and otherwise stays. The fields of a nested table are taken back one by
  ///   one; a vector or struct is one value.
  /// - An object that was inserted is deleted, unless it has been changed since. No rule of a
  ///   reference is followed: if an object that stays refers to it by a reference with a rule, it
  ///   stays as well.
  /// - An object that was deleted is stored again if no object has its key. It gets another row id.
  ///
  /// An object is found by its row id, and otherwise by its primary key. What is as before already
  /// is not written, so a second call changes nothing. Of two changes of one field, take back the
  /// later one first. Observers see the result as one change of this transaction. `store(_:)` of a
  /// response in the same transaction is seen together with it. The call can be taken back itself,
  /// inside of ``revertible(_:)``.
  ///
  /// - Parameter changes: Changes of a committed transaction, or of this one.
  /// - Returns: What is as before now, and what is not and why. A key or unique value that another
  ///   object has by now, or a reference to an inserted object, is no error. If such a value cannot
  ///   go back, the object's other fields do.
  /// - Throws: `WorkspaceError` if a type that was changed is not one of the transaction's;
  ///   `StorageError`.
  @discardableResult
  public func revert(_ changes: RevertibleChanges) throws -> Reversal {
    try scope.requireOpen()
    for change in changes.changes {
      if try !lists(change.schema) {
        throw WorkspaceError.undeclaredType(change.schema.layout.swiftName)
      }
    }
    return try transaction.revert(changes)
  }
}
