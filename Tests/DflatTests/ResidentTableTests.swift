// The rows of a type in memory, by the values of fields: what changes do to rows with one value.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("Rows in memory by the values of fields")
struct ResidentTableTests {
  /// Where the rows with a value are in memory.
  private func place(_ posts: Resident<Post>, likes: Int32) -> UnsafeRawPointer? {
    posts.table.rows(Post.likes._field.descriptor, .integer(Int64(likes)))
      .withUnsafeBytes(\.baseAddress)
  }

  @Test("A row that keeps its value is replaced in its place: nothing copies those beside it")
  func keeping() async throws {
    try await withTemporaryWorkspace { workspace in
      try workspace.store((1...100).map { post($0, likes: 1, photo: "\($0).jpg") })
      let posts = try await workspace.dflat.resident(Post.self)
      let before = place(posts, likes: 1)
      for number in [50, 1, 100] as [Int32] {
        try workspace.change(number) { $0.attachment = nil }
      }
      #expect(before != nil && place(posts, likes: 1) == before)
      #expect(posts.objects(where: Post.likes, is: 1).map(\.number) == Array(1...100))
      #expect(posts.objects(where: Post.likes, is: 1).filter { $0.attachment == nil }.count == 3)
    }
  }

  @Test("One transaction changes, removes and adds many rows with one value")
  func many() async throws {
    try await withTemporaryWorkspace { workspace in
      try workspace.store((1...100).map { post($0, likes: $0 % 2) })
      let posts = try await workspace.dflat.resident(Post.self)
      func numbers(_ likes: Int32) -> [Int32] {
        posts.objects(where: Post.likes, is: likes).map(\.number)
      }
      #expect(numbers(0).count == 50 && numbers(1).count == 50)
      try await workspace.dflat.write(Post.self) { txn in
        for number in 1...60 as ClosedRange<Int32> where number % 3 == 0 {
          try txn.update(post(number)) { $0.likes = 5 }
        }
        for number in 61...70 as ClosedRange<Int32> { try txn.delete(post(number)) }
        for number in 101...110 as ClosedRange<Int32> { try txn.insert(post(number, likes: 5)) }
      }
      let all = workspace.posts.all().map(\.self)
      for likes in [0, 1, 5] as [Int32] {
        #expect(numbers(likes) == all.filter { $0.likes == likes }.map(\.number))
      }
      let fives = numbers(5)
      try await workspace.dflat.write(Post.self) { txn in
        for number in fives { try txn.update(post(number)) { $0.likes = 6 } }
      }
      #expect(numbers(5).isEmpty && numbers(6).count == 30)
    }
  }
}
