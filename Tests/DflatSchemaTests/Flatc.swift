// Debian's flatc as an independent reference.
//
// flatc refuses some constructs for some languages only, so a schema counts as accepted if it is
// accepted for any of these: the binary schema, Swift, Rust. Dflat's own attributes are declared
// for flatc in a line before the text.

import Foundation
import Testing

enum Flatc {
  /// Whether flatc accepts each of the schemas at `paths`, relative to `directory`.
  ///
  /// A single shell checks all of them, because starting processes from Swift one by one takes
  /// longer than flatc itself.
  static func accepts(_ paths: [String], in directory: String) throws -> [String: Bool] {
    let script = """
      for file do
        if flatc -b --schema -o out "$file" || flatc --swift -o out "$file" \\
          || flatc --rust -o out "$file"
        then echo "+$file" >&3; else echo "-$file" >&3; fi
      done 3>&1 >flatc.log 2>&1
      """
    let output = try run(["sh", "-c", script, "sh"] + paths, in: directory)
    var verdicts: [String: Bool] = [:]
    for line in output.split(separator: "\n") {
      verdicts[String(line.dropFirst())] = line.first == "+"
    }
    try #require(verdicts.count == paths.count, "flatc gave no verdict on some schemas")
    return verdicts
  }

  /// The C++ code that flatc generates for a schema, from which layouts can be read.
  static func cpp(_ text: String) throws -> String {
    try withTemporaryDirectory { directory in
      try text.write(toFile: directory + "/judged.fbs", atomically: true, encoding: .utf8)
      let log = try run(["flatc", "--cpp", "judged.fbs"], in: directory)
      let output = try? String(contentsOfFile: directory + "/judged_generated.h", encoding: .utf8)
      return try #require(output, "flatc: \(log)")
    }
  }

  /// An empty object of the schema's root as JSON, with every default; enums are names.
  static func jsonOfEmptyObject(_ text: String) throws -> Data {
    try withTemporaryDirectory { directory in
      let schema = declaringAttributes(Array(text.utf8))
      try Data(schema).write(to: URL(fileURLWithPath: directory + "/judged.fbs"))
      try attributes.write(
        toFile: directory + "/dflat_attributes.fbs", atomically: true, encoding: .utf8)
      try "{}".write(toFile: directory + "/empty.json", atomically: true, encoding: .utf8)
      let script = """
        flatc -b judged.fbs empty.json && flatc -t --strict-json --defaults-json \
          --no-prefix --raw-binary -o out judged.fbs -- empty.bin
        """
      let log = try run(["sh", "-c", script], in: directory)
      let json = FileManager.default.contents(atPath: directory + "/out/empty.json")
      return try #require(json, "flatc: \(log)")
    }
  }

  static func run(_ arguments: [String], in directory: String) throws -> String {
    try requireInstalled()
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = arguments
    process.currentDirectoryURL = URL(fileURLWithPath: directory)
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let data = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    return String(decoding: data, as: UTF8.self)
  }

  private static func requireInstalled() throws {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin"
    let isInstalled = path.split(separator: ":").contains {
      FileManager.default.isExecutableFile(atPath: "\($0)/flatc")
    }
    try #require(
      isInstalled,
      "flatc is not installed; it judges this test: apt-get install flatbuffers-compiler")
  }

  /// `text` in the form for flatc: with Dflat's attributes declared. Line numbers do not change.
  static func declaringAttributes(_ text: [UInt8]) -> [UInt8] {
    let declaration = Array("include \"dflat_attributes.fbs\"; ".utf8)
    let words = ["primary", "index", "unique", "(v", "swift", "fulltext"]
    let string = String(decoding: text, as: UTF8.self)
    return words.contains { string.contains($0) } ? declaration + text : text
  }

  static let attributes =
    [
      "primary", "indexed", "unique", "index", "v", "swift", "swift_name", "references", "ondelete",
      "inverse", "fulltext",
    ]
    .map { "attribute \"\($0)\"; " }.joined() + "\n"
}

/// Runs `body` with a new directory, which is removed afterwards.
func withTemporaryDirectory<Result>(_ body: (String) throws -> Result) throws -> Result {
  let directory = FileManager.default.temporaryDirectory
    .appendingPathComponent("dflat-schema-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  defer {
    do {
      try FileManager.default.removeItem(at: directory)
    } catch {
      Issue.record("cannot remove \(directory.path): \(error)")
    }
  }
  return try body(directory.path)
}
