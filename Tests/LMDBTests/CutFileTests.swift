// Files that were cut short before they are opened: an error, never a signal. Files that lack pages
// which nothing uses are opened.

import DflatTestSupport
import Foundation
import Testing

@testable import LMDB

@Suite("Files that were cut short")
struct CutFileTests {
  /// Entries of both databases, in order.
  private struct Contents: Equatable {
    var words: [String] = []
    var lists: [String] = []
  }

  private func open(_ url: URL, locking: Bool = true) throws -> Environment {
    try Environment(url: url, maxDatabases: 2, locking: locking, mapSize: .growing(from: 64 << 20))
  }

  /// Reads everything in a directory, and writes to it.
  private func use(_ url: URL, locking: Bool = true) throws -> Contents {
    let environment = try open(url, locking: locking)
    var contents = Contents()
    try Transaction.with(env: environment, readOnly: true) { transaction in
      func read(_ dbi: MDB_dbi) throws -> [String] {
        try "".withMDBVal { start in
          let query = Query(comparison: .greaterOrEqual(nil), key: start)
          var entries: [String] = []
          var cursor = try Cursor(transaction: transaction, dbi: dbi, query: query)
          while let (key, value) = try cursor.advance() {
            entries.append("\(String(mdbVal: key) ?? "") \(String(mdbVal: value) ?? "")")
          }
          return entries
        }
      }
      if let words = try transaction.openIfPresent(name: "words") {
        contents.words = try read(words)
      }
      if let lists = try transaction.openIfPresent(name: "lists") {
        contents.lists = try read(lists)
      }
    }
    for key in ["new", "newer"] {
      try Transaction.with(env: environment) { transaction in
        let words = try transaction.open(name: "words")
        let lists = try transaction.openWithDuplicates(name: "lists")
        for number in 0..<20 {
          try transaction.set(dbi: words, key: "\(key)\(number)", value: text(number * 500))
          try transaction.set(dbi: lists, key: "0", value: "\(key)\(number)")
        }
      }
    }
    return contents
  }

  private func text(_ count: Int) -> String { String(repeating: "x", count: count) }

  /// Makes an environment with large values, a free list, and lists in leaves and in trees.
  private func fill(_ url: URL) throws {
    let environment = try open(url)
    for round in 0..<2 {
      try Transaction.with(env: environment) { transaction in
        let words = try transaction.open(name: "words")
        let lists = try transaction.openWithDuplicates(name: "lists")
        for number in 0..<80 {
          let size = number % 10 == 0 ? 9_000 * round : 50 + round
          try transaction.set(dbi: words, key: "\(number)", value: text(size))
        }
        for number in 0..<(100 * (round + 1)) {
          try transaction.set(dbi: lists, key: "\(number % 3)", value: "\(number) \(text(60))")
        }
        try transaction.set(dbi: lists, key: "few", value: "\(round)")
      }
    }
  }

  @Test(
    "A cut file is refused or complete, at whatever place it was cut", arguments: [true, false])
  func cut(locking: Bool) throws {
    try withTemporaryDirectory { url in
      let (whole, cut) = (url.appending(path: "whole"), url.appending(path: "cut"))
      for directory in [whole, cut] {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      }
      try fill(whole)
      let bytes = try Data(contentsOf: whole.appending(path: "data.mdb"))
      let contents = try use(whole)
      #expect(contents.words.count == 80 && contents.lists.count == 202)
      let page = Int(getpagesize())
      var sizes = [1, 100, 151, 152, page - 1, page + 151, page + 152, 2 * page - 1]
      for start in stride(from: page, to: bytes.count, by: page) {
        sizes += [start, start + 1 + start % 1_000]
      }
      sizes += [bytes.count - 1, bytes.count, bytes.count + 1, bytes.count + 3 * page]
      var refused = 0
      let data = cut.appending(path: "data.mdb")
      for size in sizes {
        try (bytes.prefix(size) + Data(count: max(0, size - bytes.count))).write(to: data)
        do {
          #expect(try use(cut, locking: locking) == contents, "\(size) bytes")
          #expect(size >= bytes.count - page, "\(size) of \(bytes.count) bytes")
        } catch let error as MDBError {
          refused += 1
          #expect(size < bytes.count)
          #expect(error.recoverySuggestion?.contains("restore") == true, "\(error)")
          if size >= page + 152 {
            let text = error.description
            #expect(text.contains("'\(data.path)' was cut short: it has \(size) bytes"), "\(text)")
            #expect(text.contains("needs at least"), "\(text)")
          }
        }
      }
      #expect(refused > sizes.count - 20)
    }
  }

  @Test("An environment that was refused cannot be used")
  func refused() throws {
    try withTemporaryDirectory { url in
      try fill(url)
      let data = url.appending(path: "data.mdb")
      try Data(contentsOf: data).prefix(20_000).write(to: data)
      let environment = try Environment()
      try environment.setMaxDatabases(2)
      #expect(throws: MDBError.failure(-30796, "")) { try environment.open(path: url.path) }
      #expect(throws: MDBError.failure(Int(EINVAL), "")) { try Transaction(env: environment) }
    }
  }

  @Test("A file is opened that lacks pages which a transaction took and freed again")
  func unwrittenPages() throws {
    try withSeed { random in
      var (rounds, short) = (0, 0)
      // About one file in seven lacks pages.
      while rounds < (isLongRun ? 400 : 12) || short == 0 && rounds < 200 {
        rounds += 1
        try withTemporaryDirectory { url in
          let environment = try open(url)
          var model: [String: Int] = [:]
          for _ in 0..<Int.random(in: 1...6, using: &random) {
            try Transaction.with(env: environment) { transaction in
              let words = try transaction.open(name: "words")
              let lists = try transaction.openWithDuplicates(name: "lists")
              for _ in 0..<Int.random(in: 1...60, using: &random) {
                let key = "\(Int.random(in: 0..<60, using: &random))"
                switch Int.random(in: 0..<6, using: &random) {
                case 0...2:
                  let size = Int.random(in: 0..<12_000, using: &random)
                  try transaction.set(dbi: words, key: key, value: text(size))
                  model[key] = size
                case 3:
                  if model.removeValue(forKey: key) != nil {
                    try transaction.delete(dbi: words, key: key)
                  }
                case 4:
                  let size = Int.random(in: 0..<200, using: &random)
                  try transaction.set(dbi: lists, key: "\(key.count)", value: key + text(size))
                default: try? transaction.delete(dbi: lists, key: "\(key.count)")
                }
              }
              // Pages that are emptied again by the same transaction.
              let count = Int.random(in: 0...300, using: &random)
              for number in 0..<count {
                try transaction.set(dbi: words, key: "more \(number)", value: text(200))
              }
              for number in 0..<count { try transaction.delete(dbi: words, key: "more \(number)") }
            }
          }
          let file = try FileHandle(forReadingFrom: url.appending(path: "data.mdb"))
          let meta = try MetaPage(file: file.fileDescriptor)
          if UInt(try file.seekToEnd()) / UInt(meta.pageSize) <= meta.lastPage { short += 1 }
          let second = url.appending(path: "second")
          try FileManager.default.createDirectory(at: second, withIntermediateDirectories: true)
          try FileManager.default.copyItem(
            at: url.appending(path: "data.mdb"), to: second.appending(path: "data.mdb"))
          let words = try use(second).words
          let expected = model.keys.sorted().map { "\($0) \(text(model[$0] ?? 0))" }
          #expect(words == expected, "DFLAT_SEED=\(random.seed)")
          let last = Int.random(in: 1...4, using: &random) * Int(getpagesize())
          try Data(contentsOf: url.appending(path: "data.mdb")).dropLast(last)
            .write(to: second.appending(path: "data.mdb"))
          do {
            #expect(try use(second).words == expected, "DFLAT_SEED=\(random.seed)")
          } catch is MDBError {}
        }
      }
      #expect(short > 0, "no file lacked a page, DFLAT_SEED=\(random.seed)")
    }
  }
}
