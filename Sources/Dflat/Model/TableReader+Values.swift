// Reading scalars at a position of a buffer, by their value type.

import FlatBuffersRuntime

extension TableReader {
  /// Reads an integer or Boolean at a position.
  @inline(__always)
  func integer(_ type: ValueType, at position: Int) -> Int64 {
    let memory = bytes.baseAddress.unsafelyUnwrapped + position
    return switch type {
    case .bool: memory.loadUnaligned(as: UInt8.self) == 0 ? 0 : 1
    case .int8: Int64(memory.loadUnaligned(as: Int8.self))
    case .uint8: Int64(memory.loadUnaligned(as: UInt8.self))
    case .int16: Int64(memory.loadUnaligned(as: Int16.self))
    case .uint16: Int64(memory.loadUnaligned(as: UInt16.self))
    case .int32: Int64(memory.loadUnaligned(as: Int32.self))
    case .uint32: Int64(memory.loadUnaligned(as: UInt32.self))
    default: memory.loadUnaligned(as: Int64.self)
    }
  }

  /// Reads a `float` or `double` at a position.
  @inline(__always)
  func real(_ type: ValueType, at position: Int) -> Double {
    let memory = bytes.baseAddress.unsafelyUnwrapped + position
    return type == .float
      ? Double(memory.loadUnaligned(as: Float.self)) : memory.loadUnaligned(as: Double.self)
  }
}
