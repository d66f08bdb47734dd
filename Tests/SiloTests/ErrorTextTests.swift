// The texts of Silo's errors.

import DflatTestSupport
import Foundation
@testable import Silo
import Testing

@Suite("The texts of Silo's errors")
struct ErrorTextTests {
  @Test("Errors of silos say what is wrong, and what to do")
  func silos() {
    let texts: [(SiloError, String)] = [
      (.separateStores("Task", "User"), "Task and User"), (.escapedTransaction, "closure"),
      (.noResolver("Task"), "Task"), (.unexpectedValue(type: "Task", id: "7"), "id 7"),
      (.resolverTimedOut("Task", after: .seconds(3)), "3.0 seconds"),
      (.storeIsNotEmpty("Task"), "nothing was moved"),
      (.unknownProperties(type: "Task", id: "7"), "newer release"),
      (.managed(type: "Task", id: "7"), "pinned"),
      (.deleted(type: "Task", id: "7"), "nothing was saved"),
      (.deletionDenied(type: "User", by: "Task", id: "7", property: "owner"), "'owner'"),
      (.unknownReferrer(table: "tasks", target: "User"), "'tasks'"),
      (.newerVersion(table: "tasks", stored: 3, known: 2), "version 3"),
      (.unknownVersion(table: "tasks", stored: 3, known: [1, 5]), "1, 5"),
    ]
    for (error, word) in texts { ErrorText(error, word).check() }
    ErrorText(SiloError.unknownID(type: "Task", id: "7"), "id 7", isHelpless: true).check()
  }

  @Test("Errors of migrations name the versions, and say what to do")
  func migrations() {
    let (first, second) = (Letter.V1.version, Letter.V2.version)
    let errors: [ValueMigrationError] = [
      .gap(first), .fork(at: first, to: [second, Letter.version]),
      .repeated(from: first, to: second), .backwards(from: second, to: first),
      .otherTable(from: first, to: second), .circle(first), .sameNumber(first, second),
      .alreadyMigrated(first), .undeclaredReading(first), .circularReading(first),
      .failed(first, id: "7", reason: "no"),
    ]
    for error in errors { ErrorText(error, "V1").check() }
    ErrorText(ValueMigrationError.missing(table: "letters", 2), "letters", "@EntityVersion(2")
      .check()
  }

  @Test("Every public error type of this library is covered")
  func all() throws {
    ErrorText(UnreadableValue("name", "is a number", table: "tasks_v1", key: "7"), "'name'").check()
    let url = URL(filePath: "/fixtures/tasks_v1.txt")
    ErrorText(FixtureMismatch(url, "other bytes"), "tasks_v1.txt", "restore").check()
    #expect(
      try publicErrorTypes(of: "Silo") == [
        "\(SiloError.self)", "\(ValueMigrationError.self)", "\(UnreadableValue.self)",
        "\(FixtureMismatch.self)",
      ])
    #expect(try publicErrorTypes(of: "EmpireSilo") == [])
  }
}
