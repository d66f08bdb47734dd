// VerificationError: what is wrong with a buffer, and where.
//
// The messages are created here, out of line, so that verifying valid buffers does not pay for
// them.

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The reason why bytes are not a valid FlatBuffers buffer.
public struct VerificationError: LocalizedError, Equatable, Sendable, CustomStringConvertible {
  /// The location of the damage: the start of the offending part, in bytes from the start of the
  /// buffer.
  public let offset: Int
  /// A description of what is wrong, with offsets and sizes in bytes: "string at offset 212 ends
  /// outside the buffer's 240 bytes".
  public let reason: String

  /// Creates an error with a reason of your own, for rules that only a caller with the schema can
  /// check.
  public init(offset: Int, reason: String) {
    self.offset = offset
    self.reason = reason
  }

  /// The reason.
  public var description: String { reason }
  /// The reason.
  public var errorDescription: String? { reason }
  /// What to do.
  public var recoverySuggestion: String? {
    "read the bytes as the type that wrote them; if they are of that type, they are damaged: get them again from their source"
  }
}

extension Verifier {
  /// The kind of an offset's target, for messages.
  @usableFromInline
  enum Referent: String {
    case string, vector, table
    case structure = "struct"
  }

  @usableFromInline
  @inline(never)
  func outside(_ what: Referent, at offset: Int) -> VerificationError {
    VerificationError(
      offset: offset,
      reason: "\(what.rawValue) at offset \(offset) ends outside the buffer's \(bytes.count) bytes")
  }

  @usableFromInline
  @inline(never)
  func badOffset(to what: Referent, at position: Int) -> VerificationError {
    guard bytes.contains(position, size: 4) else {
      return VerificationError(
        offset: position,
        reason: "the offset of a \(what.rawValue) at offset \(position) ends outside the buffer's "
          + "\(bytes.count) bytes")
    }
    let distance = bytes.uncheckedLoad(position, as: UInt32.self)
    return VerificationError(
      offset: position,
      reason: distance == 0
        ? "the \(what.rawValue) that offset \(position) refers to is missing"
        : "offset \(position) refers to a \(what.rawValue) \(distance) bytes further, outside the "
          + "buffer's \(bytes.count) bytes")
  }

  @usableFromInline
  @inline(never)
  func notATable(at offset: Int) -> VerificationError {
    guard bytes.contains(offset, size: 4) else { return outside(.table, at: offset) }
    let distance = Int(bytes.uncheckedLoad(offset, as: Int32.self))
    guard bytes.contains(offset &- distance, size: 2) else {
      return VerificationError(
        offset: offset,
        reason: "the vtable of the table at offset \(offset) is outside the buffer's "
          + "\(bytes.count) bytes")
    }
    let vtable = offset &- distance
    return VerificationError(
      offset: vtable,
      reason:
        "the vtable at offset \(vtable), of the table at offset \(offset), has the impossible "
        + "size \(bytes.uncheckedLoad(vtable, as: UInt16.self))")
  }

  @usableFromInline
  @inline(never)
  func misplacedField(_ field: Int, in table: TablePosition) -> VerificationError {
    VerificationError(
      offset: table.position,
      reason: "field \(field) of the table at offset \(table.position) ends outside the buffer's "
        + "\(bytes.count) bytes")
  }

  @usableFromInline
  @inline(never)
  func missingField(_ field: Int, in table: TablePosition) -> VerificationError {
    VerificationError(
      offset: table.position,
      reason: "the table at offset \(table.position) lacks the required field \(field)")
  }

  @usableFromInline
  @inline(never)
  func unterminatedString(at offset: Int) -> VerificationError {
    VerificationError(
      offset: offset, reason: "string at offset \(offset) is not followed by a NUL in the buffer")
  }

  @usableFromInline
  @inline(never)
  func tooDeep(at offset: Int) -> VerificationError {
    VerificationError(
      offset: offset,
      reason: "the table at offset \(offset) is nested deeper than \(maxDepth) tables")
  }

  @usableFromInline
  @inline(never)
  func tooMany(_ what: StaticString, at offset: Int) -> VerificationError {
    VerificationError(
      offset: offset,
      reason: "the buffer refers to more \(what) than are allowed, at offset \(offset)")
  }

  @usableFromInline
  @inline(never)
  func tooManyBytes(at offset: Int) -> VerificationError {
    VerificationError(
      offset: offset,
      reason: "what the buffer's \(bytes.count) bytes refer to has more than "
        + "\(Self.mostUnfolded(bytes.count)) bytes, counted once for each reference, at offset "
        + "\(offset)")
  }

  @usableFromInline
  @inline(never)
  func unequalCounts(_ types: VectorReader?, _ values: VectorReader?, in table: TablePosition)
    -> VerificationError
  {
    let offset = types?.position ?? values?.position ?? table.position
    return VerificationError(
      offset: offset,
      reason: "a vector of unions at offset \(offset) has \(types?.count ?? 0) types and "
        + "\(values?.count ?? 0) values")
  }

  @usableFromInline
  @inline(never)
  func tooLarge() -> VerificationError {
    VerificationError(
      offset: 0, reason: "a buffer of \(bytes.count) bytes is larger than 2 GiB - 1")
  }
}
