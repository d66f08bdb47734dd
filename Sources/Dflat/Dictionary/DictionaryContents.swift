// DictionaryContents: what is stored under a key, and its conversion to a program's value.
//
//  - Each kind of value has one conversion, whatever operation uses it.
//  - A value that was read from the disk stays encoded until a caller reads it as a type; from then
//    on it is kept as that value.
//  - A value that is read as a type other than its own is decoded from its bytes, so that memory
//    and disk give the same answer.

import FlatBuffersRuntime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is stored under a key.
enum DictionaryContents: Sendable {
  case absent
  case bool(Bool)
  case int(Int)
  case uint(UInt)
  case float(Float)
  case double(Double)
  case string(String)
  case encoded(StoredBytes)

  var isAbsent: Bool { if case .absent = self { true } else { false } }

  /// Whether both are the same value; nil if only the value's own type can decide that.
  func equals(_ other: DictionaryContents) -> Bool? {
    switch (self, other) {
    case (.absent, .absent): true
    case (.bool(let left), .bool(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.uint(let left), .uint(let right)): left == right
    // 0.0 and -0.0 are different values, too.
    case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
    case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
    // Canonically equivalent strings with different bytes are different values, as everywhere in
    // the storage.
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.encoded(let left), .encoded(let right)): left === right ? true : nil
    default: false
    }
  }

  /// The number of bytes of texts and encoded values.
  var byteCount: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .encoded(let value): (value.bytes?.count ?? 0) + (value.version?.utf8.count ?? 0)
    default: 0
    }
  }

  /// The name of the kind in error messages.
  var kindName: String {
    switch self {
    case .absent: "nothing"
    case .bool: "Bool"
    case .int: "Int"
    case .uint: "UInt"
    case .float: "Float"
    case .double: "Double"
    case .string: "String"
    case .encoded(let value): value.isFlatBuffers ? "FlatBuffersCodable" : "Codable"
    }
  }
}

/// A value that is stored as bytes.
final class StoredBytes: Sendable {
  let isFlatBuffers: Bool
  /// The version of a FlatBuffers value's schema.
  let version: String?
  /// The name of a FlatBuffers value's type; nil if it is not known, as in upstream's files.
  let typeName: String?
  /// nil if the value could not be encoded: it is kept in memory only.
  let bytes: Data?
  /// The decoded value, once it is known: a `DictionaryObject` of the type that it was assigned or
  /// read as.
  let object: any AnyObject & Sendable

  init(
    isFlatBuffers: Bool, version: String?, typeName: String?, bytes: Data?,
    object: any AnyObject & Sendable
  ) {
    self.isFlatBuffers = isFlatBuffers
    self.version = version
    self.typeName = typeName
    self.bytes = bytes
    self.object = object
  }

  /// The decoded value, if it is known as this type.
  func value<T: Sendable>(as type: T.Type) -> T? { (object as? DictionaryObject<T>)?.value }
}

/// A value of a program.
final class DictionaryObject<T: Sendable>: Sendable {
  let value: T

  init(_ value: T) {
    self.value = value
  }
}

/// A placeholder for a value that was not decoded yet.
final class UnknownObject: Sendable {
  static let shared = UnknownObject()
}
