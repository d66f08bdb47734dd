// Runs the compiler on programs that must not compile, and checks that building the macros
// downloads nothing.

import Foundation
import Testing

struct WrongProgramsTests {
  private static let tests = URL(filePath: #filePath).deletingLastPathComponent()
  private static let package = tests.deletingLastPathComponent().deletingLastPathComponent()

  /// The directory of the build that the tests run from.
  private static let build: URL = {
    let executable = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
    let candidates = [
      executable.deletingLastPathComponent(), package.appending(path: ".build/debug"),
    ]
    return candidates.first {
      FileManager.default.fileExists(
        atPath: $0.appending(path: "Modules/Empire.swiftmodule").path())
    } ?? candidates[0]
  }()

  /// The compiler's output for a program.
  private func compile(_ program: URL) throws -> String {
    let macros = Self.build.appending(path: "EmpireMacros-tool").path()
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = [
      "swiftc", "-typecheck", "-parse-as-library", "-swift-version", "6", "-diagnostic-style=llvm",
      "-Xfrontend", "-warn-long-expression-type-checking=2000",
      "-I", Self.build.appending(path: "Modules").path(),
      "-Xcc", "-fmodule-map-file=\(Self.package.path())/Sources/CLMDB/module.modulemap",
      "-load-plugin-executable", "\(macros)#EmpireMacros", program.path(),
    ]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = pipe
    try process.run()
    let output = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return String(decoding: output, as: UTF8.self)
  }

  /// The compiler's messages of one kind about a program, by line.
  private func messages(_ kind: String, in program: String, _ output: String) -> [Int: [String]] {
    var messages: [Int: [String]] = [:]
    for line in output.split(separator: "\n") {
      let parts = line.split(separator: ":", maxSplits: 4)
      guard parts.count == 5, parts[0].hasSuffix(program), parts[3] == " \(kind)",
        let number = Int(parts[1])
      else { continue }
      messages[number, default: []].append(String(parts[4]))
    }
    return messages
  }

  @Test(
    "Every error is reported on its line, and no other line has one",
    arguments: [("Wrong.swift", "error", 60), ("Unchecked.swift", "warning", 2)])
  func wrongPrograms(name: String, kind: String, count: Int) throws {
    let program = Self.tests.appending(path: "Programs/\(name)")
    let output = try compile(program)
    let messages = messages(kind, in: name, output)
    let lines = try String(contentsOf: program, encoding: .utf8)
      .split(separator: "\n", omittingEmptySubsequences: false)
    var expected = 0
    for (index, line) in lines.enumerated() {
      let found = messages[index + 1] ?? []
      if let mark = line.range(of: " // !") {
        expected += 1
        let part = line[mark.upperBound...].trimmingCharacters(in: .whitespaces)
        #expect(
          found.contains { part.isEmpty || $0.contains(part) },
          "line \(index + 1) should have the error '\(part)', but has \(found)")
      } else {
        #expect(found.isEmpty, "line \(index + 1) should have no error, but has \(found)")
      }
    }
    #expect(expected >= count, "\(output)")
    #expect(!output.contains("expression took"), "\(output)")
  }

  @Test(
    "The first error about a type that cannot be stored names the type, with few errors after it")
  func unstorableTypes() throws {
    let output = try compile(Self.tests.appending(path: "Programs/Unstorable.swift"))
    func errors(_ record: String) -> [String] {
      output.split(separator: "\n").map(String.init).filter {
        $0.contains(record) && $0.contains(": error: ")
      }
    }
    let field = errors("6Tagged")
    #expect(field.count <= 5, "\(field)")
    #expect(
      field.first?.contains("type 'Tag' does not conform to protocol 'Deserializable'") == true)
    #expect(output.contains("typealias _tag = Empire.StoredField<Tag>"))
    let key = errors("6Graded")
    #expect(key.first?.contains("type 'Grade' does not conform to protocol") == true, "\(key)")
    #expect(output.contains("typealias _grade = Empire.StoredKey<Grade>"))
  }

  @Test("Errors with an obvious correction have a fix-it")
  func fixIts() throws {
    // The compiler writes fix-its as notes.
    let output = try compile(Self.tests.appending(path: "Programs/Wrong.swift"))
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
      contentsOf: Self.package.appending(path: "Package.swift"), encoding: .utf8)
    #expect(!manifest.contains(".package("))
    for place in ["Package.resolved", ".build/checkouts", ".build/repositories"] {
      let url = Self.package.appending(path: place)
      let contents = (try? FileManager.default.contentsOfDirectory(atPath: url.path())) ?? []
      #expect(contents.isEmpty, "\(place) holds \(contents)")
    }
    #expect(
      !FileManager.default.fileExists(
        atPath: Self.package.appending(path: "Package.resolved").path()))
  }
}
