// The strings of a primary key are in every row that is written, even if they are empty: upstream's
// readers require them.

import Dflat
import DflatTestSupport
import FlatBuffersRuntime
import Foundation
import Testing

@Suite("Strings of primary keys")
struct KeyTextTests {
  /// The bytes of a post as older versions wrote it: without a site.
  private func oldPost(number: Int32, likes: Int32, url: String? = nil) -> Data {
    let builder = FlatBufferBuilder()
    var link = FlatBufferBuilder.Offset.none
    if let url {
      let text = builder.string(url)
      builder.startTable(slotCount: 1)
      builder.add(text, at: 4)
      link = builder.endTable()
    }
    builder.startTable(slotCount: 11)
    builder.add(number, at: 6, default: 0)
    builder.add(likes, at: 10, default: 0)
    builder.add(link, at: 20)
    if url != nil { builder.add(UInt8(1), at: 18, default: 0) }
    builder.finish(builder.endTable())
    return Data(builder.bytes)
  }

  private func hasSite(_ data: Data) -> Bool {
    [UInt8](data).withUnsafeBytes { TableReader(root: $0)?.contains(4) == true }
  }

  @Test("Builders, finished buffers and decoded objects contain them", arguments: TestEngine.all)
  func buffers(engine: TestEngine) throws {
    let old = oldPost(number: 3, likes: 3, url: "u")
    #expect(!hasSite(old))
    #expect(hasSite(try Post(verifying: old).toData()))
    #expect(try Post(verifying: old).toData() == Post(verifying: old).toData())
    #expect(hasSite(Blog.PostBuilder(from: try Post(verifying: old)).build().toData()))
    #expect(hasSite(Post(site: "", number: 0).toData()))
    #expect(hasSite(Post.from(data: Data([1, 2, 3])).toData()))
    let decoded = try JSONDecoder().decode(
      Post.self, from: Data(#"{"site": "", "number": 4}"#.utf8))
    #expect(hasSite(decoded.toData()))
    #expect(try Post(verifying: Post(verifying: old).toData()) == Post(verifying: old))
  }
}
