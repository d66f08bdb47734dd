// DictionaryCoding: the three ways to store a value: as it is, as FlatBuffers, as a property list.

import FlatBuffersRuntime

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// How values of a type become contents and the other way round.
package struct DictionaryCoding<T: Equatable & Sendable>: Sendable {
  /// The contents, and why they could not be encoded, if so.
  let contents: @Sendable (T) -> (DictionaryContents, (any Error)?)
  /// The value; nil if it is of another kind. Throws what is wrong with its bytes.
  let value: @Sendable (DictionaryContents) throws -> T?
  /// The contents with the value in it, so that it is not decoded again; nil if they are as good.
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
    isFlatBuffers: Bool, version: String?, encode: @escaping @Sendable (T) throws -> Data,
    decode: @escaping @Sendable (Data) throws -> T
  ) {
    contents = { value in
      let object = DictionaryObject(value)
      func encoded(_ bytes: Data?) -> DictionaryContents {
        .encoded(
          StoredBytes(
            isFlatBuffers: isFlatBuffers, version: version, bytes: bytes, object: object))
      }
      do { return (encoded(try encode(value)), nil) } catch { return (encoded(nil), error) }
    }
    value = { contents in
      guard case .encoded(let stored) = contents, stored.isFlatBuffers == isFlatBuffers else {
        return nil
      }
      if let value = stored.value(as: T.self) { return value }
      guard stored.version == version, let bytes = stored.bytes else { return nil }
      return try decode(bytes)
    }
    remembering = { value, contents in
      guard case .encoded(let stored) = contents, stored.object === UnknownObject.shared else {
        return nil
      }
      return .encoded(
        StoredBytes(
          isFlatBuffers: isFlatBuffers, version: stored.version, bytes: stored.bytes,
          object: DictionaryObject(value)))
    }
  }
}

extension DictionaryCoding where T: DictionaryScalar {
  /// As it is, in the column of its type.
  package static var scalar: DictionaryCoding {
    DictionaryCoding(
      wrap: { $0._dictionaryStored.contents },
      unwrap: { T._dictionaryValue(DictionaryStored($0)) })
  }
}

extension DictionaryCoding where T: FlatBuffersCodable {
  /// In the FlatBuffers form.
  package static var flatBuffers: DictionaryCoding {
    DictionaryCoding(
      isFlatBuffers: true, version: T.flatBuffersSchemaVersion,
      encode: {
        try $0.requireFit()
        return $0.toData()
      },
      decode: { try T(verifying: $0) })
  }
}

extension DictionaryCoding where T: Codable {
  /// As a binary property list.
  package static var codable: DictionaryCoding {
    DictionaryCoding(
      isFlatBuffers: false, version: nil,
      encode: { value in
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        do { return try encoder.encode(value) } catch let error as EncodingError {
          // A property list has a container at its top: a bare value gets one.
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

/// The container of a bare value: `{ "dflatBareValue": … }`.
private struct BareValue<T: Codable>: Codable {
  let dflatBareValue: T
}
