// Verifier: checks a buffer once, so that whoever accepts it can rely on what the readers give.
//
// It knows the format and not the schema: one who knows the layout drives it, table by table and
// field by field. What it accepted, the readers read in full: no field that it checked is absent
// for another reason than that the table does not hold it.
//
// Its work is bounded, whatever the bytes: depth and number of tables by the limits given, and
// references in vectors by `maxTables + bytes.count`. A buffer in which nothing is shared has a
// reference in every 4 bytes at most; the bound is for buffers in which small parts are referred to
// very often.
//
// It does not allocate unless it throws, and does not ask for alignment, because the readers do not
// need it.

/// Checks the parts of a buffer, driven by someone who knows its layout.
///
/// Enter the root, check each of its fields, enter and leave the tables below it:
///
///     var verifier = Verifier(bytes)
///     let post = try verifier.root()
///     try verifier.string(at: 4, in: post, required: true)
///     try verifier.scalar(at: 10, size: 4, in: post)
///     if let author = try verifier.enterTable(at: 12, in: post) {
///       try verifier.string(at: 4, in: author)
///       verifier.leaveTable()
///     }
///
/// Every call throws a ``VerificationError`` that says what is wrong where. After one, drop the
/// verifier. Fields are named by their vtable offset, `4 + 2 * slot`. A verifier does not own its
/// memory.
@frozen
public struct Verifier {
  /// A table that was entered: it and its vtable lie in the buffer. What its fields refer to is yet
  /// to be checked.
  public typealias TablePosition = TableReader

  /// The buffer; positions count from its start.
  public let bytes: UnsafeRawBufferPointer
  /// How many tables may be nested, the root counted.
  public let maxDepth: Int

  @usableFromInline var depth = 0
  @usableFromInline var remainingTables: Int
  @usableFromInline var remainingReferences: Int

  /// A verifier for a buffer.
  ///
  /// - Parameters:
  ///   - bytes: The finished buffer.
  ///   - maxDepth: How many tables may be nested.
  ///   - maxTables: How many tables may be entered; one that is referred to twice counts twice.
  @inlinable
  public init(_ bytes: UnsafeRawBufferPointer, maxDepth: Int = 64, maxTables: Int = 1_000_000) {
    self.bytes = bytes
    self.maxDepth = maxDepth
    self.remainingTables = maxTables
    let (references, overflow) = bytes.count.addingReportingOverflow(maxTables)
    self.remainingReferences = overflow ? .max : references
  }

  /// A verifier for the buffer behind a size prefix; its positions count from the end of the
  /// prefix.
  ///
  /// Bytes after the prefixed size are ignored. Throws if there are fewer than it says.
  public static func sizePrefixed(
    _ bytes: UnsafeRawBufferPointer, maxDepth: Int = 64, maxTables: Int = 1_000_000
  ) throws(VerificationError) -> Verifier {
    let size = bytes.vectorCount(0, stride: 1)
    guard size >= 0 else {
      throw VerificationError(
        offset: 0, reason: "the size prefix says more than the \(bytes.count) bytes there are")
    }
    let rest = UnsafeRawBufferPointer(rebasing: bytes[4..<4 + size])
    return Verifier(rest, maxDepth: maxDepth, maxTables: maxTables)
  }

  // MARK: Roots

  /// Enters the root table of the buffer.
  @inlinable
  public mutating func root() throws(VerificationError) -> TablePosition {
    guard bytes.count <= flatBufferMaximumSize else {
      throw tooLarge()
    }
    return try enterTable(atPosition: 0)
  }

  /// Checks a struct of `size` bytes that is the root of the buffer.
  public func rootStructure(size: Int) throws(VerificationError) {
    try indirectStructure(atPosition: 0, size: size)
  }

  // MARK: Fields

  /// Finds a field of an entered table: the absolute position of its inline value, of which `size`
  /// bytes lie in the buffer, or 0 if it is absent. Throws if they do not, or if it is absent
  /// and required.
  @inlinable @inline(__always)
  public func locate(
    _ field: Int, size: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) -> Int {
    let place = table.locate(field, size: size)
    if place > 0 { return place }
    if place < 0 { throw misplacedField(field, in: table) }
    if required { throw missingField(field, in: table) }
    return 0
  }

  /// Checks a scalar field of `size` bytes.
  @inlinable @inline(__always)
  public func scalar(
    at field: Int, size: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) {
    _ = try locate(field, size: size, in: table, required: required)
  }

  /// Checks a struct field of `size` bytes.
  @inlinable @inline(__always)
  public func structure(
    at field: Int, size: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) {
    _ = try locate(field, size: size, in: table, required: required)
  }

  /// Checks a string field, or a union's value that is a string.
  @inlinable
  public func string(
    at field: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) {
    let place = try locate(field, size: 4, in: table, required: required)
    if place > 0 { try string(atPosition: place) }
  }

  /// Checks a union's value that is a struct of `size` bytes.
  @inlinable
  public func indirectStructure(
    at field: Int, size: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) {
    let place = try locate(field, size: 4, in: table, required: required)
    if place > 0 { try indirectStructure(atPosition: place, size: size) }
  }

  /// Checks the inline extent of a vector field, which is all there is for scalars and structs. For
  /// other elements go on with the positions of the vector that is returned, nil if the field is
  /// absent.
  @inlinable
  @discardableResult
  public func vector(
    at field: Int, stride: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) -> VectorReader? {
    let place = try locate(field, size: 4, in: table, required: required)
    return place > 0 ? try vector(atPosition: place, stride: stride) : nil
  }

  /// Checks a vector of strings.
  @inlinable
  public mutating func stringVector(
    at field: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) {
    guard let vector = try vector(at: field, stride: 4, in: table, required: required) else {
      return
    }
    try count(vector.count, at: vector.position)
    for index in 0..<vector.count {
      try string(atPosition: vector.position &+ 4 &* index, isElement: true)
    }
  }

  // MARK: Tables

  /// Enters a table field, or a union's value that is a table; nil if it is absent, and then it is
  /// not entered.
  @inlinable
  public mutating func enterTable(
    at field: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) -> TablePosition? {
    let place = try locate(field, size: 4, in: table, required: required)
    return place > 0 ? try enterTable(atPosition: place) : nil
  }

  /// Enters the table that the offset at a position refers to. Only an element's may be null.
  @inlinable
  public mutating func enterTable(
    atPosition position: Int, isElement: Bool = false
  ) throws(VerificationError) -> TablePosition {
    let target = follow(position, isElement)
    guard target >= 0 else { throw badOffset(to: .table, at: position) }
    guard depth < maxDepth else { throw tooDeep(at: target) }
    guard remainingTables > 0 else { throw tooMany("tables", at: target) }
    guard let table = TableReader(bytes, at: target) else { throw notATable(at: target) }
    depth &+= 1
    remainingTables &-= 1
    return table
  }

  /// Leaves the table that was entered last.
  @inlinable @inline(__always)
  public mutating func leaveTable() { depth &-= 1 }

  // MARK: Unions

  /// Reads a union's type, and tells whether there is a value to check.
  ///
  /// - Returns: The type, as which the value is to be checked next; 0 if there is no value, be it
  ///   that the type is
  ///   none or that the value is missing, which other writers may leave. A type that the caller
  ///   does not know is from a newer schema; its value is then not to be read.
  @inlinable
  public func union(
    typeAt typeField: Int, valueAt valueField: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) -> UInt8 {
    let typePlace = try locate(typeField, size: 1, in: table, required: required)
    let valuePlace = try locate(valueField, size: 4, in: table, required: required)
    guard typePlace > 0, valuePlace > 0 else { return 0 }
    return bytes.uncheckedLoad(typePlace, as: UInt8.self)
  }

  /// Checks the extents of a vector of unions: its types, one byte each, and as many offsets of
  /// values. The caller checks each value whose type is not 0, as that type, at
  /// `values.position(of:)`.
  ///
  /// - Returns: Both vectors, or nil if the field is absent.
  @inlinable
  public mutating func unionVector(
    typesAt typeField: Int, valuesAt valueField: Int, in table: TablePosition,
    required: Bool = false
  ) throws(VerificationError) -> (types: VectorReader, values: VectorReader)? {
    let types = try vector(at: typeField, stride: 1, in: table, required: required)
    let values = try vector(at: valueField, stride: 4, in: table, required: required)
    guard let types, let values, types.count == values.count else {
      if types == nil && values == nil { return nil }
      throw unequalCounts(types, values, in: table)
    }
    try count(values.count, at: values.position)
    return (types, values)
  }

  // MARK: By position

  /// Where the offset at a position leads, or -1. That of a vector's element may be null.
  @inlinable @inline(__always)
  func follow(_ position: Int, _ isElement: Bool) -> Int {
    isElement ? bytes.followElement(position) : bytes.follow(position)
  }

  /// Checks the string that the offset at a position refers to: its bytes and the NUL behind them
  /// are in the buffer. Only an element's offset may be null.
  @inlinable
  public func string(
    atPosition position: Int, isElement: Bool = false
  ) throws(VerificationError) {
    let target = follow(position, isElement)
    guard target >= 0 else { throw badOffset(to: .string, at: position) }
    let length = bytes.vectorCount(target, stride: 1)
    guard length >= 0 else { throw outside(.string, at: target) }
    let end = target &+ 4 &+ length
    guard end < bytes.count, bytes.uncheckedLoad(end, as: UInt8.self) == 0 else {
      throw unterminatedString(at: target)
    }
  }

  /// Checks the extent of the vector that the offset at a position refers to.
  @inlinable
  @discardableResult
  public func vector(
    atPosition position: Int, stride: Int
  ) throws(VerificationError) -> VectorReader {
    let target = bytes.follow(position)
    guard target >= 0 else { throw badOffset(to: .vector, at: position) }
    guard let vector = VectorReader(bytes, at: target, stride: stride) else {
      throw outside(.vector, at: target)
    }
    return vector
  }

  /// Checks the struct of `size` bytes that the offset at a position refers to. Only an element's
  /// offset may be null.
  @inlinable
  public func indirectStructure(
    atPosition position: Int, size: Int, isElement: Bool = false
  ) throws(VerificationError) {
    let target = follow(position, isElement)
    guard target >= 0 else { throw badOffset(to: .structure, at: position) }
    guard bytes.contains(target, size: size) else { throw outside(.structure, at: target) }
  }

  /// Counts references in vectors against the bound on all work. Called for a vector whose elements
  /// the caller follows by itself.
  @inlinable
  public mutating func count(
    _ references: Int, at position: Int
  ) throws(VerificationError) {
    guard references <= remainingReferences else { throw tooMany("parts", at: position) }
    remainingReferences &-= references
  }
}
