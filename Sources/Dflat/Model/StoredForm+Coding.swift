// How generated code reads and writes fields whose Swift type differs from the stored type.
//
// A stored value that cannot be read is nil, the type's `unreadable` value, or no element. A value
// that does not fit is not written; the builder keeps the reason, and nothing that was built with
// it is stored.

public import FlatBuffersRuntime

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension TableReader {
  /// A scalar.
  @inlinable
  public func value<F: StoredForm>(
    at field: Int, default: F.Stored, as form: F.Type
  ) -> F.Value where F.Stored: FlatBufferScalar {
    F._reading(scalar(at: field, default: `default`))
  }

  /// A scalar that may be absent.
  @inlinable
  public func value<F: StoredForm>(at field: Int, as form: F.Type) -> F.Value?
  where F.Stored: FlatBufferScalar {
    guard let stored: F.Stored = scalar(at: field) else { return nil }
    return F.value(stored)
  }

  /// A string that is required or has a default.
  @inlinable
  public func value<F: StoredForm>(
    at field: Int, default: F.Stored, as form: F.Type
  ) -> F.Value where F.Stored == String {
    F._reading(string(at: field) ?? `default`)
  }

  /// A string that may be absent.
  @inlinable
  public func value<F: StoredForm>(at field: Int, as form: F.Type) -> F.Value?
  where F.Stored == String {
    string(at: field).flatMap { F.value($0) }
  }

  /// A vector of scalars.
  @inlinable
  public func values<F: StoredForm>(at field: Int, as form: F.Type) -> [F.Value]
  where F.Stored: FlatBufferScalar {
    (scalars(at: field) as [F.Stored]).compactMap { F.value($0) }
  }

  /// A vector of strings.
  @inlinable
  public func values<F: StoredForm>(at field: Int, as form: F.Type) -> [F.Value]
  where F.Stored == String {
    strings(at: field).compactMap { F.value($0) }
  }

  /// A vector of bytes.
  @inlinable
  public func data(at field: Int) -> Data {
    vector(at: field, stride: 1).map { Data($0.elementBytes) } ?? Data()
  }
}

extension StructReader {
  /// A scalar.
  @inlinable
  public func value<F: StoredForm>(at offset: Int, as form: F.Type) -> F.Value
  where F.Stored: FlatBufferScalar {
    F._reading(scalar(at: offset))
  }
}

extension FlatBufferBuilder {
  /// A scalar, unless it is the default.
  @inlinable
  public func add<F: StoredForm>(
    _ value: F.Value, at field: Int, default: F.Stored, as form: F.Type, _ name: StaticString
  ) where F.Stored: FlatBufferScalar {
    guard let stored = F.stored(value) else { return refuse(value, F.self, name) }
    add(stored, at: field, default: `default`)
  }

  /// A scalar that may be absent.
  @inlinable
  public func add<F: StoredForm>(
    _ value: F.Value?, at field: Int, as form: F.Type, _ name: StaticString
  ) where F.Stored: FlatBufferScalar {
    guard let value else { return }
    guard let stored = F.stored(value) else { return refuse(value, F.self, name) }
    add(Optional(stored), at: field)
  }

  /// A string.
  @inlinable
  public func string<F: StoredForm>(_ value: F.Value?, as form: F.Type) -> Offset
  where F.Stored == String {
    string(value.flatMap { F.stored($0) })
  }

  /// A string that is left out when it equals its default.
  @inlinable
  public func string<F: StoredForm>(
    _ value: F.Value, omitting default: String, as form: F.Type
  ) -> Offset where F.Stored == String {
    string(F.stored(value) ?? `default`, omitting: `default`)
  }

  /// A vector of scalars; an empty one is left out, unless the field is required.
  @inlinable
  public func scalars<F: StoredForm>(
    _ values: [F.Value], required: Bool = false, as form: F.Type, _ name: StaticString
  ) -> Offset where F.Stored: FlatBufferScalar {
    var stored: [F.Stored] = []
    stored.reserveCapacity(values.count)
    for value in values {
      if let element = F.stored(value) {
        stored.append(element)
      } else {
        refuse(value, F.self, name)
      }
    }
    return scalars(stored, required: required)
  }

  /// A vector of strings; an empty one is left out, unless the field is required.
  @inlinable
  public func strings<F: StoredForm>(
    _ values: [F.Value], required: Bool = false, as form: F.Type
  ) -> Offset where F.Stored == String {
    strings(values.compactMap { F.stored($0) }, required: required)
  }

  /// A vector of bytes; an empty one is left out, unless the field is required.
  @inlinable
  public func data(_ value: Data, required: Bool = false) -> Offset {
    if value.isEmpty, !required { return .none }
    return ContiguousArray(value).withUnsafeBytes {
      vector(bytes: $0, count: $0.count, alignment: 1)
    }
  }

  /// Refuses a required union that is empty.
  @inlinable
  public func require(_ isThere: Bool, _ name: StaticString) {
    if !isThere { refuse("\(name) is nil, and the schema requires it") }
  }

  @usableFromInline
  func refuse<F: StoredForm>(_ value: F.Value, _ form: F.Type, _ name: StaticString) {
    refuse(F.refusal(value, name))
  }

  /// Refuses a struct with a value that does not fit.
  @inlinable
  func refuse(_ reason: String?) {
    if let reason { refuse(reason) }
  }
}

extension UnsafeMutableRawPointer {
  /// A scalar of a fixed struct; zero if the value does not fit.
  @inlinable
  public func write<F: StoredForm>(_ value: F.Value, at offset: Int, as form: F.Type)
  where F.Stored: FlatBufferScalar {
    if let stored = F.stored(value) { write(stored, at: offset) }
  }
}

extension FlatBuffersStruct {
  /// Why a value does not fit the field of a struct; nil if it does.
  public static func _conversionFailure<F: StoredForm>(
    _ value: F.Value, as form: F.Type, _ name: StaticString
  ) -> String? {
    F.stored(value) == nil ? F.refusal(value, name) : nil
  }

  /// Why the elements do not fit an array of fixed length; nil if they do.
  public static func _conversionFailure<Element>(
    _ values: [Element], count: Int, _ name: StaticString
  ) -> String? {
    values.count <= count
      ? nil : "\(name) has \(values.count) elements, and the array has room for \(count) only"
  }
}

extension StoredForm {
  fileprivate static func refusal(_ value: Value, _ name: StaticString) -> String {
    "\(name) is \(text(value)), which a field of type \(Stored.self) cannot hold"
  }
}
