// Runs the compiler on programs that use macros, and compares its messages with marks in the
// programs: ` // ! part of the message` at the end of a line.

#if os(macOS) || os(Linux)
  public import Foundation
  import Testing

  /// The programs of one module's macros.
  public struct MacroPrograms: Sendable {
    private let module: String
    private let macros: String
    private let moduleMaps: [String]
    /// The directory of the tests.
    private let tests: URL
    /// The package.
    public let package: URL

    /// - Parameters:
    ///   - module: The module that declares the macros.
    ///   - macros: The module that expands them.
    ///   - moduleMaps: The module maps that the module needs, by their paths in the package.
    ///   - file: The file of the tests, beside whose directory `Programs` the programs are.
    public init(
      module: String, macros: String, moduleMaps: [String] = [], file: String = #filePath
    ) {
      self.module = module
      self.macros = macros
      self.moduleMaps = moduleMaps
      tests = URL(filePath: file).deletingLastPathComponent()
      package = tests.deletingLastPathComponent().deletingLastPathComponent()
    }

    /// The directory of the build that the tests run from.
    private var build: URL {
      let executable = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
      let candidates = [
        executable.deletingLastPathComponent(), package.appending(path: ".build/debug"),
      ]
      return candidates.first {
        FileManager.default.fileExists(
          atPath: $0.appending(path: "Modules/\(module).swiftmodule").path())
      } ?? candidates[0]
    }

    /// The compiler's output for a program.
    /// - Parameters:
    ///   - name: The program's file.
    ///   - arguments: More arguments of the compiler.
    public func compile(_ name: String, _ arguments: [String] = []) throws -> String {
      try compile(
        files: [tests.appending(path: "Programs/\(name)")], ["-typecheck"] + arguments)
    }

    /// The compiler's output for a program of several files.
    /// - Parameters:
    ///   - sources: The texts of the files, by their names.
    ///   - arguments: More arguments of the compiler.
    public func compile(sources: [String: String], _ arguments: [String] = []) throws -> String {
      try withSources(sources) { try compile(files: $0, ["-typecheck"] + arguments) }
    }

    /// The compiler's output for a module, and for a program that imports it.
    /// - Parameters:
    ///   - library: The text of the module `Library`.
    ///   - program: The text of the program.
    ///   - arguments: More arguments of the compiler.
    public func compile(
      library: String, program: String, _ arguments: [String] = []
    ) throws -> String {
      try withSources(["Library.swift": library, "Program.swift": program]) { files in
        let directory = files[0].deletingLastPathComponent()
        let module = directory.appending(path: "Library.swiftmodule").path()
        let output = try compile(
          files: [directory.appending(path: "Library.swift")],
          ["-emit-module", "-module-name", "Library", "-emit-module-path", module] + arguments)
        return try output
          + compile(
            files: [directory.appending(path: "Program.swift")],
            ["-typecheck", "-I", directory.path()] + arguments)
      }
    }

    private func withSources<R>(
      _ sources: [String: String], _ body: ([URL]) throws -> R
    ) throws -> R {
      let directory = FileManager.default.temporaryDirectory.appending(path: "macros-\(UUID())")
      try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: directory) }
      return try body(
        sources.sorted { $0.key < $1.key }.map { name, text in
          let file = directory.appending(path: name)
          try text.write(to: file, atomically: true, encoding: .utf8)
          return file
        })
    }

    private func compile(files: [URL], _ arguments: [String]) throws -> String {
      let tool = build.appending(path: "\(macros)-tool").path()
      let process = Process()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments =
        [
          "swiftc", "-wmo", "-parse-as-library", "-swift-version", "6",
          "-diagnostic-style=llvm", "-Xfrontend", "-warn-long-expression-type-checking=2000",
          "-I", build.appending(path: "Modules").path(),
        ] + moduleMaps.flatMap { ["-Xcc", "-fmodule-map-file=\(package.path())/\($0)"] }
        + ["-load-plugin-executable", "\(tool)#\(macros)"] + arguments
        + files.map { $0.path() }
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

    /// Compiles a program, and records an issue for each marked line without its message, and for
    /// each other line with one.
    /// - Parameters:
    ///   - name: The program's file.
    ///   - kind: `error` or `warning`.
    ///   - count: How many marks there are at least.
    public func expectMarkedMessages(_ name: String, _ kind: String, count: Int) throws {
      let output = try compile(name)
      let messages = messages(kind, in: name, output)
      let program = tests.appending(path: "Programs/\(name)")
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
            "line \(index + 1) should have the \(kind) '\(part)', but has \(found)")
        } else {
          #expect(found.isEmpty, "line \(index + 1) should have no \(kind), but has \(found)")
        }
      }
      #expect(expected >= count, "\(output)")
      #expect(!output.contains("expression took"), "\(output)")
    }
  }
#endif
