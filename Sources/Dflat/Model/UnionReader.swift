// UnionReader: a tag and the position of the offset to the value.

public import FlatBuffersRuntime

/// The member of a union field, or of an element in a vector of unions, read in place.
///
/// Valid as long as the buffer.
@frozen
public struct UnionReader {
  /// The tag; 0 if the union is empty.
  public let tag: UInt8
  @usableFromInline let table: TableReader
  @usableFromInline let position: Int

  /// - Parameters:
  ///   - tag: The tag of the stored member.
  ///   - table: Any table of the buffer.
  ///   - position: The position of the offset to the value.
  @inlinable
  public init(tag: UInt8, in table: TableReader, at position: Int) {
    self.tag = tag
    self.table = table
    self.position = position
  }

  /// The value of a member that is a table.
  @inlinable
  public func read<T: FlatBuffersTable>() -> T? {
    table.table(atPosition: position).map { T($0) }
  }

  /// The value of a member that is a struct.
  @inlinable
  public func read<S: FlatBuffersStruct>() -> S? {
    table.indirectStructure(atPosition: position, size: S._layout.size).map { S($0) }
  }

  /// The value of a member that is a string.
  @inlinable
  public func read() -> String? {
    table.string(atPosition: position)
  }

  func utf8() -> UnsafeRawBufferPointer? { table.utf8(atPosition: position) }
  func tableReader() -> TableReader? { table.table(atPosition: position) }
  func structReader(size: Int) -> StructReader? {
    table.indirectStructure(atPosition: position, size: size)
  }
}
