// Verifier: checks a buffer once, so that a caller that accepts it can rely on the results of the
// readers.
//
// The verifier knows the format, not the schema. A caller that knows the layout drives it, table by
// table and field by field. The readers can read everything that it has accepted: a field that was
// checked is absent only if the table does not contain it.
//
// Its work is bounded, whatever the bytes are: the depth and number of tables by the given limits,
// and the references in vectors by `maxTables + bytes.count`. A buffer without shared parts has at
// most one reference in every 4 bytes. The bound concerns buffers in which small parts are referred
// to very often.
//
// What a caller reads after it is bounded, too: strings, vectors and structs that are referred to
// below the root's own fields have at most `mostUnfolded` bytes, each counted as often as it is
// referred to. So a few bytes that refer to one long string a million times exhaust no memory.
//
// It does not allocate unless it throws. It does not require alignment, because the readers do not.

/// Checks the parts of a buffer. The caller knows the layout and decides what to check.
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
/// Every call throws a ``VerificationError`` that says what is wrong and where. After an error,
/// discard the verifier. Fields are identified by their vtable offset, `4 + 2 * slot`. A verifier
/// does not own its memory.
@frozen
public struct Verifier {
  /// A table that was entered. It and its vtable are inside the buffer; the targets of its fields
  /// are still to be checked.
  public typealias TablePosition = TableReader

  /// The buffer; positions count from its start.
  public let bytes: UnsafeRawBufferPointer
  /// The maximum nesting depth of tables, including the root.
  public let maxDepth: Int

  /// The nesting depth of tables that verifiers allow unless they are given another one.
  package static var deepestTable: Int { 64 }

  @usableFromInline var depth = 0
  @usableFromInline var remainingTables: Int
  @usableFromInline var remainingReferences: Int
  @usableFromInline var remainingBytes: Int

  /// How many bytes the parts of a buffer may have that are referred to by elements of vectors, or
  /// below the root table, each counted as often as it is referred to. A text of up to 256 bytes
  /// can be shared by any number of references of 4 bytes.
  @inlinable
  package static func mostUnfolded(_ size: Int) -> Int {
    let (shared, overflow) = size.multipliedReportingOverflow(by: 64)
    let (sum, sumOverflow) = shared.addingReportingOverflow(1 << 24)
    return overflow || sumOverflow ? .max : sum
  }

  /// Creates a verifier for a buffer.
  ///
  /// - Parameters:
  ///   - bytes: The finished buffer.
  ///   - maxDepth: The maximum nesting depth of tables.
  ///   - maxTables: The maximum number of tables to enter. A table that is referred to twice counts
  ///     twice.
  @inlinable
  public init(_ bytes: UnsafeRawBufferPointer, maxDepth: Int = 64, maxTables: Int = 1_000_000) {
    self.bytes = bytes
    self.maxDepth = maxDepth
    self.remainingTables = maxTables
    let (references, overflow) = bytes.count.addingReportingOverflow(maxTables)
    self.remainingReferences = overflow ? .max : references
    self.remainingBytes = Self.mostUnfolded(bytes.count)
  }

  /// Creates a verifier for the buffer after a size prefix. Its positions count from the end of the
  /// prefix.
  ///
  /// Bytes after the prefixed size are ignored. Throws if there are fewer bytes than the prefix
  /// states.
  public static func sizePrefixed(
    _ bytes: UnsafeRawBufferPointer, maxDepth: Int = 64, maxTables: Int = 1_000_000
  ) throws(VerificationError) -> Verifier {
    let size = bytes.vectorCount(0, stride: 1)
    guard size >= 0 else {
      throw VerificationError(
        offset: 0, reason: "the size prefix states more than the available \(bytes.count) bytes")
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
    var verifier = self
    try verifier.indirectStructure(atPosition: 0, size: size)
  }

  // MARK: Fields

  /// Finds a field of an entered table. Returns the absolute position of its inline value, of which
  /// `size` bytes are inside the buffer, or 0 if the field is absent. Throws if the value ends
  /// outside the buffer, or if the field is absent and required.
  @inlinable @inline(__always)
  public func locate(
    _ field: Int, size: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) -> Int {
    let location = table.locate(field, size: size)
    if location > 0 { return location }
    if location < 0 { throw misplacedField(field, in: table) }
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
  public mutating func string(
    at field: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) {
    let location = try locate(field, size: 4, in: table, required: required)
    if location > 0 { try string(atPosition: location) }
  }

  /// Checks a union's value that is a struct of `size` bytes.
  @inlinable
  public mutating func indirectStructure(
    at field: Int, size: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) {
    let location = try locate(field, size: 4, in: table, required: required)
    if location > 0 { try indirectStructure(atPosition: location, size: size) }
  }

  /// Checks the inline extent of a vector field. This is sufficient for scalars and structs; check
  /// other elements at the positions of the returned vector. Returns nil if the field is absent.
  @inlinable
  @discardableResult
  public mutating func vector(
    at field: Int, stride: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) -> VectorReader? {
    let location = try locate(field, size: 4, in: table, required: required)
    return location > 0 ? try vector(atPosition: location, stride: stride) : nil
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

  /// Enters a table field, or a union's value that is a table. Returns nil and enters nothing if it
  /// is absent.
  @inlinable
  public mutating func enterTable(
    at field: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) -> TablePosition? {
    let location = try locate(field, size: 4, in: table, required: required)
    return location > 0 ? try enterTable(atPosition: location) : nil
  }

  /// Enters the table that the offset at a position refers to. Only an element's offset may be
  /// null.
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

  /// Reads a union's type, and determines whether there is a value to check.
  ///
  /// - Returns: The type, as which the caller checks the value next. 0 if there is no value, either
  ///   because the type is none or because another writer left the value out. A type that the
  ///   caller does not know is from a newer schema; its value must not be read.
  @inlinable
  public func union(
    typeAt typeField: Int, valueAt valueField: Int, in table: TablePosition, required: Bool = false
  ) throws(VerificationError) -> UInt8 {
    let typeLocation = try locate(typeField, size: 1, in: table, required: required)
    let valueLocation = try locate(valueField, size: 4, in: table, required: required)
    guard typeLocation > 0, valueLocation > 0 else { return 0 }
    return bytes.uncheckedLoad(typeLocation, as: UInt8.self)
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

  /// The target of the offset at a position, or -1. The offset of a vector's element may be null.
  @inlinable @inline(__always)
  func follow(_ position: Int, _ isElement: Bool) -> Int {
    isElement ? bytes.followElement(position) : bytes.follow(position)
  }

  /// Checks the string that the offset at a position refers to: its bytes and the NUL after them
  /// are inside the buffer. Only an element's offset may be null.
  @inlinable
  public mutating func string(
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
    try unfold(length, isElement, at: position)
  }

  /// Checks the extent of the vector that the offset at a position refers to.
  @inlinable
  @discardableResult
  public mutating func vector(
    atPosition position: Int, stride: Int
  ) throws(VerificationError) -> VectorReader {
    let target = bytes.follow(position)
    guard target >= 0 else { throw badOffset(to: .vector, at: position) }
    guard let vector = VectorReader(bytes, at: target, stride: stride) else {
      throw outside(.vector, at: target)
    }
    try unfold(vector.count &* stride, false, at: position)
    return vector
  }

  /// Checks the struct of `size` bytes that the offset at a position refers to. Only an element's
  /// offset may be null.
  @inlinable
  public mutating func indirectStructure(
    atPosition position: Int, size: Int, isElement: Bool = false
  ) throws(VerificationError) {
    let target = follow(position, isElement)
    guard target >= 0 else { throw badOffset(to: .structure, at: position) }
    guard bytes.contains(target, size: size) else { throw outside(.structure, at: target) }
    try unfold(size, isElement, at: position)
  }

  /// Counts references in vectors against the limit for the whole buffer. Call it for a vector
  /// whose elements the caller follows itself.
  @inlinable
  public mutating func count(
    _ references: Int, at position: Int
  ) throws(VerificationError) {
    guard references <= remainingReferences else { throw tooMany("parts", at: position) }
    remainingReferences &-= references
  }

  /// Counts the bytes of a part that is referred to, unless the root table itself does so: it has
  /// no more fields than its schema.
  @inlinable @inline(__always)
  mutating func unfold(
    _ size: Int, _ isElement: Bool, at position: Int
  ) throws(VerificationError) {
    guard isElement || depth > 1 else { return }
    guard size <= remainingBytes else { throw tooManyBytes(at: position) }
    remainingBytes &-= size
  }
}
