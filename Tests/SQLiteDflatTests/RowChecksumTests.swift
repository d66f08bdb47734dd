// Checksums of rows: a changed bit is reported, other readers do not see them, and they come and
// go.

import CSQLiteThreads
import Dflat
import DflatTestSupport
import Foundation
import MemoryDflat
import SQLiteAccess
import SQLiteDflat
import Testing

@Suite("Checksums of rows")
struct RowChecksumTests {
  private static let table = Post._schema.table

  private func posts() -> [Post] {
    (1...6).map { post($0, likes: $0, photo: "\($0)") }
  }

  private func named(_ name: String, _ number: Int32, likes: Int32 = 0) -> Post {
    Post(site: "s", number: number, likes: likes, author: Blog.Author(handle: "h", name: name))
  }

  private func withChecksums<R>(_ body: (TemporaryFile) throws -> R) throws -> R {
    try withTemporaryFile(configure: { $0.rowChecksums = true }, body)
  }

  /// The stored bytes of the posts, by row.
  private func stored(_ file: TemporaryFile) throws -> [[UInt8]] {
    let connection = try file.foreignConnection()
    defer { try? connection.close() }
    return try connection.rows("SELECT p FROM \(Self.table) ORDER BY rowid")
      .map { try #require($0[0].blob) }
  }

  /// The CRC-32C of RFC 3720, bit by bit.
  private func slowChecksum(_ bytes: some Sequence<UInt8>) -> UInt32 {
    var crc = UInt32.max
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82F6_3B78 : crc >> 1 }
    }
    return ~crc
  }

  @Test("The checksum is CRC-32C, by instructions and by the table")
  func algorithm() {
    // The check value of the algorithm, and the examples of RFC 3720.
    let examples: [([UInt8], UInt32)] = [
      (Array("123456789".utf8), 0xE306_9283), (Array(repeating: 0, count: 32), 0x8A91_36AA),
      (Array(repeating: 0xFF, count: 32), 0x62A8_AB43), (Array(0..<32), 0x46DD_794E),
    ]
    for (bytes, checksum) in examples {
      #expect(csqlite_crc32c(bytes, bytes.count) == checksum)
      #expect(csqlite_crc32c_by_table(bytes, bytes.count) == checksum)
    }
    var random = SeededGenerator(seed: 4)
    let bytes = (0..<200).map { _ in UInt8.random(in: 0...255, using: &random) }
    for count in bytes.indices {
      // From odd addresses, too.
      for start in 0...min(9, count) {
        let part = Array(bytes[start..<count])
        bytes.withUnsafeBytes { all in
          let address = all.baseAddress.map { $0 + start }
          #expect(csqlite_crc32c(address, part.count) == slowChecksum(part))
        }
      }
    }
  }

  @Test("A row is followed by its checksum and the mark, whatever its size")
  func format() throws {
    try withChecksums { file in
      let texts = [1, 100, 4090, 4100, 20_000, 200_000].map { String(repeating: "x", count: $0) }
      try file.store(texts.enumerated().map { named($1, Int32($0 + 1)) })
      for bytes in try stored(file) {
        let content = bytes.dropLast(5)
        #expect(content.count % 4 == 0 && bytes.last == 0xC3)
        let checksum = slowChecksum(content)
        let stored = bytes.suffix(5).prefix(4).reversed().reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        #expect(stored == checksum)
      }
      #expect(file.posts.all().map(\.author?.name) == texts)
    }
  }

  @Test("Each changed bit of a row is reported by every way of reading it")
  func flippedBits() throws {
    try withChecksums { file in
      try file.store(posts())
      let connection = try file.foreignConnection()
      defer { try? connection.close() }
      let bytes = try stored(file)[1]
      func put(_ bytes: [UInt8]) throws {
        try connection.execute(
          "UPDATE \(Self.table) SET p = ? WHERE rowid = 2", [.blob(bytes)])
      }
      for place in bytes.indices {
        var damaged = bytes
        damaged[place] ^= 1 << UInt8(place % 8)
        try put(damaged)
        func expectReported(_ what: String, _ numbers: [Int32]) {
          #expect(numbers == [1, 3, 4, 5, 6], "\(what), byte \(place)")
          let errors = file.takeErrors()
          #expect(
            errors.first?.cause == .corruptRow && errors.first?.rowid == 2
              && errors.first?.table == Self.table
              && errors.first?.message == "the checksum is not that of the bytes",
            "\(what), byte \(place): \(errors)")
        }
        expectReported("all", file.posts.all().map(\.number))
        // It evaluates each row, and so meets the flipped fields.
        expectReported("where", file.posts.where(Post.isPinned == false).map(\.number))
        let key = file.posts.where(Post.site == "s" && Post.number == 2)
        expectReported("key", key.map(\.number) + [1, 3, 4, 5, 6])
        if place % 16 == 0 {
          expectReported(
            "sorted", file.posts.all(orderBy: [Post.isPinned.ascending]).map(\.number).sorted())
          var found: [Int32] = []
          try file.write([Post.self]) { _ in found = file.posts.all().map(\.number) }
          expectReported("in a transaction", found)
          let count = try file.dflat.query(Post.self).where(Post.isPinned == false).count()
          expectReported("count", count == 5 ? [1, 3, 4, 5, 6] : [])
        }
      }
      try put(bytes)
      #expect(file.posts.all().count == 6)
    }
  }

  /// A post as a program may lay it out from front to back, with the text at the end and no padding
  /// behind it.
  private func layOut(site: String, _ number: Int32, likes: Int32) -> [UInt8] {
    func bytes(_ value: some FixedWidthInteger) -> [UInt8] {
      withUnsafeBytes(of: value.littleEndian) { [UInt8]($0) }
    }
    let table = [12, 16, 4, 8, 0, 12].flatMap { bytes(UInt16($0)) }
    return bytes(UInt32(16)) + table + bytes(Int32(12)) + bytes(UInt32(12)) + bytes(number)
      + bytes(likes) + bytes(UInt32(site.utf8.count)) + site.utf8 + [0]
  }

  @Test("A buffer of any size is an object, also of 4n + 1 bytes", arguments: [false, true])
  func sizes(isOn: Bool) throws {
    try withTemporaryFile(configure: { $0.rowChecksums = isOn }) { file in
      try file.store([post(1)])
      let sites = (0...8).map { String(repeating: "a", count: $0) }
      for (index, site) in sites.enumerated() {
        let bytes = layOut(site: site, 3, likes: Int32(index))
        try file.tamper(
          "INSERT INTO \(Self.table) (__pk0, __pk1, p) VALUES (?, 3, ?)",
          [.text(site), .blob(bytes)])
      }
      func expectAll() throws {
        #expect(file.posts.where(Post.number == 3).map(\.site) == sites)
        for (index, site) in sites.enumerated() {
          #expect(file.dflat.find(Post.self, (site, 3))?.likes == Int32(index))
        }
        #expect(file.posts.where(Post.likes > 3).map(\.site) == Array(sites[4...]))
        #expect(try file.dflat.query(Post.self).where(Post.likes > 3).sum(Post.likes) == 30)
        #expect(file.takeErrors().isEmpty)
      }
      try expectAll()
      // Indexes are filled, and objects that have not changed are written.
      try file.dflat.write(Post.self) { txn in
        for post in file.posts.all() { _ = try txn.upsert(post) }
      }
      try file.settle()
      try expectAll()
      for likes in [40, 4] as [Int32] {
        try file.dflat.write(Post.self) { txn in
          _ = try txn.update(Post(site: "aaaa", number: 3)) { $0.likes = likes }
        }
        #expect(file.dflat.find(Post.self, ("aaaa", 3))?.likes == likes)
      }
      try expectAll()
      // Where nothing needs the last byte, it is what a damaged checksum has left.
      let damaged = layOut(site: "aaa", 3, likes: 3) + [0, 0, 0, 0, 0]
      try file.tamper("UPDATE \(Self.table) SET p = ? WHERE __pk0 = 'aaa'", [.blob(damaged)])
      #expect(file.dflat.find(Post.self, ("aaa", 3)) == nil)
      #expect(file.takeErrors().map(\.cause) == [.corruptRow])
    }
  }

  @Test("A damaged length or a missing end is no sound row")
  func wrongLengths() throws {
    try withChecksums { file in
      try file.store(posts())
      let bytes = try stored(file)[1]
      let damaged: [[UInt8]] = [
        [0], [0xC3], Array(bytes.suffix(5)), bytes.dropLast(5) + [0, 0, 0, 0, 0],
        bytes.dropLast() + [0], bytes + [0, 0, 0, 0], bytes + bytes.suffix(4),
        Array(repeating: 0, count: bytes.count),
      ]
      for bytes in damaged {
        try file.tamper("UPDATE \(Self.table) SET p = ? WHERE rowid = 2", [.blob(bytes)])
        #expect(file.posts.all().map(\.number) == [1, 3, 4, 5, 6])
        let errors = file.takeErrors()
        #expect(errors.map(\.cause) == [.corruptRow], "\(bytes.suffix(8))")
      }
    }
  }

  @Test("Rows with and without checksums are one type, while they are turned on and off")
  func onAndOff() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try withSeed { random in
      let path = "\(directory)/\(UInt32.random(in: 0 ... .max, using: &random)).db"
      var model: [Int32: Post] = [:]
      var sealed: Set<Int32> = []
      for round in 0..<6 {
        let isOn = round % 2 == 1
        let file = TemporaryFile(path: path) { $0.rowChecksums = isOn }
        func touch(_ number: Int32) {
          if isOn { sealed.insert(number) } else { sealed.remove(number) }
        }
        for _ in 0..<4 {
          let steps = (0..<random.pick([1, 3, 12])).map { _ in
            // 4 removes; others change in place, beside an index, and anew.
            (
              number: Int32.random(in: 1...30, using: &random),
              kind: random.pick([0, 0, 0, 1, 2, 4])
            )
          }
          try file.write([Post.self]) { txn in
            for (number, kind) in steps {
              guard let known = model[number] else {
                let new = named("n", number, likes: 1)
                try txn.submit(Blog.PostChangeRequest.creationRequest(new))
                model[number] = new
                touch(number)
                continue
              }
              if kind == 4 {
                let request = try #require(Blog.PostChangeRequest.deletionRequest(known))
                try txn.submit(request)
                model[number] = nil
                sealed.remove(number)
                continue
              }
              let request = try #require(Blog.PostChangeRequest.changeRequest(known))
              switch kind {
              case 0: request.place = Blog.Place(lat: Double(round) + 1, lon: 2)
              case 1: request.likes += 1
              default: request.author = Blog.Author(handle: "h", name: "round \(round)")
              }
              // What has the value already is not written.
              guard case .updated(let new) = try txn.submit(request) else { continue }
              if new != known { touch(number) }
              model[number] = new
            }
          }
        }
        let expected = model.values.sorted { $0.number < $1.number }
        #expect(file.posts.all(orderBy: [Post.number.ascending]).map { $0 } == expected)
        #expect(
          file.posts.where(Post.likes > 1).map(\.number).sorted()
            == expected.filter { $0.likes > 1 }.map(\.number))
        let connection = try file.foreignConnection()
        let rows = try connection.rows(
          "SELECT __pk1 FROM \(Self.table) WHERE length(p) % 4 = 1 ORDER BY 1")
        #expect(rows.compactMap { $0[0].integer.map { Int32($0) } } == sealed.sorted())
        try connection.close()
        #expect(try file.faults(complete: false) == [])
        #expect(file.takeErrors().isEmpty)
        file.dflat.shutdown()
      }
    }
  }

  @Test("Objects that are read, copied and compared have no checksums")
  func objects() async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let file = TemporaryFile(path: "\(directory)/a.db") { $0.rowChecksums = true }
    let plain = TemporaryFile(path: "\(directory)/b.db") { $0.rowChecksums = false }
    let memory = MemoryWorkspace()
    try file.store(posts())
    try await file.dflat.copy(Post.self, to: plain.dflat)
    try await file.dflat.copy(Post.self, to: memory)
    let stored = file.posts.all().map { $0 }
    #expect(stored == posts())
    #expect(plain.posts.all().map { $0 } == stored)
    #expect(memory.fetch(for: Post.self).all().map { $0 } == stored)
    #expect(try self.stored(plain).allSatisfy { $0.count % 4 == 0 })
    let views = try file.foreignConnection()
    try views.createView(of: Post.self)
    #expect(try views.rows("SELECT number FROM Post WHERE _problem IS NULL").count == 6)
    try file.tamper("UPDATE \(Self.table) SET p = CAST(p || x'' AS BLOB) WHERE rowid = 1")
    try file.tamper(
      "UPDATE \(Self.table) SET p = CAST(substr(p, 1, length(p) - 1) || x'00' AS BLOB) "
        + "WHERE rowid = 2")
    #expect(
      try views.rows("SELECT _rowid, _problem FROM Post WHERE _problem IS NOT NULL")
        == [[.integer(2), .text("the checksum is not that of the bytes")]])
    let findings = try await file.dflat.checkIntegrity(of: Post.self)
    #expect(findings.map(\.kind) == [.damagedRow] && findings.first?.rowid == 2)
    #expect(findings.first?.message == "the checksum is not that of the bytes")
    _ = file.takeErrors()
    try views.close()
    await file.dflat.shutdown()
    await plain.dflat.shutdown()
    await memory.shutdown()
  }

  @Test("Texts of a damaged object do not go into an index that is built")
  func indexes() async throws {
    try await withTemporaryFileAsync { file in
      try file.store((1...20).map { post($0, likes: 7) })
      try file.tamper("DROP TABLE \(Self.table)__f10")
      var bytes = try stored(file)[4]
      bytes[bytes.count / 2] ^= 1
      try file.tamper("UPDATE \(Self.table) SET p = ? WHERE rowid = 5", [.blob(bytes)])
      try await file.dflat.indexesReady(for: Post.self)
      #expect(file.posts.where(Post.likes == 7).count == 19)
      let findings = try await file.dflat.checkIntegrity(of: Post.self)
      #expect(findings.map(\.kind) == [.damagedRow], "\(findings)")
      _ = file.takeErrors()
    }
  }

  private func withTemporaryFileAsync(_ body: (TemporaryFile) async throws -> Void) async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let file = TemporaryFile(path: "\(directory)/test.db") { $0.rowChecksums = true }
    try await body(file)
    await file.dflat.shutdown()
  }
}
