// Fixture: what cases share: sizes, samples, prepared files, a folder for copies.
//
// Prepared files are made by Dflat, once each, checkpointed and closed. Cases that read open them in place; cases that write
// copy them. Everything lies in one temporary folder, which goes away at the end.

import Foundation
import SQLiteDflat
import Synchronization

final class Fixture {
  /// Objects in the smaller and the larger table.
  let few: Int
  let many: Int
  private let folder: URL
  private var samples: [Int: [Sample]] = [:]
  private var templates: [Int: String] = [:]
  private var copies = 0

  init(few: Int, many: Int) throws {
    self.few = few
    self.many = many
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "dflat-bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func removeFiles() throws {
    try FileManager.default.removeItem(at: folder)
  }

  func samples(_ count: Int) -> [Sample] {
    if let made = samples[count] { return made }
    let made = Sample.make(count)
    samples[count] = made
    return made
  }

  /// A path in the folder.
  func path(_ name: String) -> String {
    folder.appendingPathComponent(name).path
  }

  /// A file with the first `count` samples. Not to be written.
  func template(_ count: Int) throws -> String {
    if let made = templates[count] { return made }
    let path = path("template-\(count).db")
    let store = Store(path)
    try store.insert(samples(count))
    store.close()
    templates[count] = path
    return path
  }

  /// A copy of a prepared file, for one run; `discard` removes it.
  func copy(of template: String) throws -> String {
    copies += 1
    let path = path("copy-\(copies).db")
    try FileManager.default.copyItem(atPath: template, toPath: path)
    // On the disk before the clock starts, or a checkpoint's sync would pay for the copy.
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.synchronize()
    try file.close()
    return path
  }

  /// Removes a copy. What is left goes with the folder.
  func discard(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
  }

  /// The contents of a file, read by the floor: what both sides' files must agree about.
  func contents(_ path: String) throws -> Checksum {
    let database = try FloorDatabase(path: path)
    let select = try database.prepare("SELECT rowid, __pk0, p FROM benchdoc ORDER BY rowid")
    var sum = Checksum()
    while try select.step() {
      sum.add(select.int64(0))
      sum.add(select.text(1).buffer)
      let record = FloorRecord(FloorReader(row: select.blob(2).baseAddress!))
      sum.add(record)
    }
    return sum
  }
}

extension Checksum {
  @inline(__always)
  mutating func add(_ record: FloorRecord) {
    add(record.pos)
    add(record.color.rawValue)
    add(record.title)
    add(record.content)
    add(record.tag)
    add(record.priority)
  }
}
