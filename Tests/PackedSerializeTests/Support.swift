// Helpers that write and read values.

import Foundation
import PackedSerialize

/// The bytes of a value, checked against its size.
func bytes(_ value: some Serializable) -> [UInt8] {
  write(size: value.serializedSize) { value.serialize(into: &$0) }
}

/// The bytes of a value as a key, checked against its size and against the bytes that a key writer
/// writes.
func keyBytes(_ value: some Serializable) -> [UInt8] {
  let bytes = write(size: value.serializedKeySize) { value.serializeKey(into: &$0) }
  for room in [bytes.count, bytes.count + 7] {
    precondition(keyWritten(value, room: room) == .success(bytes), "a writer writes something else")
  }
  if !bytes.isEmpty {
    precondition(keyWritten(value, room: bytes.count - 1) == .failure(.tooLong))
    precondition(keyWritten(value, room: 0) == .failure(.tooLong))
  }
  return bytes
}

/// The bytes that a key writer with limited room writes for a value.
func keyWritten(_ value: some Serializable, room: Int) -> Result<[UInt8], KeyFailure> {
  let all = UnsafeMutableRawBufferPointer.allocate(byteCount: room + 3, alignment: 1)
  defer { all.deallocate() }
  all.initializeMemory(as: UInt8.self, repeating: 0xA5)
  var writer = KeyWriter(UnsafeMutableRawBufferPointer(rebasing: all[..<room]))
  value.serializeKey(to: &writer)
  precondition(all[room...].allSatisfy { $0 == 0xA5 }, "wrote beyond its room")
  precondition((writer.failure == nil) == (writer.remaining >= 0))
  if let failure = writer.failure { return .failure(failure) }
  return .success(Array(all[..<(room - writer.remaining)]))
}

private func write(size: Int, _ body: (inout UnsafeMutableRawBufferPointer) -> Void) -> [UInt8] {
  // Extra room after the value, to check that it is not written to.
  let room = UnsafeMutableRawBufferPointer.allocate(byteCount: size + 3, alignment: 1)
  defer { room.deallocate() }
  room.initializeMemory(as: UInt8.self, repeating: 0xA5)
  var rest = room
  body(&rest)
  precondition(rest.count == 3, "wrote \(size + 3 - rest.count) bytes, not \(size)")
  precondition(rest.allSatisfy { $0 == 0xA5 }, "wrote beyond its bytes")
  return Array(room[..<size])
}

/// Reads a value from bytes in a buffer of exactly their length, at an odd address.
func value<T: Deserializable>(
  _ type: T.Type = T.self, of bytes: [UInt8]
) throws -> (T, remaining: Int) {
  try withUnaligned(bytes) { buffer in
    var deserializer = Deserializer(_unsafeBytes: buffer)
    let value = try T.unpack(with: &deserializer)
    return (value, deserializer.rawSpan.byteCount)
  }
}

func keyValue<T: Deserializable>(
  _ type: T.Type = T.self, of bytes: [UInt8]
) throws -> (T, remaining: Int) {
  try withUnaligned(bytes) { buffer in
    var deserializer = Deserializer(_unsafeBytes: buffer)
    let value = try T.unpackKey(with: &deserializer)
    return (value, deserializer.rawSpan.byteCount)
  }
}

private func withUnaligned<R>(
  _ bytes: [UInt8], _ body: (UnsafeRawBufferPointer) throws -> R
) throws -> R {
  let room = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count + 1, alignment: 16)
  defer { room.deallocate() }
  let buffer = UnsafeMutableRawBufferPointer(rebasing: room[1...])
  buffer.copyBytes(from: bytes)
  return try body(UnsafeRawBufferPointer(buffer))
}

func hex(_ text: String) -> [UInt8] {
  text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
}
