// Objects as values: builders, results in arrays, and data that is no object.

import Dflat
import DflatTestSupport
import Foundation
import Testing

@Suite("Objects as values")
struct ObjectTests {
  @Test("Values, builders and results can be used as the manual says")
  func values() throws {
    let value = Post(site: "s", number: 1, status: nil, likes: nil, tags: nil)
    #expect(value == Post(site: "s", number: 1) && value.status == .published)
    #expect(value.hashValue == Post(site: "s", number: 1).hashValue)
    #expect(Post.from(data: value.toData()) == value)
    var builder = Blog.PostBuilder(from: value)
    builder.tags = ["a"]
    #expect(builder.build().tags == ["a"] && builder.build()._rowid == -1)
    #expect(Post.flatBuffersSchemaVersion == "1.0")
    let result = FetchedResult([value, builder.build()])
    #expect(result[0] == value && result[0...1].count == 2 && result.underlyingArray.count == 2)
    #expect(result == FetchedResult([value, builder.build()]))
    #expect("\(result)" == "\(result.underlyingArray)")
    #expect(Post.likes.ascending.name == "f10" && Post.author.handle.descending.name == "f14__f4")
    let key = Post.likes.descending
    #expect(key.sortingOrder == .descending)
    #expect(key.areInSortingOrder(post(1, likes: 1), post(1, likes: 2)) == .ascending)
    #expect(
      [3, 1].firstIndex(of: Post.likes).areInSortingOrder(post(1, likes: 3), post(1, likes: 1))
        == .ascending)
    #expect(value.id == post(1).id || value.site == "s")
  }

  @Test(
    "Data that fails verification gives an object with every field at its default")
  func fromData() {
    for bytes in [[], [0], Array(repeating: 0xFF, count: 64), Array("text".utf8)] as [[UInt8]] {
      let post = Post.from(data: .init(bytes))
      #expect(post == Post(site: "", number: 0))
    }
  }
}
