// One record's place in one index: bytes that sort as the indexed values do.

/// The values of a record by which an index sorts it, as bytes.
///
/// `@IndexKeyRecord` generates what appends them. Records that conform by hand append the values in the order of the index.
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
  /// - Parameter value: The value, in the type that queries have for it.
  /// - Throws: What is wrong with it.
  @inlinable
  public mutating func append(_ value: some QueryComponent) throws(SerializeError) {
    try value.validate(as: .key)
    let size = value.serializedKeySize
    let start = bytes.count
    bytes.append(contentsOf: repeatElement(0, count: size))
    bytes.withUnsafeMutableBytes { room in
      var rest = UnsafeMutableRawBufferPointer(rebasing: room[start...])
      value.serializeKey(into: &rest)
      if !rest.isEmpty { indexMiscounted() }
    }
    sizes?.append(size)
  }
}

@usableFromInline
func indexMiscounted() -> Never {
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

  /// The number of bytes of each value in an index, as far as they can be stored.
  @usableFromInline
  func sizes(ofIndex position: Int) -> [Int] {
    var entry = IndexEntry(head: [], countsSizes: true)
    // What cannot be stored has been thrown already; those before it are what is wanted.
    do throws(SerializeError) { try serialize(index: position, into: &entry) } catch {}
    return entry.sizes ?? []
  }
}
