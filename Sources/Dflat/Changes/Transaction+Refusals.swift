// What a transaction refuses to store: values that do not fit, empty required unions, and unknown
// keys.

import FlatBuffersRuntime

extension Transaction {
  /// Writes the fields of a request to the builder; throws if a value does not fit.
  func complete(
    _ builder: FlatBufferBuilder, _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset,
    _ schema: EntitySchema
  ) throws {
    builder.finish(encode(builder))
    if let refusal = builder.refusal { throw StorageError(refused: refusal, schema) }
  }
}

extension EntitySchema {
  /// Throws if a new object cannot be stored, whatever is stored already.
  func refuseUnstorable(_ row: Row) throws {
    if let refusal = row.refusal { throw StorageError(refused: refusal, self) }
    try row.withBytes {
      try refuseUnreadable(written: $0)
      try refuseUnstorable($0)
    }
  }

  /// Throws if the bytes of a new object, which are known to be readable, cannot be stored.
  func refuseUnstorable(_ bytes: UnsafeRawBufferPointer) throws {
    try refuseUnknownKey(bytes)
    try refuseEmptyUnion(.all, bytes)
  }

  /// Throws if a required union is about to be written without a member: there is no default for
  /// it.
  /// - Parameter fields: The fields to write.
  func refuseEmptyUnion(_ fields: FieldSet, _ bytes: UnsafeRawBufferPointer) throws {
    if requiredUnions.isEmpty { return }
    guard let table = TableReader(root: bytes) else { return }
    for union in requiredUnions
    where fields.contains(union.offset)
      && table.scalar(at: union.offset - 2, default: UInt8(0)) == 0
    {
      throw StorageError(refused: "\(union.swiftName) is nil, and the schema requires it", self)
    }
  }

  /// Throws if a stored object would lose what this schema does not know, or would not get what a
  /// row has that replaces it. Fields that stay as they are keep it.
  /// - Parameter values: The values that the object is to have, in canonical form.
  func refuseLoss(of stored: Row, _ row: Row, _ values: UnsafeRawBufferPointer) throws {
    guard let new = TableReader(root: values) else { return }
    func isChanged(_ property: Property) -> Bool {
      stored.read { !property.isEqual($0, new) }
    }
    let part: String?
    if let lost = unknownPart(of: stored, in: isChanged) {
      part = lost
    } else {
      let isAnyChanged = layout.properties.contains(where: isChanged)
      part = isAnyChanged && !row.isCanonical ? unknownPart(of: row) : nil
    }
    guard let part else { return }
    throw StorageError(
      .invalidValue, table: table, message: unknownPartProblem(part, "it would be lost"),
      advice: "use the newer schema")
  }

  /// What is wrong with an object that has what this schema does not know.
  package func unknownPartProblem(_ part: String, _ consequence: String) -> String {
    "the object has a value of '\(part)' that only a newer schema of \(layout.name) knows: "
      + consequence
  }

  /// Throws if a key field is NaN. NaN is unknown, and unknown values never equal each other, so
  /// any number of objects could have such a key.
  func refuseUnknownKey(_ bytes: UnsafeRawBufferPointer) throws {
    guard let key = unknownKey(bytes) else { return }
    throw StorageError(
      unstorable: "\(key) is NaN, and a primary key must be known", table: table)
  }

  /// Throws if an object could not be read again that generated code has just written. Only tables
  /// that are nested too deeply, or too many, make it unreadable; most types have no such objects.
  func refuseUnreadable(written bytes: UnsafeRawBufferPointer) throws {
    if !layout.isReadable(written: bytes.count) { return try refuseUnreadable(bytes) }
    assert((try? layout.verify(bytes)) != nil, "an object was written that cannot be read")
  }

  /// Throws if the object could not be read again.
  func refuseUnreadable(_ bytes: UnsafeRawBufferPointer) throws {
    do { try layout.verify(bytes) } catch {
      throw StorageError(
        unstorable: "it could not be read again: \(error.reason)", table: table)
    }
  }
}

extension TableLayout {
  /// Whether what generated code has written is certainly readable.
  /// - Parameter count: The number of bytes.
  func isReadable(written count: Int) -> Bool {
    // A table takes at least 4 bytes, so there are fewer of them than the verifier allows.
    count < 4_000_000 && unretainedPlan._withUnsafeGuaranteedRef { $0.isShallow }
  }
}

extension StorageError {
  /// Whether the error concerns one request only, so that its transaction continues.
  var isRefusal: Bool { cause == .alreadyExists || cause == .invalidValue }

  /// The object of a request is not stored any more.
  init(missing row: Row, _ schema: EntitySchema) {
    self.init(
      .missing, table: schema.table, rowid: row.id,
      message: "the object was deleted after its change request was made")
  }

  /// A value does not fit its field, or is missing.
  init(refused reason: String, _ schema: EntitySchema) {
    self.init(
      .invalidValue, table: schema.table, message: "the object cannot be stored: \(reason)")
  }
}
