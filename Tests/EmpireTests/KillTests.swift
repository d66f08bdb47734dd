// Processes that are killed at any time: commits that returned are durable, no transaction is
// stored in part, and other processes do not wait.
//
// The process is a copy of this test program. It writes until it is killed, and prints the number
// of each transaction that has returned.

import DflatTestSupport
import Empire
import Foundation
import Testing

@IndexKeyRecord("number", "part")
private struct Step: Equatable {
  let number: Int
  let part: Int
  var text: String
}

struct KillTests {
  private static let partsPerStep = 5

  /// Writes steps of several records into a directory forever. Runs in the child process.
  private static func writeForever(_ directory: String) throws -> Never {
    let store = Store(
      database: try LockingDatabase(path: directory, mapSize: .growing(from: 1 << 16)))
    let first = try Step.select(in: store, limit: 1, number: .lessThan(.max)).first.map {
      $0.number + 1
    }
    var number = first ?? 0
    while true {
      try store.withTransaction { context in
        for part in 0..<partsPerStep {
          try context.insert(
            Step(number: number, part: part, text: String(repeating: "x", count: 300)))
        }
      }
      FileHandle.standardOutput.write(Data("\(number)\n".utf8))
      number += 1
    }
  }

  @Test("The task of a child process", .enabled(if: ChildProcess.task != nil))
  func child() throws {
    let task = try #require(ChildProcess.task)
    switch task[0] {
    case "write": try Self.writeForever(task[1])
    case "readers": try ReopenedDirectoryTests.printReaders(task[1])
    case "open on a full disk": try FileTests.openOnFullDisk(task[1])
    case "open a replaced file": FileTests.openReplaced(task[1])
    case "fill": try FileTests.fill(task[1])
    case "fill with little space": try FileTests.fillWithLittleSpace(task[1])
    default:
      let store = Store(database: try LockingDatabase(path: task[1]))
      try store.withTransaction(readOnly: task[0] == "die reading") { context in
        _ = try context.selectAll(of: Tree.self)
        _exit(0)
      }
    }
  }

  @Test("A killed writer leaves complete transactions, all that it reported, and no lock")
  func killedWriter() throws {
    try withTemporaryDirectory { directory in
      try withSeed { random in
        var reported = -1
        for _ in 0..<(isLongRun ? 50 : 4) {
          let output = Pipe()
          let child = try ChildProcess.start("write", directory, output)
          // After some transactions, at an arbitrary point of the next one.
          var rest = Int.random(in: 1...60, using: &random)
          var text = Data()
          while rest > 0 {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            text += more
            rest -= more.count { $0 == 10 }
          }
          kill(child.processIdentifier, SIGKILL)
          text += output.fileHandleForReading.readDataToEndOfFile()
          child.waitUntilExit()
          #expect(child.terminationReason == .uncaughtSignal)
          // The last line may be incomplete.
          let numbers = String(decoding: text, as: UTF8.self).split(separator: "\n").dropLast()
            .compactMap { Int($0) }
          reported = max(reported, numbers.last ?? -1)

          let store = Store(database: try LockingDatabase(url: directory))
          let steps = try Step.select(in: store, number: .greaterOrEqual(0))
          let last = try #require(steps.last?.number)
          #expect(last >= reported, "DFLAT_SEED=\(random.seed)")
          #expect(steps.count == (last + 1) * Self.partsPerStep, "DFLAT_SEED=\(random.seed)")
          // Writing does not wait for the dead process.
          try store.insert(Step(number: -1, part: 0, text: ""))
        }
        #expect(reported > 0)
      }
    }
  }

  @Test("A process that dies inside a transaction does not block other processes")
  func deadTransactions() throws {
    try withTemporaryDirectory { directory in
      let store = Store(database: try LockingDatabase(url: directory))
      try store.insert(Tree(name: "a"))
      for task in ["die reading", "die writing"] {
        let child = try ChildProcess.start(task, directory)
        child.waitUntilExit()
        #expect(child.terminationStatus == 0)
        try store.insert(Tree(name: task))
      }
      #expect(try Tree.select(in: store, name: .greaterThan("")).count == 3)
    }
  }

  @Test(
    "A process that stays reuses the pages that a killed reader used", arguments: [true, false])
  func deadReader(mapGrows: Bool) throws {
    try withTemporaryDirectory { directory in
      let size = 2 << 20
      let store = Store(
        database: try LockingDatabase(
          url: directory, mapSize: mapGrows ? .growing(from: size) : .fixed(size)))
      let step = Step(number: 0, part: 0, text: String(repeating: "x", count: 100_000))
      try store.insert(step)
      let child = try ChildProcess.start("die reading", directory)
      child.waitUntilExit()
      #expect(child.terminationStatus == 0)
      for _ in 0..<100 { try store.insert(step) }
      let file = directory.appending(path: "data.mdb").path
      let bytes = try FileManager.default.attributesOfItem(atPath: file)[.size] as? Int
      #expect(try #require(bytes) <= size)
    }
  }
}
