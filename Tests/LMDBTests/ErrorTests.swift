// The messages of LMDB errors: what failed, where, and what to do.

import Foundation
import LMDB
import Testing

struct ErrorTests {
  /// Expects that a closure throws this error, and that its message contains the words.
  private func expect(
    _ expected: MDBError, _ words: String..., location: SourceLocation = #_sourceLocation,
    _ body: () throws -> Void
  ) {
    let error = #expect(throws: expected, sourceLocation: location) { try body() }
    guard let error else { return }
    for word in words {
      #expect(error.description.contains(word), "\(error)", sourceLocation: location)
    }
    #expect(error.errorDescription == error.description, sourceLocation: location)
    #expect(error.localizedDescription == error.description, sourceLocation: location)
    #expect(error.recoverySuggestion != nil, "\(error)", sourceLocation: location)
  }

  @Test("The error for a missing directory, or a path that is not one, names the path")
  func paths() throws {
    try withTemporaryDirectory { directory in
      let missing = directory.appending(path: "missing").path()
      expect(.failure(2, ""), "No such file or directory", "'\(missing)'") {
        _ = try Environment(path: missing)
      }
      let file = directory.appending(path: "file")
      try Data("text".utf8).write(to: file)
      expect(.failure(20, ""), "'\(file.path())'") { _ = try Environment(path: file.path()) }
    }
  }

  @Test(
    "A missing or invalid key, a missing database, a read-only or ended transaction")
  func calls() throws {
    try withTemporaryDirectory { directory in
      let environment = try Environment(url: directory, maxDatabases: 1)
      var ended: Transaction?
      try Transaction.with(env: environment) { transaction in
        ended = transaction
        let dbi = try transaction.open(name: "words")
        expect(.recordNotFound, "no such entry", "the key 'kumquat'") {
          try transaction.delete(dbi: dbi, key: "kumquat")
        }
        let bytes: [UInt8] = [0, 0xAB]
        bytes.withUnsafeBytes { bytes in
          expect(.recordNotFound, "the key 00 AB") {
            try transaction.delete(dbi: dbi, key: MDB_val(buffer: bytes))
          }
        }
        let long = String(repeating: "x", count: 600)
        expect(.failure(-30781, ""), "of 600 bytes") {
          try transaction.set(dbi: dbi, key: long, value: "")
        }
        expect(.failure(-30781, ""), "an empty key") {
          try transaction.set(dbi: dbi, key: "", value: "")
        }
      }
      expect(.failure(-30782, ""), "the transaction has ended") { try ended?.commit() }
      try Transaction.with(env: environment, readOnly: true) { transaction in
        let dbi = try transaction.open(name: "words")
        expect(.permissionDenied, "read-only") {
          try transaction.set(dbi: dbi, key: "a", value: "")
        }
        expect(.failure(-30791, ""), "the database 'other'") {
          _ = try transaction.open(name: "other")
        }
      }
      expect(.recordNotFound, "the database 'other'") {
        let second = try Environment(url: directory, maxDatabases: 2, locking: false)
        try Transaction.with(env: second, readOnly: true) { _ = try $0.open(name: "other") }
      }
    }
  }

  @Test("An error of the disk says that it may be full")
  func disk() {
    let error = MDBError.failure(Int(EIO), "Input/output error")
    #expect(error.recoverySuggestion?.contains("free space") == true)
  }

  @Test("The name of a database that contains NUL is no other name")
  func names() throws {
    try withTemporaryDirectory { directory in
      let environment = try Environment(url: directory, maxDatabases: 3)
      try Transaction.with(env: environment) { transaction in
        _ = try transaction.open(name: "a")
        expect(.failure(Int(EINVAL), ""), "NUL") { _ = try transaction.open(name: "a\0b") }
        expect(.failure(Int(EINVAL), ""), "NUL") { _ = try transaction.openIfPresent(name: "a\0") }
        expect(.failure(Int(EINVAL), ""), "NUL") {
          _ = try transaction.openWithDuplicates(name: "\0")
        }
        #expect(throws: MDBError.self) { try transaction.open(name: "") }
      }
    }
  }

  @Test(
    "An environment that was never opened, or could not be, has no transactions",
    arguments: [false, true])
  func unopened(isRefused: Bool) throws {
    try withTemporaryDirectory { directory in
      let environment = try Environment()
      let missing = directory.appending(path: "missing").path()
      if isRefused { expect(.failure(2, "")) { try environment.open(path: missing) } }
      expectNotOpen { _ = try Transaction(env: environment) }
      expectNotOpen { _ = try Transaction(env: environment, readOnly: true) }
      expectNotOpen { try Transaction.with(env: environment) { _ in } }
      expectNotOpen { try environment.copy(to: directory) }
      #expect(environment.maximumDatabaseSize == 0)
      #expect(environment.maximumKeySize == 511)
      #expect(try environment.clearStaleReaders() == 0)
      try environment.checkFiles()
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path()).isEmpty)
    }
  }

  private func expectNotOpen(_ body: () throws -> Void) {
    expect(.failure(Int(EINVAL), ""), "not open") { try body() }
  }

  @Test("Errors are equal if their codes are, and patterns match any text")
  func equality() {
    #expect(MDBError.failure(5, "a") == MDBError.failure(5, "b"))
    #expect(MDBError.failure(5, "a") != MDBError.failure(6, "a"))
    #expect(MDBError.problem != MDBError.recordNotFound)
    #expect(
      Set([MDBError.recordNotFound, .permissionDenied, .problem, .recordNotFound]).count == 3)
    #expect(MDBError.problem.errorDescription?.contains("UTF-8") == true)
    do {
      throw MDBError.failure(-30798, "anything")
    } catch MDBError.recordNotFound {
      #expect(
        MDBError.recordNotFound.errorDescription?.hasPrefix("there is no such entry; ") == true)
    } catch {
      Issue.record(error)
    }
  }
}
