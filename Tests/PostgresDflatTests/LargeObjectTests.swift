// Objects with many bytes: what is in memory at the same time, and what the server does not take.

import Dflat
import DflatTestSupport
import PostgresTestSupport
import Testing

@testable import PostgresDflat

@Suite("Large objects on a server")
struct LargeObjectTests {
  private static let megabyte = String(repeating: "0123456789abcdef", count: 1 << 16)

  /// A workspace with 40 posts of a megabyte.
  private func withLargePosts(
    _ body: (PostgresWorkspace, _ schema: String) async throws -> Void
  ) async throws {
    try await withSchema { schema in
      let dflat = postgresWorkspace(schema: schema)
      for number in 0..<40 as Range<Int32> {
        try await dflat.write(Post.self) {
          try $0.insert(post(number, likes: number, photo: "\(number) \(Self.megabyte)"))
        }
      }
      try await body(dflat, schema)
      await dflat.shutdown()
    }
  }

  @Test("A step that fills columns ends when its objects are large together")
  func steps() async throws {
    try await withLargePosts { dflat, schema in
      let server = try PlainConnection()
      try server.run(
        """
        UPDATE "\(schema)".blog__post_v1_0 SET f10 = NULL; \
        UPDATE "\(schema)"._dflat_columns SET complete = false, reach = -1 WHERE col = 'f10'; \
        UPDATE "\(schema)"._dflat_state SET version = version + 1; \
        CREATE TABLE "\(schema)".reaches (reach bigint); \
        CREATE FUNCTION "\(schema)".note() RETURNS trigger LANGUAGE plpgsql AS \
        'BEGIN INSERT INTO "\(schema)".reaches VALUES (NEW.reach); RETURN NULL; END'; \
        CREATE TRIGGER note AFTER UPDATE ON "\(schema)"._dflat_columns \
        FOR EACH ROW EXECUTE FUNCTION "\(schema)".note()
        """)
      try await dflat.indexesReady(for: Post.self)
      let steps = try server.run("SELECT count(*) FROM \"\(schema)\".reaches")
      #expect(steps == [["3"]], "steps of 16 MB")
      for likes in [0, 15, 39] as [Int32] {
        let found = dflat.fetch(for: Post.self).where(Post.likes == likes)
        #expect(found.map(\.number) == [likes])
      }
    }
  }

  /// Notes how many rows are asked for.
  private final class FetchSizes: ProxyFilter {
    let log = Log<Int>()

    func fromClient(_ message: ProxyMessage, _ connection: ProxyConnection) -> ProxyMessage? {
      let words = String(decoding: message.body, as: UTF8.self).split(separator: " ")
      if message.type == UInt8(ascii: "P"), words.first?.hasSuffix("FETCH") == true,
        let size = Int(words[1])
      {
        log.add(size)
      }
      return message
    }
  }

  @Test("The larger objects are, the fewer are fetched at a time")
  func portions() async throws {
    try await withLargePosts { _, schema in
      let sizes = FetchSizes()
      let proxy = try ServerProxy { sizes }
      defer { proxy.close() }
      let dflat = postgresWorkspace(schema: schema, through: proxy)
      for _ in 1...2 {
        #expect(dflat.fetch(for: Post.self).all().map(\.number) == Array(0..<40))
      }
      let fetched = sizes.log.events
      #expect(fetched.count > 20 && fetched[0] <= 16, "\(fetched)")
      #expect(fetched.dropFirst().allSatisfy { $0 <= 4 }, "\(fetched)")
      await dflat.shutdown()
    }
  }

  @Test("Values that are too large for a message are refused before they are sent")
  func tooLarge() throws {
    let parameters = Parameters()
    let memory = UnsafeMutableRawPointer.allocate(byteCount: 1, alignment: 1)
    defer { memory.deallocate() }
    for count in [(1 << 30) - (1 << 20) + 1, 1 << 31, 1 << 40] {
      parameters.begin(1)
      // Only their number is looked at.
      parameters.set(0, inPlace: UnsafeRawBufferPointer(start: memory, count: count))
      let error = try #require(throws: PostgresError.self) {
        try parameters.checkSize(for: "SELECT $1")
      }
      #expect(!error.isConnectionLost && error.message.contains("\(count) bytes"))
      let failure = StorageError(error, table: "post", isWriting: true)
      #expect(failure.cause == .other && failure.recoverySuggestion?.contains("in parts") == true)
    }
    parameters.begin(1)
    try parameters.checkSize(for: "SELECT $1")
  }
}
