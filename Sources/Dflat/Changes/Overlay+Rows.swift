// The rows that overlays make. A row that could not be read again is refused.

import FlatBuffersRuntime

extension Overlay {
  /// The row that the overlay was made for, with the changes, and with a mark.
  /// - Throws: `StorageError` if such a row cannot be stored.
  func row(
    _ changes: Changes, over base: Row, of schema: EntitySchema, mark: ReadMark = .none
  ) throws -> Row {
    if changes.areInline, let row = patched(base, changes, mark) { return row }
    return try withBytes(changes, of: base, schema) { Row(sound: $0, id: base.id, mark: mark) }
  }

  /// Encodes the changed row, verifies that it can be read, and calls `body` with its bytes.
  /// - Throws: `StorageError` if such a row cannot be stored; the errors of `body`.
  func withBytes<R>(
    _ changes: Changes, of base: Row, _ schema: EntitySchema,
    _ body: (UnsafeRawBufferPointer) throws -> R
  ) throws -> R {
    try BuilderPool.withBuilder { builder in
      let form = write(changes, to: builder)
      if let refusal = builder.refusal { throw StorageError(refused: refusal, schema) }
      guard let form else {
        throw StorageError(
          unstorable: "its tables are nested too deeply, or it is too large to keep content that "
            + "only a newer schema knows", table: schema.table, rowid: base.id)
      }
      switch form {
      case .canonical: try schema.refuseUnreadable(written: builder.bytes)
      case .laidOver: try schema.refuseUnreadable(builder.bytes)
      }
      return try body(builder.bytes)
    }
  }
}

extension Row {
  /// The row with the values of another one. As in every update, it keeps what only a newer version
  /// of the schema knows. For stores that are no workspaces.
  ///
  /// - Parameters:
  ///   - values: A row with all values, in canonical form.
  ///   - schema: The schema of both.
  /// - Returns: A row with the same id; this one if no value is different.
  /// - Throws: `StorageError` if such a row cannot be stored.
  package func replacingValues(by values: Row, of schema: EntitySchema) throws -> Row {
    defer { withExtendedLifetime(self) {} }
    return try values.withBytes { bytes in
      let overlay = Overlay(.all, bytes, over: self, as: schema.layout)
      let changes = overlay.changes()
      return changes.isDifferent ? try overlay.row(changes, over: self, of: schema) : self
    }
  }

  /// Whether a layout describes everything that the row contains. If not, what only a newer version
  /// of the schema knows would be lost if its values were written to an empty row.
  package func isKnown(to layout: TableLayout) -> Bool {
    defer { withExtendedLifetime(self) {} }
    return BuilderPool.withBuilder { builder in
      var copier = RowCopier(layout.plan, builder, sources: count)
      _ = copier.table(0, unretainedTable)
      return copier.isComplete
    }
  }
}
