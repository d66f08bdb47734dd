// The bytes of a record, written and read directly: from pointers into a fixed buffer, without
// checks that C code would not make.

import CLMDBFloor
import Foundation

enum FloorEntry {
  static let prefix = Entry.keyPrefix
  static let version = Entry.fieldsVersion

  @inline(__always)
  private static func put<T: FixedWidthInteger>(_ value: T, _ cursor: inout UnsafeMutableRawPointer)
  {
    cursor.storeBytes(of: value.bigEndian, as: T.self)
    cursor += MemoryLayout<T>.size
  }

  @inline(__always)
  private static func put(_ text: String, _ cursor: inout UnsafeMutableRawPointer) {
    var text = text
    text.withUTF8 { bytes in
      cursor.copyMemory(from: bytes.baseAddress!, byteCount: bytes.count)
      cursor += bytes.count
    }
    put(0 as UInt8, &cursor)
  }

  @inline(__always)
  private static func put(_ value: Int, _ cursor: inout UnsafeMutableRawPointer) {
    put(UInt64(bitPattern: Int64(value)) ^ (1 << 63), &cursor)
  }

  static func writeKey(_ group: Int, _ title: String?, at start: UnsafeMutableRawPointer) -> MDB_val
  {
    var cursor = start
    put(prefix, &cursor)
    put(group, &cursor)
    if let title { put(title, &cursor) }
    return MDB_val(mv_size: cursor - start, mv_data: start)
  }

  static func valueSize(_ entry: Entry) -> Int {
    let tag = entry.tag.map { $0.utf8.count + 1 } ?? 0
    return 4 + entry.text.utf8.count + 1 + 8 + 1 + tag + 8
  }

  static func writeValue(_ entry: Entry, at start: UnsafeMutableRawPointer) -> MDB_val {
    var cursor = start
    put(version, &cursor)
    put(entry.text, &cursor)
    put(entry.priority, &cursor)
    if let tag = entry.tag {
      put(1 as UInt8, &cursor)
      put(tag, &cursor)
    } else {
      put(0 as UInt8, &cursor)
    }
    put(Int(entry.created.timeIntervalSince1970 * 1000), &cursor)
    return MDB_val(mv_size: cursor - start, mv_data: start)
  }

  @inline(__always)
  private static func number(_ cursor: inout UnsafeRawPointer) -> Int {
    let bits = UInt64(bigEndian: cursor.loadUnaligned(as: UInt64.self)) ^ (1 << 63)
    cursor += 8
    return Int(Int64(bitPattern: bits))
  }

  @inline(__always)
  private static func text(_ cursor: inout UnsafeRawPointer) -> String {
    let start = cursor.assumingMemoryBound(to: UInt8.self)
    let length = strlen(cursor.assumingMemoryBound(to: CChar.self))
    cursor += length + 1
    return String(decoding: UnsafeBufferPointer(start: start, count: length), as: UTF8.self)
  }

  static func read(_ key: MDB_val, _ value: MDB_val) -> Entry {
    var keyCursor = UnsafeRawPointer(key.mv_data!) + 4
    var cursor = UnsafeRawPointer(value.mv_data!) + 4
    let group = number(&keyCursor)
    let title = text(&keyCursor)
    let content = text(&cursor)
    let priority = number(&cursor)
    let hasTag = cursor.load(as: UInt8.self) != 0
    cursor += 1
    let tag = hasTag ? text(&cursor) : nil
    let created = Date(timeIntervalSince1970: Double(number(&cursor)) / 1000)
    return Entry(
      group: group, title: title, text: content, priority: priority, tag: tag, created: created)
  }
}
