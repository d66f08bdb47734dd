// The fuzz target for backups of changed pages: bytes that libFuzzer makes are such a backup, or
// the head of the whole one that it builds on, under AddressSanitizer.
//
// The first byte of an input says which, and whether the checksums are set right, so that the
// fuzzer gets behind them. What must hold, besides that nothing is read outside of a buffer: a
// chain is refused with `StorageError`, or makes a file of as many pages as it says, at most those
// of its parts and one more.

import Foundation

@testable import Dflat
@testable import SQLiteDflat

private let pageSize = 512
private let folder = makeFolder()
private let whole = folder + "/000001-20261128T012033Z.db"
private let changes = folder + "/000002-20261129T012034Z.pages"
private let restored = folder + "/restored.db"

/// A folder in memory, if there is such a file system.
private func makeFolder() -> String {
  let root =
    FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
  let path = root + "/dflat-fuzz-\(getpid())"
  try! FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  atexit { try? FileManager.default.removeItem(atPath: folder) }
  return path
}

/// A database of four pages, as far as a chain looks at it.
private let sound: [UInt8] = {
  var bytes = [UInt8](repeating: 7, count: 4 * pageSize)
  bytes.replaceSubrange(0..<16, with: "SQLite format 3\0".utf8)
  (bytes[16], bytes[17]) = (2, 0)
  return bytes
}()

private func write(_ bytes: [UInt8], to path: String) {
  try! Data(bytes).write(to: URL(filePath: path))
}

private func set<T: FixedWidthInteger>(_ number: T, at offset: Int, in bytes: inout [UInt8]) {
  withUnsafeBytes(of: number.littleEndian) {
    bytes.replaceSubrange(offset..<offset + $0.count, with: $0)
  }
}

/// Sets everything right that is not what a program would choose.
private func repaired(_ input: [UInt8]) -> [UInt8] {
  var bytes = input
  let entrySize = ChangedPages.entryHeadSize + pageSize
  while bytes.count < ChangedPages.headSize
    || (bytes.count - ChangedPages.headSize) % entrySize != 0
  {
    bytes.append(0)
  }
  let count = (bytes.count - ChangedPages.headSize) / entrySize
  bytes.replaceSubrange(0..<8, with: "DflatPgs".utf8)
  set(UInt32(1), at: 8, in: &bytes)
  set(UInt32(pageSize), at: 12, in: &bytes)
  set(UInt32(count), at: 20, in: &bytes)
  set(UInt32(2), at: 24, in: &bytes)
  set(UInt32(1), at: 28, in: &bytes)
  let mark = sound[..<pageSize].withUnsafeBytes { Checksum.of($0) }
  set(mark, at: 32, in: &bytes)
  return withChecksums(bytes, entrySize)
}

/// Sets the checksums right, and nothing else.
private func withChecksums(_ input: [UInt8], _ entrySize: Int) -> [UInt8] {
  var bytes = input
  guard bytes.count >= ChangedPages.headSize else { return bytes }
  set(bytes[..<56].withUnsafeBytes { Checksum.of($0) }, at: 56, in: &bytes)
  var start = ChangedPages.headSize
  while start + entrySize <= bytes.count {
    let page = bytes[start..<start + 4].enumerated().reduce(0) { $0 | Int($1.1) << ($1.0 * 8) }
    let end = start + entrySize
    let head = bytes[start + ChangedPages.entryHeadSize..<end].withUnsafeBytes {
      ChangedPages.entryHead(page, $0)
    }
    bytes.replaceSubrange(start..<start + head.count, with: head)
    start = end
  }
  return bytes
}

/// Called by libFuzzer for each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ data: UnsafePointer<UInt8>, _ size: Int) -> CInt {
  guard size > 0 else { return 0 }
  let input = [UInt8](UnsafeBufferPointer(start: data + 1, count: size - 1))
  var first = sound
  var second = input
  switch data[0] % 4 {
  case 0: break
  case 1: second = withChecksums(input, ChangedPages.entryHeadSize + pageSize)
  case 2: second = repaired(input)
  default:
    first.replaceSubrange(16..<16 + min(84, input.count), with: input.prefix(84))
    second = repaired([UInt8](input.dropFirst(84)))
  }
  write(first, to: whole)
  write(second, to: changes)
  do {
    let chain = try BackupFolder(folder).backups()
    if chain.count != 2 { fatalError("\(chain.count) backups") }
    let state = try BackedUpState(chain)
    let limit = first.count / state.pageSize + second.count / state.pageSize + 2
    if state.pageCount > limit { fatalError("\(state.pageCount) pages of \(limit)") }
    let file = try PlainFile(creating: restored)
    try state.write(to: file) { _, _ in }
    if try file.size() != state.pageCount * state.pageSize { fatalError("another size") }
  } catch is StorageError {
  } catch { fatalError("it is refused by another error: \(error)") }
  return 0
}
