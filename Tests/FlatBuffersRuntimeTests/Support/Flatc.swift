// Runs flatc, the FlatBuffers compiler of the distribution, as an independent check of our bytes.

import Foundation

struct FlatcError: Error, CustomStringConvertible {
  let description: String
}

enum Flatc {
  private static let path = ["/usr/bin/flatc", "/usr/local/bin/flatc", "/opt/homebrew/bin/flatc"]
    .first { FileManager.default.isExecutableFile(atPath: $0) }

  static var isInstalled: Bool { path != nil }

  /// The JSON of a finished buffer.
  static func json(of bytes: UnsafeRawBufferPointer, _ schema: Schema, sizePrefixed: Bool = false)
    throws -> [UInt8]
  {
    try withDirectory { directory in
      let binary = directory.appendingPathComponent("data.bin")
      try Data(bytes).write(to: binary)
      let options =
        ["--json", "--strict-json", "--raw-binary"] + (sizePrefixed ? ["--size-prefixed"] : [])
      try run(schema, options, input: binary, directory)
      return [UInt8](try Data(contentsOf: directory.appendingPathComponent("data.json")))
    }
  }

  /// The buffer that flatc creates from JSON.
  static func binary(of json: String, _ schema: Schema, sizePrefixed: Bool = false) throws
    -> [UInt8]
  {
    try withDirectory { directory in
      let text = directory.appendingPathComponent("data.json")
      try Data(json.utf8).write(to: text)
      try run(
        schema, ["--binary"] + (sizePrefixed ? ["--size-prefixed"] : []), input: text, directory)
      return [UInt8](try Data(contentsOf: directory.appendingPathComponent("data.bin")))
    }
  }

  private static func run(
    _ schema: Schema, _ options: [String], input: URL, _ directory: URL
  ) throws {
    let schemaFile = directory.appendingPathComponent("schema.fbs")
    try Data(schema.text.utf8).write(to: schemaFile)
    if options.contains("--binary") {
      try run(options + ["-o", directory.path, schemaFile.path, input.path])
    } else {
      // flatc 2.0.8 cannot print JSON with the text of a schema that has vectors of unions; with
      // the compiled schema it can.
      try run(["--binary", "--schema", "-o", directory.path, schemaFile.path])
      let compiled = directory.appendingPathComponent("schema.bfbs")
      try run(options + ["-o", directory.path, compiled.path, "--", input.path])
    }
  }

  private static func run(_ arguments: [String]) throws {
    guard let path else { throw FlatcError(description: "flatc is not installed") }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = arguments
    let output = Pipe()
    process.standardOutput = output
    process.standardError = output
    try process.run()
    let message = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationReason == .exit, process.terminationStatus == 0 else {
      throw FlatcError(
        description: "flatc \(arguments) ended with \(process.terminationStatus): "
          + String(decoding: message.prefix(2000), as: UTF8.self))
    }
  }

  private static func withDirectory<R>(_ body: (URL) throws -> R) throws -> R {
    let directory = FileManager.default.temporaryDirectory
      .appendingPathComponent("flatc-" + UUID().uuidString)
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    do {
      let result = try body(directory)
      try FileManager.default.removeItem(at: directory)
      return result
    } catch {
      try FileManager.default.removeItem(at: directory)
      throw error
    }
  }
}
