// Parameters: the values of a statement, in the server's binary format.
//
// Numbers are written into memory of the parameters' own; bytes stay where they are, or are copied.
// The memory is used again from statement to statement.

import CPostgres
import Platform

/// The type of a parameter or column, as the server numbers it.
enum PostgresType {
  static let bool: Oid = 16
  static let bytes: Oid = 17
  static let integer: Oid = 20
  static let text: Oid = 25
  static let real: Oid = 701
  static let integers: Oid = 1016

  /// The type of arrays with elements of a type.
  static func array(of element: Oid) -> Oid {
    switch element {
    case bool: 1000
    case bytes: 1001
    case real: 1022
    case words: 3643
    default: integers
    }
  }

  static let words: Oid = 3614
}

/// The values of a statement. Used by one thread at a time, with its connection.
final class Parameters {
  private(set) var count = 0
  private var capacity = 0
  private(set) var values: UnsafeMutablePointer<UnsafePointer<CChar>?>
  private(set) var lengths: UnsafeMutablePointer<Int32>
  private(set) var formats: UnsafeMutablePointer<Int32>
  private(set) var types: UnsafeMutablePointer<Oid>
  private var numbers: UnsafeMutablePointer<UInt64>
  private var copies: [UnsafeMutableRawPointer] = []
  /// How many bytes the texts and bytes among the values have.
  private(set) var byteCount = 0

  init() {
    values = .allocate(capacity: 0)
    lengths = .allocate(capacity: 0)
    formats = .allocate(capacity: 0)
    types = .allocate(capacity: 0)
    numbers = .allocate(capacity: 0)
    grow(to: 32)
  }

  deinit {
    deallocate()
    freeCopies()
  }

  private func deallocate() {
    values.deallocate()
    lengths.deallocate()
    formats.deallocate()
    types.deallocate()
    numbers.deallocate()
  }

  private func freeCopies() {
    for copy in copies { copy.deallocate() }
    copies.removeAll(keepingCapacity: true)
  }

  private func grow(to capacity: Int) {
    deallocate()
    self.capacity = capacity
    values = .allocate(capacity: capacity)
    lengths = .allocate(capacity: capacity)
    formats = .allocate(capacity: capacity)
    types = .allocate(capacity: capacity)
    numbers = .allocate(capacity: capacity)
    values.initialize(repeating: nil, count: capacity)
    lengths.initialize(repeating: 0, count: capacity)
    formats.initialize(repeating: 1, count: capacity)
    types.initialize(repeating: 0, count: capacity)
    numbers.initialize(repeating: 0, count: capacity)
  }

  /// Begins a statement with this number of parameters.
  func begin(_ count: Int) {
    if !copies.isEmpty { freeCopies() }
    if count > capacity { grow(to: max(count, 2 * capacity)) }
    self.count = count
    byteCount = 0
  }

  /// The length of the longest message that the server takes, without what is around the values.
  private static let mostBytes = (1 << 30) - (1 << 20)

  /// Makes sure that the server takes the values. It would end the connection instead of an answer.
  /// - Parameter sql: The statement.
  func checkSize(for sql: String) throws(PostgresError) {
    if byteCount > Self.mostBytes { throw .tooLarge(byteCount, sql) }
  }

  private func setNumber(_ place: Int, _ bits: UInt64, size: Int32, _ type: Oid) {
    numbers[place] = bits.bigEndian
    // The last bytes of a number in network order.
    values[place] = (UnsafeRawPointer(numbers + place) + (8 - Int(size)))
      .assumingMemoryBound(to: CChar.self)
    lengths[place] = size
    types[place] = type
  }

  func set(_ place: Int, _ value: Int64) {
    setNumber(place, UInt64(bitPattern: value), size: 8, PostgresType.integer)
  }

  func set(_ place: Int, _ value: Double) {
    setNumber(place, value.bitPattern, size: 8, PostgresType.real)
  }

  func set(_ place: Int, _ value: Bool) {
    setNumber(place, value ? 1 : 0, size: 1, PostgresType.bool)
  }

  func setNull(_ place: Int, _ type: Oid) {
    values[place] = nil
    types[place] = type
  }

  /// - Parameter bytes: They stay in place until the statement has run.
  func set(_ place: Int, inPlace bytes: UnsafeRawBufferPointer, _ type: Oid = PostgresType.bytes) {
    // Empty bytes need an address, too: none stands for NULL.
    let start = bytes.baseAddress ?? UnsafeRawPointer(numbers)
    values[place] = start.assumingMemoryBound(to: CChar.self)
    // One that does not fit is never sent: see `checkSize`.
    lengths[place] = Int32(clamping: bytes.count)
    byteCount += bytes.count
    types[place] = type
  }

  func set(_ place: Int, copying bytes: UnsafeRawBufferPointer, _ type: Oid = PostgresType.bytes) {
    let copy = UnsafeMutableRawPointer.allocate(byteCount: max(1, bytes.count), alignment: 8)
    if let start = bytes.baseAddress { copy.copyMemory(from: start, byteCount: bytes.count) }
    copies.append(copy)
    set(place, inPlace: UnsafeRawBufferPointer(start: copy, count: bytes.count), type)
  }

  func set(_ place: Int, text: String, _ type: Oid = PostgresType.bytes) {
    var text = text
    text.withUTF8 { set(place, copying: UnsafeRawBufferPointer($0), type) }
  }

  /// An array of integers.
  func set(_ place: Int, _ integers: [Int64]) {
    setArray(place, integers.count, of: PostgresType.integer, PostgresType.integers) {
      array, index in
      array.append(element: integers[index].bigEndian)
    }
  }

  /// An array.
  /// - Parameters:
  ///   - element: The type of its elements.
  ///   - type: Its own type.
  ///   - append: Appends an element behind its length.
  func setArray(
    _ place: Int, _ count: Int, of element: Oid, _ type: Oid,
    _ append: (inout [UInt8], Int) -> Void
  ) {
    var array = [UInt8].arrayHead(count, of: element)
    array.reserveCapacity(20 + 12 * count)
    for index in 0..<count { append(&array, index) }
    array.withUnsafeBytes { set(place, copying: $0, type) }
  }
}

extension [UInt8] {
  /// The beginning of an array for the server, before its elements.
  static func arrayHead(_ count: Int, of element: Oid) -> [UInt8] {
    // The number of dimensions, whether there are NULLs, the type of the elements; for the
    // dimension their number and the first index.
    let words = [count == 0 ? 0 : 1, 0, element] + (count == 0 ? [] : [UInt32(count), 1])
    var head: [UInt8] = []
    for word in words { head.append(bytesOf: word.bigEndian) }
    return head
  }

  fileprivate mutating func append(bytesOf value: some BitwiseCopyable) {
    Swift.withUnsafeBytes(of: value) { append(contentsOf: $0) }
  }

  /// Appends an element of an array for the server, behind its length.
  mutating func append(element value: some BitwiseCopyable) {
    Swift.withUnsafeBytes(of: value) { append(element: $0) }
  }

  /// Appends NULL as an element of an array for the server.
  mutating func appendNull() { append(bytesOf: Int32(-1).bigEndian) }

  /// Appends an element of an array for the server, behind its length.
  mutating func append(element bytes: UnsafeRawBufferPointer) {
    append(bytesOf: UInt32(bytes.count).bigEndian)
    append(contentsOf: bytes)
  }
}
