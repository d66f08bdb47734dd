// DictionaryCoding: the three ways to store a value: as a scalar, as FlatBuffers, as a property
// list.

import FlatBuffersRuntime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Converts values of a type to contents and back.
package struct DictionaryCoding<T: Equatable & Sendable>: Sendable {
  /// The contents, and the error if the value could not be encoded.
  let contents: @Sendable (T) -> (DictionaryContents, (any Error)?)
  /// The value; nil if the contents are of another type. Throws if the bytes are damaged.
  let value: @Sendable (DictionaryContents) throws -> T?
  /// The contents with the decoded value attached, so that it is not decoded again; nil if that has
  /// no advantage.
  let remembering: @Sendable (T, DictionaryContents) -> DictionaryContents?

  private init(
    wrap: @escaping @Sendable (T) -> DictionaryContents,
    unwrap: @escaping @Sendable (DictionaryContents) -> T?
  ) {
    contents = { (wrap($0), nil) }
    value = unwrap
    remembering = { _, _ in nil }
  }

  private init(
    isFlatBuffers: Bool, version: String?, typeName: (@Sendable () -> String)?,
    encode: @escaping @Sendable (T) throws -> Data,
    decode: @escaping @Sendable (Data) throws -> T
  ) {
    contents = { value in
      let object = DictionaryObject(value)
      func encoded(_ bytes: Data?) -> DictionaryContents {
        .encoded(
          StoredBytes(
            isFlatBuffers: isFlatBuffers, version: version, typeName: typeName?(), bytes: bytes,
            object: object))
      }
      do { return (encoded(try encode(value)), nil) } catch { return (encoded(nil), error) }
    }
    value = { contents in
      guard case .encoded(let stored) = contents, stored.isFlatBuffers == isFlatBuffers else {
        return nil
      }
      if let value = stored.value(as: T.self) { return value }
      guard stored.version == version, let bytes = stored.bytes else { return nil }
      if let name = stored.typeName, name != typeName?() { return nil }
      return try decode(bytes)
    }
    remembering = { value, contents in
      guard case .encoded(let stored) = contents, stored.object === UnknownObject.shared else {
        return nil
      }
      return .encoded(
        StoredBytes(
          isFlatBuffers: isFlatBuffers, version: stored.version, typeName: stored.typeName,
          bytes: stored.bytes, object: DictionaryObject(value)))
    }
  }
}

extension DictionaryCoding {
  /// Whether a value need not be stored, since an equal one is stored with the same numbers: -0.0
  /// equals 0.0.
  /// - Parameters:
  ///   - value: The value.
  ///   - contents: The contents that it has.
  ///   - present: What is stored.
  func isSame(_ value: T, _ contents: DictionaryContents, as present: StoredBytes) -> Bool {
    guard case .encoded(let new) = contents,
      let old = try? self.value(.encoded(present)), old == value
    else { return false }
    guard let bytes = new.bytes, let known = present.bytes, bytes != known else { return true }
    // The elements of a set have no order of their own in a property list.
    return !new.isFlatBuffers && PropertyListNumbers.areSame(bytes, known)
  }
}

extension DictionaryCoding where T: DictionaryScalar {
  /// Stored directly, in the column of its type.
  package static var scalar: DictionaryCoding {
    DictionaryCoding(
      wrap: { $0._dictionaryStored.contents },
      unwrap: { T._dictionaryValue(DictionaryStored($0)) })
  }
}

extension DictionaryCoding where T: FlatBuffersCodable {
  /// Stored as FlatBuffers.
  package static var flatBuffers: DictionaryCoding {
    DictionaryCoding(
      isFlatBuffers: true, version: T.flatBuffersSchemaVersion,
      // Without the namespace and the module, which may change.
      typeName: { String(describing: T.self) },
      encode: {
        try $0.requireFit()
        let bytes = $0.toData()
        let layout = (T.self as? any FlatBuffersTable.Type)?._layout
        // A value that is nested too deeply could not be read again.
        if layout?.isReadable(written: bytes.count) != true { _ = try T(verifying: bytes) }
        return bytes
      },
      decode: { try T(verifying: $0) })
  }
}

extension DictionaryCoding where T: Codable {
  /// Stored as a binary property list.
  package static var codable: DictionaryCoding {
    DictionaryCoding(
      isFlatBuffers: false, version: nil, typeName: nil,
      encode: { value in
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        do { return try encoder.encode(value) } catch let error as EncodingError {
          // The root of a property list must be a container, so a bare value is wrapped in one.
          guard let bytes = try? encoder.encode(BareValue(dflatBareValue: value)) else {
            throw error
          }
          return bytes
        }
      },
      decode: { bytes in
        let decoder = PropertyListDecoder()
        do { return try decoder.decode(T.self, from: bytes) } catch {
          if let bare = try? decoder.decode(BareValue<T>.self, from: bytes) {
            return bare.dflatBareValue
          }
          throw error
        }
      })
  }
}

/// The numbers in a property list, as bits.
private struct PropertyListNumbers: Decodable {
  private var bits: [UInt64] = []

  init(from decoder: any Decoder) throws {
    if let container = try? decoder.container(keyedBy: AnyKey.self) {
      for key in container.allKeys { bits += try container.decode(Self.self, forKey: key).bits }
    } else if var container = try? decoder.unkeyedContainer() {
      while !container.isAtEnd { bits += try container.decode(Self.self).bits }
    } else if let number = try? decoder.singleValueContainer().decode(Double.self) {
      bits = [number.bitPattern]
    }
  }

  /// Whether two property lists have the same numbers, in any order.
  static func areSame(_ left: Data, _ right: Data) -> Bool {
    func numbers(_ bytes: Data) -> [UInt64]? {
      try? PropertyListDecoder().decode(Self.self, from: bytes).bits.sorted()
    }
    return numbers(left) == numbers(right)
  }
}

/// The container of a bare value: `{ "dflatBareValue": … }`.
private struct BareValue<T: Codable>: Codable {
  let dflatBareValue: T
}
