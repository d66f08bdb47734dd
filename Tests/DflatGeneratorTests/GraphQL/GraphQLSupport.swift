// Shared by the tests of `dflatc graphql`.

import DflatGenerator
import Foundation

/// What a call of the command did.
struct GraphQLRun {
  var status: Int32
  var errors: String
  /// The texts of all files that are in the output folder.
  var files: [String: String]
}

enum GraphQL {
  /// Where the programs and their operations are.
  static let programs = Place.programs.appending(path: "GraphQL")

  /// Runs the command on texts.
  static func run(
    _ schema: String, _ operations: String, _ options: String, earlier: [String: String] = [:]
  ) throws -> GraphQLRun {
    try withTemporaryDirectory { directory in
      try write(schema, to: directory.appending(path: "schema.graphqls"))
      try write(operations, to: directory.appending(path: "operations.graphql"))
      for (name, text) in earlier { try write(text, to: directory.appending(path: "out/\(name)")) }
      return try run(
        options, ["operations.graphql"], schemas: ["schema.graphqls"], in: directory)
    }
  }

  /// Runs the command on files of a directory; what it writes is in `out`.
  static func run(
    _ options: String, _ documents: [String], schemas: [String], in directory: URL
  ) throws -> GraphQLRun {
    var errors = ""
    let command = CompilerCommand(output: { _ in }, errors: { errors += $0 })
    let output = directory.appending(path: "out")
    let folder = directory.path() + "/"
    var arguments = ["graphql", "-o", output.path()]
    for schema in schemas { arguments += ["-S", folder + schema] }
    arguments += options.split(separator: " ").map(String.init)
    for document in documents { arguments.append(folder + document) }
    let status = command.run(arguments)
    var files: [String: String] = [:]
    for name in (try? FileManager.default.contentsOfDirectory(atPath: output.path())) ?? [] {
      files[name] = try text(of: output.appending(path: name))
    }
    return GraphQLRun(
      status: status, errors: errors.replacing(folder, with: ""), files: files)
  }

  /// What a program prints that is compiled with the code for its operations.
  static func output(
    of program: String, _ schema: String, _ operations: String, _ options: String,
    warning: String? = nil
  ) throws -> String {
    try withTemporaryDirectory { directory in
      try write(schema, to: directory.appending(path: "s.graphqls"))
      try write(operations, to: directory.appending(path: "o.graphql"))
      let run = try run(options, ["o.graphql"], schemas: ["s.graphqls"], in: directory)
      let isExpected = warning.map { run.errors.contains($0) } ?? run.errors.isEmpty
      if run.status != 0 || !isExpected { return run.errors }
      let folder = directory.appending(path: "program")
      for (name, text) in run.files where name.hasSuffix(".swift") {
        try write(text, to: folder.appending(path: name))
      }
      for name in run.files.keys where name.hasSuffix(".fbs") {
        try generate(directory.appending(path: "out/\(name)"), into: folder)
      }
      try write(program, to: folder.appending(path: "main.swift"))
      return try Judge.runProgram(in: folder, with: Place.modules("DflatGraphQL", "MemoryDflat"))
        .output
    }
  }

  static func write(_ text: String, to url: URL) throws {
    try FileManager.default.createDirectory(
      at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: url, atomically: false, encoding: .utf8)
  }

  /// What dflatc and flatc have against schemas; empty if they accept all of them.
  static func complaints(about schemas: [String: String]) throws -> String {
    try withTemporaryDirectory { directory in
      let attributes = ["v", "primary", "references", "indexed", "unique", "swift"]
        .map { "attribute \"\($0)\"; " }.joined()
      for (name, text) in schemas {
        try write(text, to: directory.appending(path: "ours/\(name)"))
        try write(
          "include \"attributes.fbs\"; " + text, to: directory.appending(path: "theirs/\(name)"))
      }
      try write(attributes, to: directory.appending(path: "theirs/attributes.fbs"))
      let names = schemas.keys.sorted()
      var complaints = ""
      let command = CompilerCommand(output: { _ in }, errors: { complaints += $0 })
      _ = command.run(
        ["compile", "-o", directory.appending(path: "swift").path()]
          + names.map { directory.appending(path: "ours/\($0)").path() })
      let theirs = directory.appending(path: "theirs").path()
      let flatc = try Judge.run(
        ["flatc", "--binary", "--schema", "-o", directory.path()] + names.map { "\(theirs)/\($0)" })
      return complaints + (flatc.status == 0 ? "" : flatc.output)
    }
  }
}
