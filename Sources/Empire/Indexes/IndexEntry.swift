// The entry of one record in one index: bytes that sort like the indexed values.

/// The indexed values of a record, as bytes that an index sorts by.
///
/// `@IndexKeyRecord` generates the code that appends the values. Records that conform by hand
/// append them in the order of the index.
public struct IndexEntry {
  @usableFromInline var bytes: [UInt8]
  /// The number of bytes of each value, for error messages; nil if they are not counted.
  @usableFromInline var sizes: [Int]?

  @usableFromInline
  init(head: [UInt8], countsSizes: Bool = false) {
    bytes = head
    if countsSizes { sizes = [] } else { bytes.reserveCapacity(64) }
  }

  /// Appends the next value.
  ///
  /// - Parameter value: The value, of the same type as in queries.
  /// - Throws: The reason why it cannot be stored.
  @inlinable
  public mutating func append(_ value: some QueryComponent) throws(SerializeError) {
    try value.validate(as: .key)
    let size = value.serializedKeySize
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: size))
    bytes.withUnsafeMutableBytes { room in
      var rest = UnsafeMutableRawBufferPointer(rebasing: room[start...])
      value.serializeKey(into: &rest)
      if !rest.isEmpty { indexEntryHasWrongSize() }
    }
    sizes?.append(size)
  }
}

@usableFromInline
func indexEntryHasWrongSize() -> Never {
  fatalError("IndexEntry: serializeKey(into:) has written fewer bytes than serializedKeySize says")
}

extension IndexKeyRecord {
  /// The record's entry in the index at a position of `indexTags`.
  @inlinable
  func entry(ofIndex position: Int) throws -> [UInt8] {
    var entry = IndexEntry(head: IndexFile.head(Self.keyPrefix, Self.indexTags[position]))
    do throws(SerializeError) { try serialize(index: position, into: &entry) } catch {
      throw indexError(error, of: self, sizes(ofIndex: position), index: position)
    }
    guard entry.bytes.count <= maximumKeySize else {
      throw indexError(nil, of: self, sizes(ofIndex: position), index: position)
    }
    return entry.bytes
  }

  /// The number of bytes of each value in an index, up to the first value that cannot be stored.
  @usableFromInline
  func sizes(ofIndex position: Int) -> [Int] {
    var entry = IndexEntry(head: [], countsSizes: true)
    // The error has already been reported; only the sizes before it are needed.
    do throws(SerializeError) { try serialize(index: position, into: &entry) } catch {}
    return entry.sizes ?? []
  }
}
