// What a transaction does not store: values that do not fit, required unions that are empty, keys that are unknown.

import FlatBuffersRuntime

extension Transaction {
  /// Completes the values of a request, if they fit.
  func complete(
    _ builder: FlatBufferBuilder, _ encode: (FlatBufferBuilder) -> FlatBufferBuilder.Offset,
    _ schema: EntitySchema
  ) throws {
    builder.finish(encode(builder))
    if let refusal = builder.refusal { throw StorageError(refused: refusal, schema) }
  }

  /// A union that the schema requires is written with a member, or not at all: nothing stands for it.
  /// - Parameter fields: Those that are written.
  func refuseEmptyUnion(
    _ fields: FieldSet, _ bytes: UnsafeRawBufferPointer, _ schema: EntitySchema
  ) throws {
    if schema.requiredUnions.isEmpty { return }
    guard let table = TableReader(root: bytes) else { return }
    for union in schema.requiredUnions
    where fields.contains(union.offset)
      && table.scalar(at: union.offset - 2, default: UInt8(0)) == 0
    {
      throw StorageError(
        refused: "\(union.swiftName) is nil, and the schema requires it", schema)
    }
  }

  /// What could not be read again must not be stored.
  func refuseUnreadable(_ bytes: UnsafeRawBufferPointer, _ schema: EntitySchema) throws {
    do { try schema.layout.verify(bytes) } catch {
      throw StorageError(
        .other, table: schema.table,
        message: "the object cannot be stored, it could not be read again: \(error.reason)")
    }
  }

  /// NaN is unknown, and unknown values never equal each other: any number of objects could have such a key.
  func refuseUnknownKey(_ bytes: UnsafeRawBufferPointer, _ schema: EntitySchema) throws {
    guard let key = schema.unknownKey(bytes) else { return }
    throw StorageError(
      .other, table: schema.table,
      message: "the object cannot be stored: \(key) is NaN, and a primary key must be known")
  }
}

extension StorageError {
  /// Whether it is about one request alone, so that its transaction goes on.
  var isRefusal: Bool { cause == .alreadyExists || cause == .invalidValue }

  /// A value does not fit, or is not there.
  init(refused reason: String, _ schema: EntitySchema) {
    self.init(
      .invalidValue, table: schema.table, message: "the object cannot be stored: \(reason)")
  }
}
