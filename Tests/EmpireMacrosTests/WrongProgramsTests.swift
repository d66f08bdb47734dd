// Runs the compiler on programs that must not compile, and checks that building the macros
// downloads nothing.

import DflatTestSupport
import Foundation
import Testing

struct WrongProgramsTests {
  private let programs = MacroPrograms(
    module: "Empire", macros: "EmpireMacros", moduleMaps: ["Sources/CLMDB/module.modulemap"])

  @Test(
    "Every error is reported on its line, and no other line has one",
    arguments: [
      ("Wrong.swift", "error", 66), ("Unchecked.swift", "warning", 2),
      ("Unstorable.swift", "error", 5),
    ])
  func wrongPrograms(name: String, kind: String, count: Int) throws {
    try programs.expectMarkedMessages(name, kind, count: count)
  }

  @Test(
    "The documentation's declarations compile, also in a module that belongs to the main actor",
    arguments: [[], RecordFormsTests.mainActor])
  func documentation(arguments: [String]) throws {
    let output = try programs.compile(
      "Documentation.swift", ["-warnings-as-errors"] + arguments)
    #expect(output.isEmpty, "\(output)")
  }

  @Test("Deprecated properties give no warning in the generated code")
  func deprecated() throws {
    let output = try programs.compile("Deprecated.swift", ["-warnings-as-errors"])
    #expect(output.isEmpty, "\(output)")
  }

  @Test("Errors with an obvious correction have a fix-it")
  func fixIts() throws {
    // The compiler writes fix-its as notes.
    let output = try programs.compile("Wrong.swift")
    for fix in [
      "use 'age'", "make 'id' the key", "make it a 'struct'", "write ': Int'", "make it a 'var'",
      "use 610305871",
    ] {
      #expect(output.contains(fix), "no fix-it says \(fix)")
    }
  }

  @Test("The macros are built only from the toolchain")
  func noCheckouts() throws {
    let manifest = try String(
      contentsOf: programs.package.appending(path: "Package.swift"), encoding: .utf8)
    #expect(!manifest.contains(".package("))
    for place in ["Package.resolved", ".build/checkouts", ".build/repositories"] {
      let url = programs.package.appending(path: place)
      let contents = (try? FileManager.default.contentsOfDirectory(atPath: url.path())) ?? []
      #expect(contents.isEmpty, "\(place) holds \(contents)")
    }
    #expect(
      !FileManager.default.fileExists(
        atPath: programs.package.appending(path: "Package.resolved").path()))
  }
}
