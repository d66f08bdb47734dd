// Bytes between inaccessible pages: reading one byte beyond them crashes the process.

import Foundation

/// Memory that ends (or begins) where the next page is inaccessible.
final class GuardedBytes {
  private let pages: UnsafeMutableRawPointer
  private let pageSize = Int(sysconf(Int32(_SC_PAGESIZE)))
  private let length: Int

  /// Allocates room for up to `capacity` bytes.
  init(capacity: Int) {
    length = (capacity + pageSize - 1) / pageSize * pageSize
    let mapped = mmap(
      nil, length + 2 * pageSize, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    guard let mapped, mapped != MAP_FAILED else { fatalError("mmap: errno \(errno)") }
    pages = mapped
    guard mprotect(mapped + pageSize, length, PROT_READ | PROT_WRITE) == 0 else {
      fatalError("mprotect: errno \(errno)")
    }
  }

  deinit { munmap(pages, length + 2 * pageSize) }

  /// Copies bytes so that they end at the inaccessible page, at an address that is rarely aligned,
  /// or so that they begin after one.
  func placing(_ bytes: [UInt8], atEnd: Bool = true) -> UnsafeRawBufferPointer {
    let start = pages + pageSize + (atEnd ? length - bytes.count : 0)
    bytes.withUnsafeBytes { source in
      if let base = source.baseAddress { start.copyMemory(from: base, byteCount: source.count) }
    }
    return UnsafeRawBufferPointer(start: start, count: bytes.count)
  }
}
