// Directories and records that cases share.

import Empire
import Foundation

final class Fixture {
  private let root: URL
  let entries: [Entry]
  /// The number of records in the large database.
  let many: Int
  private var count = 0
  private var prepared: [String: URL] = [:]

  init(few: Int, many: Int) throws {
    root = FileManager.default.temporaryDirectory.appending(
      path: "bench-empire-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: root, withIntermediateDirectories: true)
    entries = Entry.make(few)
    self.many = many
  }

  func removeFiles() throws { try FileManager.default.removeItem(at: root) }

  /// An empty directory.
  func directory() throws -> URL {
    count += 1
    let url = root.appending(path: "\(count)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    return url
  }

  /// A directory with records, written by the floor; Empire reads the same files.
  func filled(_ name: String, _ entries: [Entry]) throws -> URL {
    if let url = prepared[name] { return url }
    let url = try directory()
    try FloorDatabase(url).insert(entries[...])
    prepared[name] = url
    return url
  }

  /// A fresh copy of such a directory.
  func copy(of url: URL) throws -> URL {
    let copy = try directory()
    try FileManager.default.copyItem(
      at: url.appending(path: "data.mdb"), to: copy.appending(path: "data.mdb"))
    return copy
  }

  func store(_ url: URL) throws -> Store {
    Store(database: try LockingDatabase(url: url, mapSize: .fixed(2 << 30)))
  }

  /// The content of a directory, read by the floor.
  func sum(_ url: URL) throws -> Checksum { Checksum(try FloorDatabase(url).select(group: nil)) }
}
