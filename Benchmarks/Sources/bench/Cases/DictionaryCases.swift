// The dictionary: four times as many keys as objects in the smaller table, 40,000 in full runs.
//
// A writing floor binds blobs that Dflat has encoded before, so only Dflat encodes; for values of
// the program's own types the floor encodes each value itself, as Dflat does, and stores the bytes.
// All writing sides begin with a file that has the table, and have changed its one row before. The
// clock stops when everything is committed; if the floor does that in one transaction, there is no
// checkpoint on either side.

import Dflat
import Foundation
import SQLiteDflat
import Synchronization

private let table = "dictitem_v_dflat_internal__"

private struct Setting: Codable, Equatable, Sendable {
  var name: String
  var size: Int
  var isOn: Bool
}

private final class DictionaryWork {
  let fixture: Fixture
  let keys: [String]
  let template: String

  init(_ fixture: Fixture) throws {
    self.fixture = fixture
    keys = (0..<fixture.few * 4).map { "setting-\($0)" }
    template = fixture.path("dictionary-template.db")
    if !FileManager.default.fileExists(atPath: template) {
      let store = Store(template)
      store.workspace.dictionary["first"] = 1
      store.workspace.dictionary.synchronize()
      try store.check()
      store.close()
    }
  }

  /// A file with all keys.
  func filled() throws -> String {
    let path = fixture.path("dictionary-filled.db")
    if FileManager.default.fileExists(atPath: path) { return path }
    let store = Store(path)
    for (value, key) in keys.enumerated() { store.workspace.dictionary[key] = value }
    store.workspace.dictionary.synchronize()
    try store.check()
    store.close()
    return path
  }

  /// The blobs for all keys, as Dflat writes them.
  func blobs() throws -> [Data] {
    let database = try FloorDatabase(path: filled(), readOnly: true)
    let select = try database.prepare("SELECT p FROM \(table) ORDER BY rowid")
    var blobs: [Data] = []
    while try select.step() { blobs.append(Data(select.blob(0))) }
    return blobs
  }

  /// Runs `body` with a workspace on a fresh copy, and then sums up the file's content.
  func ours(
    walLimit: Int = Store.noCheckpoints, _ body: (inout any WorkspaceDictionary) throws -> UInt64
  ) throws -> Outcome {
    let path = try fixture.copy(of: template)
    defer { fixture.discard(path) }
    let store = Store(path, walLimit: walLimit)
    var dictionary = store.workspace.dictionary
    // The writer is now open, and the statement prepared.
    dictionary["first"] = 2
    dictionary.synchronize()
    let nanoseconds = try body(&dictionary)
    dictionary.synchronize()
    try store.check()
    store.close()
    return Outcome(nanoseconds: nanoseconds, checksum: try contents(path))
  }

  func floor(_ body: (FloorDictionary) throws -> UInt64) throws -> Outcome {
    let path = try fixture.copy(of: template)
    defer { fixture.discard(path) }
    let nanoseconds = try body(FloorDictionary(path))
    return Outcome(nanoseconds: nanoseconds, checksum: try contents(path))
  }

  private func contents(_ path: String) throws -> Checksum {
    let database = try FloorDatabase(path: path)
    let select = try database.prepare("SELECT __pk0 FROM \(table) ORDER BY __pk0")
    var sum = Checksum()
    while try select.step() { sum.add(select.text(0).buffer) }
    return sum
  }
}

private func sum(of number: Int) -> Checksum {
  var sum = Checksum()
  sum.add(number)
  return sum
}

/// Writes items with SQLite directly.
private final class FloorDictionary {
  private let database: FloorDatabase
  private let begin: FloorStatement
  private let commit: FloorStatement
  private let insertion: FloorStatement
  private let change: FloorStatement

  init(_ path: String) throws {
    database = try FloorDatabase(path: path)
    begin = try database.prepare("BEGIN IMMEDIATE")
    commit = try database.prepare("COMMIT")
    insertion = try database.prepare("INSERT INTO \(table) (p, __pk0, __pk1) VALUES (?, ?, '')")
    change = try database.prepare("UPDATE \(table) SET p = ? WHERE rowid = 1")
    try database.execute("UPDATE \(table) SET p = p WHERE rowid = 1")
  }

  /// Sets the first item in a transaction of its own.
  func setFirst(_ blob: Data) throws {
    try database.checkpointIfDue()
    try begin.run()
    try blob.withUnsafeBytes {
      change.bind(1, blob: $0)
      try change.run()
    }
    try commit.run()
  }

  /// Inserts items in one transaction.
  func insert(_ keys: [String], _ blob: (Int) throws -> Data) throws {
    try begin.run()
    for index in keys.indices {
      try blob(index).withUnsafeBytes { blob in
        var key = keys[index]
        try key.withUTF8 {
          insertion.bind(1, blob: blob)
          insertion.bind(
            2, text: FloorBytes(start: UnsafeRawPointer($0.baseAddress), count: $0.count))
          try insertion.run()
        }
      }
    }
    try commit.run()
  }
}

extension Case {
  static let dictionaryDisk = Case(
    id: "dict-int-disk", title: "dictionary: 40,000 Int to disk", goal: 1.6, upstream: 41
  ) { fixture in
    let work = try DictionaryWork(fixture)
    let blobs = try work.blobs()
    return (
      ours: {
        try work.ours { dictionary in
          time {
            for (value, key) in work.keys.enumerated() { dictionary[key] = value }
            dictionary.synchronize()
          }
        }
      },
      floor: { try work.floor { file in try time { try file.insert(work.keys) { blobs[$0] } } } }
    )
  }

  static let dictionaryReturn = Case(
    id: "dict-int-return", title: "dictionary: 40,000 Int, until the calls return", goal: 3
  ) { fixture in
    let work = try DictionaryWork(fixture)
    return (
      ours: {
        var outcome = try work.ours { dictionary in
          time { for (value, key) in work.keys.enumerated() { dictionary[key] = value } }
        }
        outcome.checksum = Checksum()
        return outcome
      },
      floor: {
        let memory = Mutex<[String: Int]>([:])
        let nanoseconds = time {
          for (value, key) in work.keys.enumerated() { memory.withLock { $0[key] = value } }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: Checksum())
      }
    )
  }

  static let dictionaryHot = Case(
    id: "dict-hot", title: "dictionary: read 40,000 hot", goal: 2
  ) { fixture in
    let work = try DictionaryWork(fixture)
    let store = Store(try work.filled())
    let dictionary = store.workspace.dictionary
    for key in work.keys { _ = dictionary[key, Int.self] }
    let memory = Mutex<[String: Int]>([:])
    for (value, key) in work.keys.enumerated() { memory.withLock { $0[key] = value } }
    return (
      ours: {
        var total = 0
        let nanoseconds = time {
          for key in work.keys { total &+= dictionary[key, Int.self] ?? -1 }
        }
        try store.check()
        return Outcome(nanoseconds: nanoseconds, checksum: sum(of: total))
      },
      floor: {
        var total = 0
        let nanoseconds = time {
          for key in work.keys { total &+= memory.withLock { $0[key] } ?? -1 }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: sum(of: total))
      }
    )
  }

  static let dictionaryCold = Case(
    id: "dict-cold", title: "dictionary: read 40,000 cold, one by one", goal: 1.15, upstream: 2.5
  ) { fixture in
    let work = try DictionaryWork(fixture)
    let path = try work.filled()
    return (
      ours: {
        let store = Store(path)
        let dictionary = store.workspace.dictionary
        _ = dictionary["no such key", Int.self]
        var found = 0
        let nanoseconds = time {
          for key in work.keys where dictionary[key, Int.self] != nil { found += 1 }
        }
        try store.check()
        store.close()
        return Outcome(nanoseconds: nanoseconds, checksum: sum(of: found))
      },
      floor: {
        let database = try FloorDatabase(path: fixture.twin(of: path), readOnly: true)
        let select = try database.prepare(
          "SELECT rowid, p FROM \(table) WHERE __pk0 = ? AND __pk1 = ''")
        _ = try select.step()
        select.reset()
        var found = 0
        let nanoseconds = try time {
          for key in work.keys {
            var key = key
            try key.withUTF8 {
              select.bind(
                1, text: FloorBytes(start: UnsafeRawPointer($0.baseAddress), count: $0.count))
              if try select.step(), select.blob(1).count > 0 { found += 1 }
              select.reset()
            }
          }
        }
        return Outcome(nanoseconds: nanoseconds, checksum: sum(of: found))
      }
    )
  }

  static let dictionaryOneKey = Case(
    id: "dict-one-key", title: "dictionary: one key 40,000 times, to disk", goal: 0.1
  ) { fixture in
    let work = try DictionaryWork(fixture)
    let blobs = try work.blobs()
    return (
      ours: {
        try work.ours(walLimit: Store.defaultWALLimit) { dictionary in
          time {
            for value in work.keys.indices { dictionary["first"] = value }
            dictionary.synchronize()
          }
        }
      },
      floor: {
        try work.floor { file in
          try time { for blob in blobs { try file.setFirst(blob) } }
        }
      }
    )
  }

  static let dictionaryValues = Case(
    id: "dict-values-disk", title: "dictionary: 40,000 Codable and FlatBuffers values to disk",
    goal: 1.6
  ) { fixture in
    let work = try DictionaryWork(fixture)
    let settings = work.keys.indices.map { Setting(name: "n\($0)", size: $0, isOn: $0 % 2 == 0) }
    let docs = fixture.samples(fixture.few).map { BenchDoc(title: $0.title, pos: $0.pos) }
    return (
      ours: {
        try work.ours { dictionary in
          time {
            for (index, key) in work.keys.enumerated() {
              if index % 2 == 0 {
                dictionary[key] = settings[index]
              } else {
                dictionary[key] = docs[index % docs.count]
              }
            }
            dictionary.synchronize()
          }
        }
      },
      floor: {
        try work.floor { file in
          try time {
            try file.insert(work.keys) { index in
              if index % 2 == 1 { return docs[index % docs.count].toData() }
              let encoder = PropertyListEncoder()
              encoder.outputFormat = .binary
              return try encoder.encode(settings[index])
            }
          }
        }
      }
    )
  }
}
