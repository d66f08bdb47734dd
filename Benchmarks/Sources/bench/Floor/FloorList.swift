// FloorList: fetched rows as in a C program: one allocation each, in a growing array of pointers.
//
// Equal work: Dflat's rows, too, are one allocation each with a header before the bytes. Here the
// header contains the row id and the length, and the memory comes directly from malloc.

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A row: header and bytes in one allocation.
struct FloorRow {
  static let headerSize = 16
  let memory: UnsafeMutableRawPointer

  @inline(__always)
  init(id: Int64, _ bytes: UnsafeRawBufferPointer) {
    // Running out of memory ends the program, as in Swift.
    memory = malloc(FloorRow.headerSize + bytes.count)!
    memory.storeBytes(of: id, as: Int64.self)
    memory.storeBytes(of: bytes.count, toByteOffset: 8, as: Int.self)
    if let start = bytes.baseAddress {
      (memory + FloorRow.headerSize).copyMemory(from: start, byteCount: bytes.count)
    }
  }

  @inline(__always)
  var id: Int64 { memory.load(as: Int64.self) }

  @inline(__always)
  var count: Int { memory.load(fromByteOffset: 8, as: Int.self) }

  @inline(__always)
  var bytes: UnsafeRawPointer { UnsafeRawPointer(memory + FloorRow.headerSize) }

  @inline(__always)
  var reader: FloorReader { FloorReader(row: bytes) }

  @inline(__always)
  func free() { releaseMemory(memory) }
}

private func releaseMemory(_ memory: UnsafeMutableRawPointer) {
  free(memory)
}

/// An array of rows that owns them.
struct FloorList: ~Copyable {
  private var rows: UnsafeMutablePointer<FloorRow>
  private var capacity = 64
  private(set) var count = 0

  init() {
    rows = .allocate(capacity: 64)
  }

  deinit {
    for index in 0..<count { rows[index].free() }
    rows.deallocate()
  }

  @inline(__always)
  subscript(index: Int) -> FloorRow { rows[index] }

  @inline(__always)
  mutating func append(_ row: FloorRow) {
    if count == capacity { grow() }
    (rows + count).initialize(to: row)
    count &+= 1
  }

  /// By priority, ties by row id.
  func sortByPriority() {
    var rows = UnsafeMutableBufferPointer(start: rows, count: count)
    rows.sort {
      let (left, right) = ($0.reader.priority, $1.reader.priority)
      return left == right ? $0.id < $1.id : left < right
    }
  }

  @inline(never)
  private mutating func grow() {
    let larger = UnsafeMutablePointer<FloorRow>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: rows, count: count)
    rows.deallocate()
    rows = larger
    capacity *= 2
  }
}
