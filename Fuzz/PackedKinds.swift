// What is fuzzed of PackedSerialize: every kind of value, as a field and, where it may be one, as a
// key.

import Foundation
import PackedSerialize

enum Suit: UInt8, CaseIterable, Serializable, Deserializable {
  case clubs, diamonds, hearts, spades
}

/// A kind of value, whatever its type.
struct Kind: Sendable {
  /// Reads a value at the beginning of bytes; nil if they are refused. What is not right stops the
  /// program.
  let check: @Sendable (UnsafeRawBufferPointer) -> Void
  /// A few values, as bytes.
  let seeds: @Sendable () -> [[UInt8]]

  /// A kind that is only a field.
  static func field<Value: Serializable & Deserializable & Equatable & Sendable>(
    _ values: Value..., isExact: @escaping @Sendable (Value) -> Bool = { _ in true }
  ) -> Kind {
    Kind { bytes in
      guard let (value, _) = read(bytes, { try Value.unpack(with: &$0) }) else { return }
      let again = write(value.serializedSize) { value.serialize(into: &$0) }
      let copy = again.withUnsafeBytes { read($0) { try Value.unpack(with: &$0) } }
      // Not a number is not equal to itself.
      guard value == value, isExact(value), (try? value.validate(as: .field)) != nil else { return }
      require(copy?.value == value && copy?.consumed == again.count, "a field has changed")
    } seeds: {
      values.map { value in write(value.serializedSize) { value.serialize(into: &$0) } }
    }
  }

  /// A kind that is a key. Two values are read, and have to be in the order of their bytes.
  static func key<Value: Serializable & Deserializable & Equatable & Sendable>(
    _ values: Value..., isBefore: @escaping @Sendable (Value, Value) -> Bool,
    isExact: @escaping @Sendable (Value) -> Bool = { _ in true }
  ) -> Kind {
    Kind { bytes in
      guard let (first, length) = read(bytes, { try Value.unpackKey(with: &$0) }) else { return }
      func key(_ value: Value) -> [UInt8] {
        let bytes = write(value.serializedKeySize) { value.serializeKey(into: &$0) }
        let isRight = (try? value.validate(as: .key)) != nil
        require(
          keyAtOnce(value, room: bytes.count) == (isRight ? bytes : nil),
          "a key writer writes something else")
        return bytes
      }
      guard isExact(first) else { return }
      require(
        (try? first.validate(as: .key)) == nil || key(first).elementsEqual(bytes[..<length]),
        "a key that was read is written as another one")
      let rest = UnsafeRawBufferPointer(rebasing: bytes[length...])
      guard let (second, _) = read(rest, { try Value.unpackKey(with: &$0) }), isExact(second),
        (try? first.validate(as: .key)) != nil, (try? second.validate(as: .key)) != nil
      else { return }
      let (a, b) = (key(first), key(second))
      require(
        a.lexicographicallyPrecedes(b) == isBefore(first, second),
        "keys are not in the order of their values")
      require(a == b || !b.starts(with: a), "a key is the beginning of another one")
    } seeds: {
      values.map { value in write(value.serializedKeySize) { value.serializeKey(into: &$0) } }
    }
  }

  static func key<Value: Serializable & Deserializable & Comparable & Sendable>(
    _ values: Value...
  ) -> Kind {
    let kinds = values.map { key($0, isBefore: { $0 < $1 }) }
    return Kind(check: kinds[0].check, seeds: { kinds.flatMap { $0.seeds() } })
  }

  static let all = numbers + reals + otherKeys + fields

  // One by one, here and below, so that the compiler has little to infer.
  private static let numbers: [Kind] = {
    var numbers: [Kind] = []
    numbers.append(.key(0 as Int, -1, .max))
    numbers.append(.key(0 as Int8, -1))
    numbers.append(.key(7 as Int16))
    numbers.append(.key(-7 as Int32))
    numbers.append(.key(1 as Int64))
    numbers.append(.key(0 as UInt, .max))
    numbers.append(.key(3 as UInt8))
    numbers.append(.key(500 as UInt16))
    numbers.append(.key(1 as UInt32))
    numbers.append(.key(9 as UInt64))
    return numbers
  }()

  // No writer writes a negative zero as a key.
  private static let reals: [Kind] = {
    var reals: [Kind] = []
    reals.append(
      .key(0.5 as Double, -1.5, .infinity, isBefore: { (a: Double, b: Double) in a < b }) {
        $0 != 0 || $0.sign == .plus
      })
    reals.append(
      .key(0.25 as Float, -3, isBefore: { (a: Float, b: Float) in a < b }) {
        $0 != 0 || $0.sign == .plus
      })
    return reals
  }()

  private static let otherKeys: [Kind] = [
    .key("", "abc", "\u{E9}") { (a: String, b: String) in a.utf8.lexicographicallyPrecedes(b.utf8)
    },
    .key(Data(), Data([0, 1, 255])) { (a: Data, b: Data) in a.lexicographicallyPrecedes(b) },
    .key(false, true) { (a: Bool, b: Bool) in !a && b },
    .key(
      Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: -1.5),
      isBefore: { (a: Date, b: Date) in a < b }, isExact: isExact),
  ]

  private static let fields: [Kind] = {
    var fields: [Kind] = []
    fields.append(.field(UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))))
    fields.append(.field("", "abc"))
    fields.append(.field(Data(), Data([1, 2])))
    fields.append(.field(1.5, -0.0))
    fields.append(.field(Suit.hearts))
    fields.append(.field([] as [String], ["a", "bc"]))
    fields.append(.field([] as [[UInt8]?], [[1], nil]))
    fields.append(.field(["a", "b"] as Set<String>))
    fields.append(.field(["a": Data([1])]))
    fields.append(.field(nil as [Int]?, [1]))
    fields.append(.field([EmptyValue(), EmptyValue()]))
    fields.append(.field(Date(timeIntervalSince1970: 1), isExact: isExact))
    return fields
  }()
}

/// Whether a date has exactly the milliseconds that it was read from: a `Date` is a number of
/// seconds with 53 binary digits, so one of 100,000 years and more has not.
@Sendable private func isExact(_ date: Date) -> Bool { abs(date.timeIntervalSince1970) < 3e12 }

/// A value at the beginning of bytes and how many of them it has; nil if they are refused.
private func read<Value>(
  _ bytes: UnsafeRawBufferPointer,
  _ unpack: (inout Deserializer) throws -> Value
) -> (value: Value, consumed: Int)? {
  var deserializer = Deserializer(_unsafeBytes: bytes)
  do {
    let value = try unpack(&deserializer)
    let consumed = bytes.count - deserializer.rawSpan.byteCount
    require((0...bytes.count).contains(consumed), "more was read than there is")
    return (value, consumed)
  } catch { return nil }
}

private func write(_ size: Int, _ body: (inout UnsafeMutableRawBufferPointer) -> Void) -> [UInt8] {
  [UInt8](unsafeUninitializedCapacity: size) { room, count in
    var rest = UnsafeMutableRawBufferPointer(room)
    body(&rest)
    require(rest.count == room.count - size, "a value has not the size that it claims")
    count = size
  }
}

/// The bytes of a key that is written in one pass; nil if it is refused.
private func keyAtOnce(_ value: some Serializable, room: Int) -> [UInt8]? {
  var failure: KeyFailure?
  let bytes = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
    var writer = KeyWriter(UnsafeMutableRawBufferPointer(buffer))
    value.serializeKey(to: &writer)
    failure = writer.failure
    count = failure == nil ? room - writer.remaining : 0
  }
  return failure == nil ? bytes : nil
}

func require(_ isRight: Bool, _ message: String) {
  if !isRight { fatalError(message) }
}
