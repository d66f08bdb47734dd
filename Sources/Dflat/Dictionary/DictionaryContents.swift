// DictionaryContents: what is stored under a key, and how it becomes a program's value.
//
//  - A value is converted in one way for each of its kinds, whatever is done with it.
//  - What was read from the disk stays as bytes until it is asked for as a type, and is that value from then on.
//  - A value that is read as a type other than its own is read from its bytes, so memory and disk answer alike.

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

  /// Whether both are the same value; nil if that is for the value's own type to say.
  func equals(_ other: DictionaryContents) -> Bool? {
    switch (self, other) {
    case (.absent, .absent): true
    case (.bool(let left), .bool(let right)): left == right
    case (.int(let left), .int(let right)): left == right
    case (.uint(let left), .uint(let right)): left == right
    case (.float(let left), .float(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    // Strings that differ in form only are different values, as everywhere in the storage.
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    case (.encoded(let left), .encoded(let right)): left === right ? true : nil
    default: false
    }
  }

  /// Named in errors.
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
  /// nil if the value could not be encoded: it stays in memory only.
  let bytes: Data?
  /// The value, once it is known: a `DictionaryObject` of the type that it was assigned or read as.
  let object: any AnyObject & Sendable

  init(
    isFlatBuffers: Bool, version: String?, bytes: Data?, object: any AnyObject & Sendable
  ) {
    self.isFlatBuffers = isFlatBuffers
    self.version = version
    self.bytes = bytes
    self.object = object
  }

  /// The value, if it is known as this type.
  func value<T: Sendable>(as type: T.Type) -> T? { (object as? DictionaryObject<T>)?.value }
}

/// A value of a program.
final class DictionaryObject<T: Sendable>: Sendable {
  let value: T

  init(_ value: T) {
    self.value = value
  }
}

/// Stands for a value that nobody has asked for yet.
final class UnknownObject: Sendable {
  static let shared = UnknownObject()
}
