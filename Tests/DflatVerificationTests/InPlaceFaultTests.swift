// Updates that replace the bytes of rows in place, on disks that fail and fill up.

import CFaultVFS
import Dflat
import DflatTestSupport
import DflatVerification
import Foundation
import Platform
import SQLiteDflat
import Testing

@Suite("Updates in place on failing disks")
struct InPlaceFaultTests {
  private static let count: Int32 = 60

  /// A row on several pages, of which an update may reach some before a call fails.
  private static func post(_ number: Int32, _ round: Double) -> Post {
    Post(
      site: "s", number: number, place: Blog.Place(lat: round, lon: round),
      author: Blog.Author(handle: "h", name: String(repeating: "n", count: 9000)))
  }

  /// Opens the file with a cache that is smaller than a transaction, so that it writes meanwhile.
  private static func open(_ path: String) -> TemporaryFile {
    TemporaryFile(path: path) { $0.writerCacheSize = 64 << 10 }
  }

  /// Moves all posts, and goes on after errors.
  private static func move(_ file: TemporaryFile, to round: Double) -> (Bool, refused: Int) {
    let refused = Atomic(0)
    do {
      try file.dflat.write(Post.self) { txn in
        for post in file.posts.all() {
          guard let request = Blog.PostChangeRequest.changeRequest(post) else { continue }
          request.place = Blog.Place(lat: round, lon: round)
          do { try txn.submit(request) } catch { refused.add(1, ordering: .relaxed) }
        }
      }
      return (true, refused.load(ordering: .relaxed))
    } catch { return (false, refused.load(ordering: .relaxed)) }
  }

  @Test("Some call fails: all rows are changed, or none, and each is whole")
  func failing() throws {
    try withTemporaryDirectory { directory in
      let template = "\(directory)/template.db"
      let first = Self.open(template)
      try first.store((1...Self.count).map { Self.post($0, 0) })
      first.dflat.shutdown(flags: .truncate)
      var failed = 0
      for mode in LongWorkRun.modes {
        var number = 1 + Int(mode.rawValue) * 7
        while true {
          let place = "\(directory)/\(mode.rawValue)-\(number)"
          try FileManager.default.createDirectory(
            atPath: place, withIntermediateDirectories: true)
          let path = "\(place)/test.db"
          try FileManager.default.copyItem(atPath: template, toPath: path)
          let disk = try FaultDisk(place)
          let file = Self.open(path)
          disk.arm(Int(FAULTVFS_ALL), number: number, mode)
          let (isCommitted, refused) = Self.move(file, to: 1)
          let failures = disk.failures
          disk.disarm()
          _ = file.takeErrors()
          #expect(!isCommitted || refused == 0, "call \(number), mode \(mode.rawValue)")
          // The workspace goes on, and so does another one.
          for other in [file, Self.open(path)] {
            let rounds = Set(other.posts.all().map { $0.place?.lat })
            #expect(
              rounds == [isCommitted ? 1 : 0],
              "call \(number), mode \(mode.rawValue), \(disk.firstFailure)")
            let found = other.posts.all().sorted { $0.number < $1.number }
            #expect(
              found == (1...Self.count).map { Self.post($0, isCommitted ? 1 : 0) },
              "call \(number), mode \(mode.rawValue), \(disk.firstFailure)")
            #expect(other.takeErrors().isEmpty)
          }
          #expect(Self.move(file, to: 2) == (true, 0))
          #expect(try file.faults() == [])
          file.dflat.shutdown()
          try FileManager.default.removeItem(atPath: place)
          if failures == 0 { break }
          failed += isCommitted ? 0 : 1
          number += isLongRun ? 3 : 13
        }
      }
      #expect(failed > 10)
    }
  }
}
