// A small disk for a server's tables.

import Foundation
import Platform
import PostgresTestSupport
import Testing

/// A file system of a size, in memory; only root can make one.
final class SmallDisk {
  let path = "/tmp/dflat-disk-\(String(UInt64.random(in: 0...UInt64.max), radix: 36))"

  init?(megabytes: Int) {
    guard getuid() == 0,
      (try? FileManager.default.createDirectory(
        atPath: path, withIntermediateDirectories: true)) != nil
    else { return nil }
    if !mount(["-t", "tmpfs", "-o", "size=\(megabytes)m,mode=0777", "tmpfs", path]) {
      try? FileManager.default.removeItem(atPath: path)
      return nil
    }
  }

  /// How much of it is used, rounded up.
  var usedMegabytes: Int {
    get throws {
      let sizes = try FileManager.default.attributesOfFileSystem(forPath: path)
      let size = try #require(sizes[.systemSize] as? NSNumber).intValue
      let free = try #require(sizes[.systemFreeSize] as? NSNumber).intValue
      return (size - free + 1_048_575) / 1_048_576
    }
  }

  /// Fills it up.
  /// - Parameter rest: How many bytes are left.
  func fill(leaving rest: Int) throws {
    let sizes = try FileManager.default.attributesOfFileSystem(forPath: path)
    let free = try #require(sizes[.systemFreeSize] as? NSNumber).intValue
    try Data(count: max(0, free - rest)).write(to: URL(filePath: path + "/filling"))
  }

  func grow(toMegabytes size: Int) -> Bool { mount(["-o", "remount,size=\(size)m", path]) }

  private func mount(_ words: [String]) -> Bool { run("/bin/mount", words) }

  private func run(_ command: String, _ words: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: command)
    process.arguments = words
    process.standardError = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  func remove() {
    _ = run("/bin/umount", [path])
    try? FileManager.default.removeItem(atPath: path)
  }

  /// Has a server put new tables here.
  func take(tablesOf server: TestCluster) throws {
    let place = "\(path)/tables"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: false)
    let attributes = try FileManager.default.attributesOfItem(
      atPath: "\(server.directory ?? "")/data")
    let owner = try #require(attributes[.ownerAccountID] as? NSNumber)
    chown(place, owner.uint32Value, owner.uint32Value)
    let plain = try PlainConnection(server.url)
    try plain.run("CREATE TABLESPACE small LOCATION '\(place)'")
    try plain.run("ALTER ROLE dflat SET default_tablespace = small")
  }

  static let isPossible: Bool = {
    let disk = SmallDisk(megabytes: 1)
    disk?.remove()
    return disk != nil
  }()
}
