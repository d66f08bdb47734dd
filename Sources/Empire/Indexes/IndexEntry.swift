// One record's place in one index: bytes that sort as the indexed values do.

/// The values of a record by which an index sorts it, as bytes.
///
/// `@IndexKeyRecord` generates what appends them. Records that conform by hand append the values in the order of the index.
public struct IndexEntry {
  @usableFromInline var bytes: [UInt8]

  @usableFromInline
  init(head: [UInt8]) {
    bytes = head
    bytes.reserveCapacity(64)
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
    try serialize(index: position, into: &entry)
    guard entry.bytes.count <= maximumKeySize else { throw StoreError.keyBufferOverflow }
    return entry.bytes
  }
}
