// Imports that end with their process, and the imports after them.

import DflatTestSupport
import Foundation
import Platform
import SQLiteDflat
import Testing

@testable import DflatTools

@Suite("An import that is killed")
struct KilledImportTests {
  /// Two batches, the second one smaller.
  private static let count = 6000
  private static let batch = 5000

  private static let input = Data(
    (1...count).map { number in
      #"{"site":"m","number":\#(number),"tags":["tag \#(number % 7)"],"attachment_type":"Photo","#
        + #""attachment":{"path":"path \#(number)"}}"# + "\n"
    }.joined().utf8)

  /// When a process ends.
  private enum Moment: Codable, CustomStringConvertible {
    /// When so many bytes were read.
    case input(Int)
    /// After so many batches.
    case batches(Int)
    /// Soon after the file or its log has a size.
    case fileSize(Int)

    var description: String {
      switch self {
      case .input(let bytes): "after \(bytes) bytes of input"
      case .batches(let count): "after \(count) batches"
      case .fileSize(let bytes): "with a file of \(bytes) bytes"
      }
    }
  }

  private static func job(_ path: String, _ isOneTransaction: Bool) throws -> Import {
    var job = try Import(into: path, type: "Post", schemas: [schemaPath("blog")])
    job.isOneTransaction = isOneTransaction
    return job
  }

  /// Imports, and ends the process at a moment.
  private static func runUntil(_ moment: Moment, _ path: String, _ isOneTransaction: Bool) throws {
    if case .fileSize(let bytes) = moment {
      Thread.detachNewThread {
        while greatestFile(path) < bytes { usleep(50) }
        kill(getpid(), SIGKILL)
      }
    }
    let portion = portions(of: input, 10_000)
    var (bytes, batches) = (0, 0)
    _ = try job(path, isOneTransaction).run(
      reading: {
        let part = try portion()
        bytes += part?.count ?? 0
        if case .input(let limit) = moment, bytes >= limit { kill(getpid(), SIGKILL) }
        return part
      },
      progress: { _ in
        batches += 1
        if case .batches(batches) = moment { kill(getpid(), SIGKILL) }
      })
    kill(getpid(), SIGKILL)
  }

  /// The size of the file or of its log, whichever is greater.
  private static func greatestFile(_ path: String) -> Int {
    ["", "-wal"].reduce(0) { greatest, suffix in
      var status = stat()
      return stat(path + suffix, &status) == 0 ? max(greatest, Int(status.st_size)) : greatest
    }
  }

  /// The greatest size while an import runs undisturbed.
  private func greatestFile(_ path: String, _ isOneTransaction: Bool) throws -> Int {
    var greatest = 0
    let report = try Self.job(path, isOneTransaction).run(
      reading: portions(of: Self.input, 100_000),
      progress: { _ in greatest = max(greatest, Self.greatestFile(path)) })
    #expect(report.inserted == Self.count)
    return max(greatest, Self.greatestFile(path))
  }

  @Test(
    "Each batch is there or not, and the next import has the rest", .endsSometime,
    arguments: [false, true])
  func killed(isOneTransaction: Bool) async throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let all = try greatestFile("\(directory)/reference.db", isOneTransaction)
    let parts = isLongRun ? 40 : 2
    var moments = (1..<parts).map { Moment.fileSize(all * $0 / parts) }
    moments += [.input(Self.input.count / 4), .batches(1)]
    if isLongRun { moments += [.input(Self.input.count), .batches(2)] }
    var counts: Set<Int> = []
    for (place, moment) in moments.enumerated() {
      let path = "\(directory)/\(place).db"
      await #expect(processExitsWith: .signal(SIGKILL), "\(moment)") {
        [moment = moment as Moment, path = path as String, one = isOneTransaction as Bool] in
        try Self.runUntil(moment, path, one)
      }
      let count = try stored(path)
      counts.insert(count)
      let isWhole = isOneTransaction ? count == 0 : count.isMultiple(of: Self.batch)
      #expect(isWhole || count == Self.count, "\(count) \(moment)")
      let again = try Self.job(path, isOneTransaction).run(reading: portions(of: Self.input, 9999))
      #expect(again.problems.isEmpty, "\(moment)")
      #expect(again.unchanged == count && again.inserted == Self.count - count, "\(moment)")
      #expect(try stored(path) == Self.count, "\(moment)")
    }
    // Otherwise the moments are no good ones.
    #expect(counts.contains(0))
    #expect(isOneTransaction || counts.contains(Self.batch), "\(counts)")
  }

  /// How many objects a file has. They are the first ones of the input, and the file is sound.
  private func stored(_ path: String) throws -> Int {
    // Killed before the file was made.
    guard FileManager.default.fileExists(atPath: path) else { return 0 }
    let file = TemporaryFile(path: path)
    defer { file.dflat.shutdown() }
    let posts = file.posts.all()
    #expect(posts.map { Int($0.number) }.sorted() == Array(1..<(posts.count + 1)))
    for post in posts {
      #expect(post.attachment == .photo(Blog.Photo(path: "path \(post.number)")))
    }
    let checked = try DataFile.open(path)
    defer { checked.close() }
    #expect(try checked.check().findings.map(\.message) == [])
    return posts.count
  }
}
