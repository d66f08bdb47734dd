// Updates that replace the bytes of rows in place, on disks that fail and fill up.

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
      let first = TemporaryFile(path: template)
      try first.store((1...Self.count).map { Self.post($0, 0) })
      first.dflat.shutdown(flags: .truncate)
      let calls = FailingCalls(template, in: directory, stride: isLongRun ? 3 : 13)
      try calls.run { file in
        let (isCommitted, refused) = Self.move(file, to: 1)
        #expect(!isCommitted || refused == 0)
        return isCommitted
      } check: { file, isCommitted, call in
        let found = file.posts.all().sorted { $0.number < $1.number }
        #expect(found == (1...Self.count).map { Self.post($0, isCommitted ? 1 : 0) }, call)
      } goOn: { file, call in
        #expect(Self.move(file, to: 2) == (true, 0), call)
        let faults = try file.faults()
        #expect(faults == [], call)
      }
    }
  }
}
