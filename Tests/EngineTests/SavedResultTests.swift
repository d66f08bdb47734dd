// Results in files, which are read before a database is open.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Saved results")
struct SavedResultTests {
  @Test("A result is read as it was saved", arguments: TestEngine.all)
  func roundTrip(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      try workspace.store((1...50).map { post($0, likes: -$0, photo: "\($0)") })
      try withTemporaryPath { file in
        let result = workspace.posts.all(orderBy: [Post.likes.ascending])
        try result.save(to: file)
        let read = try FetchedResult<Post>(contentsOf: file)
        #expect(read == result && read.first?._rowid == -1)
        try FetchedResult<Post>([]).save(to: file)
        #expect(try FetchedResult<Post>(contentsOf: file).isEmpty)
        let directory = file.deletingLastPathComponent().path
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 1)
        #expect(throws: CocoaError.self) {
          try FetchedResult<Post>(contentsOf: file.appendingPathExtension("x"))
        }
      }
      // What was read is found by its key.
      _ = try workspace.write([Post.self]) { _ in
        let request = Blog.PostChangeRequest.changeRequest(post(7))
        #expect(request?.likes == -7)
      }
    }
  }
}
