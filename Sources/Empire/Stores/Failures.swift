// Details for errors about records. They are computed only after a failure, so that the normal path
// does not pay for them.

internal import Foundation
internal import LMDB

/// A sequence of components, without their types.
protocol ComponentSequence {
  static var componentTypes: [Any.Type] { get }
  var components: [any Serializable] { get }
}

extension Tuple: ComponentSequence where repeat each Element: Serializable {
  static var componentTypes: [Any.Type] {
    var types: [Any.Type] = []
    for type in repeat (each Element).self { types.append(type) }
    return types
  }

  var components: [any Serializable] {
    var components: [any Serializable] = []
    for element in repeat each elements { components.append(element) }
    return components
  }
}

/// The components of a key or of a record's fields.
private func parts(of value: some Any) -> [any Serializable] {
  if let sequence = value as? any ComponentSequence { return sequence.components }
  return (value as? any Serializable).map { [$0] } ?? []
}

/// The types of the single components, with nested tuples flattened.
private func flattened(_ types: [Any.Type]) -> [Any.Type] {
  types.flatMap { type in
    (type as? any ComponentSequence.Type).map { flattened($0.componentTypes) } ?? [type]
  }
}

/// A key as shown in errors: ("Lima", 7).
@usableFromInline
func keyText(_ key: some Any) -> String {
  "(" + parts(of: key).map { String(reflecting: $0) }.joined(separator: ", ") + ")"
}

/// A key as shown in errors, decoded from its bytes.
private func keyText<Record: IndexKeyRecord>(
  _ recordType: Record.Type, _ bytes: UnsafeRawBufferPointer
) -> String {
  var deserializer = Deserializer(_unsafeBytes: bytes)
  do throws(DeserializeError) {
    try deserializer.advance(by: 4)
    return keyText(try Record.IndexKey.unpackKey(with: &deserializer))
  } catch {
    return bytes.map { String($0, radix: 16) }.joined(separator: " ")
  }
}

/// The error for a key that could not be written.
@usableFromInline
func keyError<Record: IndexKeyRecord>(
  _ failure: KeyFailure?, _ recordType: Record.Type, _ order: ComponentOrder,
  _ components: [any Serializable]
) -> any Error {
  let record = String(describing: recordType)
  let names = Record.recordDescription.names(order)
  let parts = components.count == 1 ? parts(of: components[0]) : components
  func name(_ position: Int) -> String? { names.indices.contains(position) ? names[position] : nil }
  if case .refused(let error) = failure {
    let position = parts.firstIndex { part in
      do { try part.validate(as: .key) } catch { return true }
      return false
    }
    return SerializeError(error.reason, record: record, property: position.flatMap(name))
  }
  let sizes = parts.map(\.serializedKeySize)
  let longest = sizes.indices.max { sizes[$0] < sizes[$1] }
  let isIndex = order != .key
  return StoreError.keyTooLong(
    TooLongKey(
      record: record, property: longest.flatMap(name), key: nil,
      bytes: sizes.reduce(isIndex ? 0 : 4, +), index: isIndex ? names : nil))
}

/// The error for an index entry that could not be created.
@usableFromInline
func indexError<Record: IndexKeyRecord>(
  _ failure: SerializeError?, of record: Record, _ sizes: [Int], index: Int
) -> any Error {
  let name = String(describing: Record.self)
  let names = Record.recordDescription.names(.index(index))
  if let failure {
    return SerializeError(
      failure.reason, record: name,
      property: names.indices.contains(sizes.count) ? names[sizes.count] : nil)
  }
  let longest = zip(names, sizes).max { $0.1 < $1.1 }
  return StoreError.keyTooLong(
    TooLongKey(
      record: name, property: longest?.0, key: keyText(record.indexKey),
      bytes: sizes.reduce(0, +), index: names))
}

/// The error for a field that cannot be stored.
@usableFromInline
func fieldError<Record: IndexKeyRecord>(_ error: SerializeError, _ record: Record) -> any Error {
  let names = Record.recordDescription.fields
  let position = parts(of: record.fields).firstIndex { part in
    do { try part.validate(as: .field) } catch { return true }
    return false
  }
  return SerializeError(
    error.reason, record: String(describing: Record.self),
    property: position.flatMap { names.indices.contains($0) ? names[$0] : nil })
}

/// The error for fields that are too long.
@usableFromInline
func valueError<Record: IndexKeyRecord>(_ record: Record, _ bytes: Int) -> StoreError {
  let names = Record.recordDescription.fields
  let sizes = parts(of: record.fields).map(\.serializedSize)
  let longest = zip(names, sizes).max { $0.1 < $1.1 }
  return .valueTooLong(
    TooLongValue(
      record: String(describing: Record.self), key: keyText(record.indexKey),
      property: longest?.0, bytes: bytes))
}

/// The error for a record that does not exist.
@usableFromInline
func absenceError<Record: IndexKeyRecord>(
  _ recordType: Record.Type, _ key: UnsafeRawBufferPointer
) -> MDBError {
  .recordNotFound("there is no \(recordType) with the key \(keyText(recordType, key))")
}

/// The error for a migrated record whose key belongs to another record.
@usableFromInline
func takenKeyError<Record: IndexKeyRecord>(
  _ recordType: Record.Type, stored: [UInt8], migrated: UnsafeRawBufferPointer
) -> StoreError {
  .migratedKeyTaken(
    String(describing: recordType), stored: stored.withUnsafeBytes { keyText(recordType, $0) },
    migrated: keyText(recordType, migrated))
}

/// The error for bytes that cannot be read as a record.
@usableFromInline
func readingError<Record: IndexKeyRecord>(
  _ reason: DeserializeError, _ recordType: Record.Type, _ key: UnsafeRawBufferPointer,
  _ value: UnsafeRawBufferPointer
) -> StoreError {
  let (type, text) = (String(describing: recordType), keyText(recordType, key))
  let surplus =
    surplus(key) { _ = try Record.IndexKey.unpackKey(with: &$0) }
    + surplus(value) { _ = try Record.Fields.unpack(with: &$0) }
  return reason == .invalidValue && surplus > 0
    ? .surplusBytes(type, key: text, count: surplus)
    : .unreadableRecord(type, key: text, reason: reason)
}

/// The number of bytes that are left behind a tag and what can be read after it; 0 if it cannot.
private func surplus(
  _ bytes: UnsafeRawBufferPointer, _ read: (inout Deserializer) throws -> Void
) -> Int {
  var deserializer = Deserializer(_unsafeBytes: bytes)
  do {
    try deserializer.advance(by: 4)
    try read(&deserializer)
  } catch { return 0 }
  return deserializer.rawSpan.byteCount
}

extension Query {
  /// Throws unless the types of the components are those of the leading components of a record's
  /// key.
  func check<Record: IndexKeyRecord>(against recordType: Record.Type) throws(StoreError) {
    var types: [Any.Type] = []
    for type in repeat (each Component).self { types.append(type) }
    types.append(Last.self)
    let given = flattened(types)
    let expected = flattened([Record.IndexKey.self])
    let names = Record.recordDescription.keys
    for (position, type) in given.enumerated() {
      let wanted = expected.indices.contains(position) ? expected[position] : nil
      if type == wanted { continue }
      // A component that is itself a tuple shifts the positions of the following ones, so names are
      // only used if there are none.
      let name = names.count == expected.count && position < names.count ? names[position] : nil
      throw .queryMismatch(
        QueryMismatch(
          record: String(describing: recordType),
          component: name.map { "'\($0)'" } ?? "component \(position + 1)",
          expected: wanted.map { String(describing: $0) }, given: String(describing: type)))
    }
  }
}
