// Fixture: the shared parts of cases: sizes, samples, prepared files, a folder for copies.
//
// Prepared files are created by Dflat, once each, checkpointed and closed. Cases that read open
// them in place; cases that write copy them. Everything is in one temporary folder, which is
// removed at the end.

import CLinux
import Foundation
import SQLiteDflat
import Synchronization

final class Fixture {
  /// The number of objects in the smaller and the larger table.
  let few: Int
  let many: Int
  /// Size of the WAL in bytes at which a checkpoint is due, in cases that measure it.
  let walLimit: Int
  private let folder: URL
  private var samples: [Int: [Sample]] = [:]
  private var templates: [String: String] = [:]
  private var twins: [String: String] = [:]
  private var onDisk: URL?
  private var copies = 0

  init(few: Int, many: Int, walLimit: Int) throws {
    self.few = few
    self.many = many
    self.walLimit = walLimit
    folder = FileManager.default.temporaryDirectory.appendingPathComponent(
      "dflat-bench-\(ProcessInfo.processInfo.processIdentifier)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func removeFiles() throws {
    try FileManager.default.removeItem(at: folder)
    if let onDisk, onDisk != folder { try FileManager.default.removeItem(at: onDisk) }
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

  /// A file with the first `count` samples. Must not be written.
  func template(_ count: Int) throws -> String {
    try template("\(count)") { try $0.insert(samples(count)) }
  }

  /// A file that `fill` has filled, once. Must not be written.
  func template(_ name: String, _ fill: (Store) throws -> Void) throws -> String {
    if let made = templates[name] { return made }
    let path = path("template-\(name).db")
    let store = Store(path)
    try fill(store)
    try store.check()
    store.close()
    templates[name] = path
    return path
  }

  /// A copy of a prepared file, for one run; `discard` removes it.
  /// - Parameter onDisk: Whether it must be on a file system where a sync waits for a disk.
  func copy(of template: String, onDisk: Bool = false) throws -> String {
    copies += 1
    let folder = onDisk ? try diskFolder() : self.folder
    let path = folder.appendingPathComponent("copy-\(copies).db").path
    try FileManager.default.copyItem(atPath: template, toPath: path)
    // Synced before the clock starts, or a checkpoint's sync would pay for the copy.
    let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    try file.synchronize()
    try file.close()
    return path
  }

  /// A copy of a prepared file for floors to read, created once: on Dflat's own file they would
  /// benefit from the locks of its connections. Must not be written.
  func twin(of template: String) throws -> String {
    if let made = twins[template] { return made }
    let path = try copy(of: template)
    twins[template] = path
    return path
  }

  /// The folder, unless it is in memory; then one beside the program.
  private func diskFolder() throws -> URL {
    if let made = onDisk { return made }
    var made = folder
    if isInMemory(folder.path), let program = Bundle.main.executableURL {
      made = program.resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent(
        folder.lastPathComponent)
      try FileManager.default.createDirectory(at: made, withIntermediateDirectories: true)
      guard !isInMemory(made.path) else {
        throw Disagreement(
          description: "\(folder.path) and \(made.path) are in memory: a sync has no disk there")
      }
      print("files that are synced lie in \(made.path), because \(folder.path) is in memory")
    }
    onDisk = made
    return made
  }

  /// Removes a copy. Remaining copies are removed with the folder.
  func discard(_ path: String) {
    for suffix in ["", "-wal", "-shm"] { unlink(path + suffix) }
  }

  /// The content of tables, read by the floor; both sides' files must agree on it.
  func contents(_ path: String, tables: [String] = ["benchdoc"]) throws -> Checksum {
    let database = try FloorDatabase(path: path)
    var sum = Checksum()
    for table in tables {
      let select = try database.prepare("SELECT rowid, __pk0, p FROM \(table) ORDER BY rowid")
      while try select.step() {
        sum.add(select.int64(0))
        sum.add(select.text(1).buffer)
        let record = FloorRecord(FloorReader(row: select.blob(2).baseAddress!))
        sum.add(record)
      }
    }
    return sum
  }
}

/// Whether a folder is on a file system without a disk.
private func isInMemory(_ path: String) -> Bool {
  #if os(Linux)
    var info = statfs()
    // TMPFS_MAGIC and RAMFS_MAGIC of linux/magic.h.
    return statfs(path, &info) == 0 && [0x0102_1994, 0x8584_58F6].contains(Int(info.f_type))
  #else
    return false
  #endif
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
