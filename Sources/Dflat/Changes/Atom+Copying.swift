// Changed copies of objects, made without a workspace.

import FlatBuffersRuntime

extension Atom {
  /// Returns a copy with other values.
  ///
  ///     let urgent = post.with { $0.priority += 1 }
  ///
  /// The copy is a new value of the program: its `_rowid` is −1, and the storage does not know it
  /// until it is inserted or upserted. It is identified with the stored object that has the same
  /// primary key. A copy with another key is another object: to give a stored object another key,
  /// `update` it in a transaction, which also starts from the object's latest stored state.
  ///
  /// Fields that only a newer version of the schema knows are copied as well.
  ///
  /// - Parameter change: Sets fields of a draft, which has the values of this object.
  /// - Returns: The copy.
  /// - Throws: What `change` throws.
  @_disfavoredOverload
  public func with(_ change: (inout _Draft) throws -> Void) rethrows -> Self {
    var draft = _Draft.creationRequest(self)
    draft._change.noteSubmission()
    try change(&draft)
    let request = draft
    return Self(_row: request._change.made(Self._schema.layout) { request._encode(to: $0) })
  }
}

extension PendingChange {
  /// Creates the object that a creation request describes.
  /// - Parameters:
  ///   - layout: The layout of the object's type.
  ///   - encode: Writes the fields that were set.
  fileprivate func made(
    _ layout: TableLayout, _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset
  ) -> Row {
    BuilderPool.withBuilder { builder in
      builder.finish(encode(builder))
      let refusal = builder.refusal ?? refusal
      guard let base else { return Row(built: builder.bytes, refusal: refusal) }
      defer { withExtendedLifetime(base) {} }
      let overlay = Overlay(fields, builder.bytes, over: base, as: layout)
      let changes = overlay.changes()
      if !changes.isDifferent { return base.withBytes { Row(built: $0, refusal: refusal) } }
      return BuilderPool.withBuilder { builder in
        if overlay.write(changes, to: builder) == nil { overlay.writeKnown(changes, to: builder) }
        return Row(built: builder.bytes, refusal: refusal ?? builder.refusal)
      }
    }
  }
}
