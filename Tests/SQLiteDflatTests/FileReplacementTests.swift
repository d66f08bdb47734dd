// Putting a file in the place of another one, while a program has that open.

import DflatTestSupport
import Dispatch
import Foundation
import Platform
import SQLiteAccess
import Testing

@testable import SQLiteDflat

@Suite("A file that takes the place of another one")
struct FileReplacementTests {
  /// A program that has a file open, without any lock, until its standard input ends.
  private final class Holder {
    private let process = Process()
    private let input = Pipe()

    init(_ path: String) throws {
      let output = Pipe()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", "exec 3<\"$1\"; echo open; cat", "sh", path]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      // It has said so.
      _ = output.fileHandleForReading.availableData
    }

    var id: Int32 { process.processIdentifier }

    func end() throws {
      try input.fileHandleForWriting.close()
      process.waitUntilExit()
    }
  }

  private func withFiles(_ body: (_ path: String, _ new: String) throws -> Void) throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let (path, new) = ("\(directory)/blog.db", "\(directory)/new.db")
    try Data("old".utf8).write(to: URL(filePath: path))
    try Data("new".utf8).write(to: URL(filePath: new))
    try body(path, new)
  }

  private func text(_ path: String) throws -> String {
    try String(contentsOfFile: path, encoding: .utf8)
  }

  @Test("The replaced file keeps another name")
  func replaced() throws {
    try withFiles { path, new in
      try FileReplacement.replace(path, by: new, keeping: path + ".kept", besides: 0)
      #expect(try text(path) == "new" && text(path + ".kept") == "old")
      #expect(!FileManager.default.fileExists(atPath: new))
      try Data("newer".utf8).write(to: URL(filePath: new))
      // A name that is taken.
      #expect(throws: StorageError.self) {
        try FileReplacement.replace(path, by: new, keeping: path + ".kept", besides: 0)
      }
      #expect(try text(path) == "new" && text(new) == "newer" && text(path + ".kept") == "old")
    }
  }

  #if os(Linux)
    @Test("A connection of this process is a program that has the file open as well")
    func openHere() throws {
      try withFiles { path, new in
        let own = open(path, O_RDONLY)
        defer { close(own) }
        let refused = #expect(throws: StorageError.self) {
          try FileReplacement.replace(path, by: new, keeping: path + ".kept", besides: 0)
        }
        #expect(refused?.description.contains("this process, \(getpid())") == true)
        #expect(try text(path) == "old" && text(new) == "new")
        #expect(!FileManager.default.fileExists(atPath: path + ".kept"))
        try FileReplacement.replace(path, by: new, keeping: path + ".kept", besides: 1)
        #expect(try text(path) == "new" && text(path + ".kept") == "old")
      }
    }

    @Test("A program that has the file open is found, though it has no lock")
    func openWithoutLock() throws {
      try withFiles { path, new in
        let holder = try Holder(path)
        let excluded = #expect(throws: StorageError.self) { try FileExclusion(path) }
        #expect(excluded?.description.contains("process \(holder.id)") == true)
        let refused = #expect(throws: StorageError.self) {
          try FileReplacement.replace(path, by: new, keeping: path + ".kept", besides: 0)
        }
        #expect(refused?.description.contains("process \(holder.id)") == true)
        #expect(try text(path) == "old" && text(new) == "new")
        #expect(!FileManager.default.fileExists(atPath: path + ".kept"))
        try holder.end()
        _ = try FileExclusion(path)
        try FileReplacement.replace(path, by: new, keeping: path + ".kept", besides: 0)
        #expect(try text(path) == "new")
      }
    }

    @Test("A process that this one has just started is no program with the file open")
    func startedMeanwhile() throws {
      try withFiles { path, _ in
        let isDone = Atomic(false)
        let group = DispatchGroup()
        for _ in 0..<2 {
          onOwnThread(in: group) {
            while !isDone.load(ordering: .relaxed) {
              let process = Process()
              process.executableURL = URL(filePath: "/bin/true")
              do {
                try process.run()
                process.waitUntilExit()
              } catch { Issue.record(error) }
            }
          }
        }
        defer {
          isDone.store(true, ordering: .relaxed)
          group.wait()
        }
        for _ in 0..<300 { _ = try FileExclusion(path) }
      }
    }
  #endif

  @Test("A connection of SQLite is noticed by its lock, in both journal modes")
  func openWithLock() throws {
    let directory = try makeTemporaryDirectory()
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let path = "\(directory)/test.db"
    for mode in ["WAL", "DELETE"] {
      let process = Process()
      let (input, output) = (Pipe(), Pipe())
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["sqlite3", path]
      process.standardInput = input
      process.standardOutput = output
      try process.run()
      try input.fileHandleForWriting.write(
        contentsOf: Data(
          """
          PRAGMA journal_mode = \(mode);
          CREATE TABLE IF NOT EXISTS t (a);
          BEGIN;
          SELECT count(*) FROM t;

          """.utf8))
      var shown = ""
      while !shown.contains("0\n") {
        let more = output.fileHandleForReading.availableData
        try #require(!more.isEmpty)
        shown += String(decoding: more, as: UTF8.self)
      }
      let refused = #expect(throws: StorageError.self) { try FileExclusion(path) }
      #expect(refused?.description.contains("process") == false)
      try input.fileHandleForWriting.close()
      process.waitUntilExit()
      _ = try FileExclusion(path)
    }
  }
}
