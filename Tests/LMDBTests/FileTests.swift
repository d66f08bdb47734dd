// The files of an environment: paths, reader slots, and files that are removed, moved or replaced
// while they are open.

import Foundation
import LMDB
import Testing

@Suite("Files of an environment")
struct FileTests {
  private static let paths = ["", "a\0b"]

  @Test("An empty path is refused, and is not the root directory", arguments: paths)
  func emptyPath(_ path: String) throws {
    #expect(throws: MDBError.failure(Int(ENOENT), "")) { try Environment(path: path) }
    #expect(!FileManager.default.fileExists(atPath: "/data.mdb"))
    #expect(!FileManager.default.fileExists(atPath: "/lock.mdb"))
    try withTemporaryDirectory { url in
      let directory = url.path
      let environment = try Environment(path: directory)
      #expect(throws: MDBError.failure(Int(ENOENT), "")) { try environment.copy(to: path) }
    }
  }

  @Test("As many transactions can read as was asked for, and one more fails with a clear error")
  func readers() throws {
    try withTemporaryDirectory { url in
      let directory = url.path
      let environment = try Environment(path: directory, maxReaders: 200)
      #expect(environment.maxReaders == 200)
      var readers = try (0..<200).map { _ in try Transaction(env: environment, readOnly: true) }
      let error = #expect(throws: MDBError.readersFull) {
        try Transaction(env: environment, readOnly: true)
      }
      #expect(error?.description.contains("all 200 reader slots of '\(directory)'") == true)
      #expect(error?.recoverySuggestion?.contains("maxReaders") == true)
      readers.removeLast()
      try Transaction(env: environment, readOnly: true).commit()
      #expect(throws: MDBError.failure(Int(EINVAL), "")) { try environment.setMaxReaders(300) }
    }
    for count in [0, -1, Int.max] {
      #expect(throws: MDBError.failure(Int(EINVAL), "")) { try Environment().setMaxReaders(count) }
    }
  }

  @Test("Numbers of databases that LMDB cannot count are refused")
  func databases() throws {
    for count in [-1, Int(UInt32.max) - 1, Int(UInt32.max), Int.max] {
      #expect(throws: MDBError.failure(Int(EINVAL), "")) {
        try Environment().setMaxDatabases(count)
      }
    }
  }

  enum Accident: String, CaseIterable, Sendable {
    case removed, moved, replacedByCopy, replacedByJunk, replacedByDirectory
    case lockRemoved, lockReplaced, directoryRemoved, directoryMoved

    func happen(in directory: String) throws {
      let files = FileManager.default
      let (data, lock) = (directory + "/data.mdb", directory + "/lock.mdb")
      let junk = Data(repeating: 0x5a, count: 50_000)
      func put(_ new: String, at path: String) { #expect(rename(new, path) == 0) }
      switch self {
      case .removed: try files.removeItem(atPath: data)
      case .moved: try files.moveItem(atPath: data, toPath: data + ".old")
      case .replacedByCopy:
        try files.copyItem(atPath: data, toPath: data + ".new")
        put(data + ".new", at: data)
      case .replacedByJunk:
        try junk.write(to: URL(fileURLWithPath: data + ".new"))
        put(data + ".new", at: data)
      case .replacedByDirectory:
        try files.removeItem(atPath: data)
        try files.createDirectory(atPath: data, withIntermediateDirectories: false)
      case .lockRemoved: try files.removeItem(atPath: lock)
      case .lockReplaced:
        try junk.write(to: URL(fileURLWithPath: lock + ".new"))
        put(lock + ".new", at: lock)
      case .directoryRemoved: try files.removeItem(atPath: directory)
      case .directoryMoved: try files.moveItem(atPath: directory, toPath: directory + ".old")
      }
    }
  }

  @Test(
    "No commit succeeds after an accident, and all that was committed can be copied",
    arguments: Accident.allCases)
  func accident(_ accident: Accident) throws {
    try withTemporaryDirectory { url in
      let directory = url.path
      let (data, copy) = (directory + "/data", directory + "/copy")
      for path in [data, copy] {
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
      }
      let environment = try Environment(path: data, maxDatabases: 1)
      func set(_ key: String) throws {
        try Transaction.with(env: environment) { transaction in
          try transaction.set(dbi: try transaction.open(name: "words"), key: key, value: "x")
        }
      }
      func count(_ environment: Environment) throws -> Int {
        try Transaction.with(env: environment, readOnly: true) { transaction in
          try transaction.count(dbi: try transaction.open(name: "words"))
        }
      }
      try set("a")
      try set("b")
      try environment.checkFiles()
      try accident.happen(in: data)
      for _ in 0..<2 {
        let error = #expect(throws: MDBError.fileReplaced) { try set("c") }
        #expect(error?.description.contains("while it was open") == true)
        #expect(error?.recoverySuggestion?.contains("copy(to:)") == true)
      }
      #expect(throws: MDBError.fileReplaced) { try environment.checkFiles() }
      // Readers go on with what is open.
      #expect(try count(environment) == 2)
      try environment.copy(to: copy)
      #expect(try count(try Environment(path: copy, maxDatabases: 1)) == 2)
      #expect(throws: MDBError.failure(Int(EEXIST), "")) { try environment.copy(to: copy) }
      if accident == .moved || accident == .directoryMoved {
        let path = accident == .moved ? data + "/data.mdb" : data
        try FileManager.default.moveItem(atPath: path + ".old", toPath: path)
        try set("c")
        #expect(try count(environment) == 3)
      }
    }
  }

  @Test("While a directory is open with its lock file, this process cannot open it a second time")
  func openedTwice() throws {
    try withTemporaryDirectory { url in
      let link = url.path + "-link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: url.path)
      defer { try? FileManager.default.removeItem(atPath: link) }
      do {
        let environment = try Environment(path: url.path, maxDatabases: 1)
        let error = #expect(throws: MDBError.failure(Int(EBUSY), "")) {
          try Environment(path: link, maxDatabases: 1)
        }
        #expect(error?.description.contains("'\(link)' is open in this process") == true)
        try Transaction.with(env: environment) { transaction in
          try transaction.set(dbi: try transaction.open(name: "words"), key: "a", value: "x")
        }
        // Without the lock file nothing of the first one changes.
        _ = try Environment(path: link, maxDatabases: 1, locking: false)
      }
      _ = try Environment(path: link, maxDatabases: 1)
    }
  }

  /// Makes two directories in a new one.
  private func withDirectories(_ body: (_ data: String, _ copy: String) throws -> Void) throws {
    try withTemporaryDirectory { url in
      for name in ["data", "copy"] {
        try FileManager.default.createDirectory(
          at: url.appending(path: name), withIntermediateDirectories: false)
      }
      try body(url.path + "/data", url.path + "/copy")
    }
  }

  @Test(
    "A commit that the lock file does not know is not lost: writing fails until all have closed")
  func staleLockFile() throws {
    try withTemporaryDirectory { url in
      func set(_ key: String, in environment: Environment) throws {
        try Transaction.with(env: environment) { transaction in
          try transaction.set(dbi: try transaction.open(name: "words"), key: key, value: "x")
        }
      }
      do {
        let environment = try Environment(path: url.path, maxDatabases: 1)
        for key in ["a", "b"] { try set(key, in: environment) }
        // As a process does that has restored a backup under the same lock file.
        let other = try Environment(path: url.path, maxDatabases: 1, locking: false)
        try set("c", in: other)
        for _ in 0..<2 {
          let error = #expect(throws: MDBError.fileReplaced) { try set("d", in: environment) }
          #expect(error?.description.contains("while another process had") == true)
          #expect(error?.recoverySuggestion?.contains("no process") == true)
        }
      }
      let environment = try Environment(path: url.path, maxDatabases: 1)
      try set("e", in: environment)
      try Transaction.with(env: environment, readOnly: true) { transaction in
        let words = try transaction.open(name: "words")
        #expect(
          try ["a", "b", "c", "d", "e"].map { try transaction.getString(dbi: words, key: $0) } == [
            "x", "x", "x", nil, "x",
          ])
      }
    }
  }

  @Test("A copy inside of an own writing transaction is an error")
  func copyInside() throws {
    try withDirectories { data, copy in
      let environment = try Environment(path: data, maxDatabases: 1)
      try Transaction.with(env: environment) { transaction in
        #expect(throws: MDBError.failure(Int(EBUSY), "")) { try environment.copy(to: copy) }
        try transaction.set(dbi: try transaction.open(name: "words"), key: "a", value: "x")
      }
      // A reader needs no copy of its own.
      try Transaction.with(env: environment, readOnly: true) { _ in
        try environment.copy(to: copy)
      }
      let copied = try Environment(path: copy, maxDatabases: 1)
      let value = try Transaction.with(env: copied, readOnly: true) { transaction in
        try transaction.getString(dbi: try transaction.open(name: "words"), key: "a")
      }
      #expect(value == "x")
    }
  }

  @Test("A copy that fails leaves nothing, so that another one can be made")
  func failingCopy() throws {
    try withDirectories { data, copy in
      let environment = try Environment(path: data, maxDatabases: 1, maxReaders: 1)
      var reader: Transaction? = try Transaction(env: environment, readOnly: true)
      #expect(throws: MDBError.readersFull) { try environment.copy(to: copy) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: copy) == [])
      reader?.abort()
      reader = nil
      try environment.copy(to: copy)
      #expect(try FileManager.default.contentsOfDirectory(atPath: copy) == ["data.mdb"])
    }
  }

  @Test("A copy has the mode of the environment's file", arguments: [0o600, 0o640])
  func copied(mode: Int) throws {
    try withTemporaryDirectory { url in
      let copy = url.appending(path: "copy")
      try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
      let environment = try Environment(path: url.path)
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: url.path + "/data.mdb")
      try environment.copy(to: copy.path)
      let attributes = try FileManager.default.attributesOfItem(atPath: copy.path + "/data.mdb")
      #expect(attributes[.posixPermissions] as? Int == mode)
    }
  }

  @Test("Permissions and hard links change nothing, nor does a changed current directory")
  func harmless() throws {
    try withTemporaryDirectory { url in
      let directory = url.path
      let environment = try Environment(path: directory, maxDatabases: 1)
      #expect(link(directory + "/data.mdb", directory + "/link.mdb") == 0)
      #expect(chmod(directory + "/data.mdb", 0o400) == 0)
      try Transaction.with(env: environment) { transaction in
        try transaction.set(dbi: try transaction.open(name: "words"), key: "a", value: "x")
      }
      try environment.checkFiles()
    }
  }
}
