// graphql-core, the reference implementation for Python, as an independent judge.
//
// One process judges all cases. It is found where `make bootstrap` puts it, or among the modules of
// the system's Python.

import Foundation
import GraphQLSchema
import Testing

enum Judge {
  private struct Question: Encodable {
    var schema: String
    var document: String?
  }

  /// The rules that each case breaks, in graphql-core's opinion; nil where it fails.
  static func verdicts(on cases: [Case]) throws -> [Set<String>?] {
    try ask(
      cases.map { item in
        let directives = item.document == nil ? "" : newerDirectives
        return Question(schema: item.schema + directives, document: item.document)
      }, [])
  }

  /// The definitions of the directives that every schema has here, and graphql-core 3.2 does not
  /// know.
  private static let newerDirectives: String = {
    let known = ["skip", "include", "deprecated", "specifiedBy"]
    let schema = readSchema("type Query { a: Int }").value
    return (schema?.directives ?? []).filter { !known.contains($0.name) }.map { directive in
      let arguments = directive.arguments.map { argument in
        "\(argument.name): \(argument.type)"
          + (argument.defaultValue.map { " = " + $0.canonicalText } ?? "")
      }
      return "\ndirective @\(directive.name)"
        + (arguments.isEmpty ? "" : "(\(arguments.joined(separator: ", ")))")
        + (directive.isRepeatable ? " repeatable" : "")
        + " on " + directive.locations.map(\.rawValue).joined(separator: " | ")
    }.joined()
  }()

  /// What a server with each of the schemas answers to an introspection query.
  static func introspection(of schemas: [String]) throws -> [String] {
    try ask(schemas.map { Question(schema: $0) }, ["introspection"])
  }

  private static func ask<Answer: Decodable>(
    _ questions: [Question], _ arguments: [String]
  ) throws -> [Answer] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["python3", Bundle.module.bundlePath + "/Judge/judge.py"] + arguments
    let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    var environment = ProcessInfo.processInfo.environment
    let modules = checkout.appendingPathComponent(".build/python").path
    environment["PYTHONPATH"] =
      environment["PYTHONPATH"].map { modules + ":" + $0 } ?? modules
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    process.environment = environment
    let input = FileManager.default.temporaryDirectory
      .appendingPathComponent("graphql-judge-\(UUID().uuidString).json")
    defer { try? FileManager.default.removeItem(at: input) }
    try JSONEncoder().encode(questions).write(to: input)
    process.standardInput = try FileHandle(forReadingFrom: input)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    try #require(
      process.terminationStatus == 0,
      "graphql-core 3.2 judges this test and does not run here: Scripts/bootstrap.sh test")
    return try JSONDecoder().decode([Answer].self, from: data)
  }
}
