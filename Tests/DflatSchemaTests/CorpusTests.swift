// Schemas that flatc rejects are rejected; schemas that it accepts are accepted, or rejected for a
// stated reason.
//
// The corpus is a folder of schemas, one theme per file. If flatc accepts a schema in `invalid`,
// its first line states the reason, `// dflat: rejects — reason`; and the line at which the error
// should point ends in `// <- error`. If flatc rejects a schema in `valid`, its first line is
// `// dflat: accepts — reason`.

import DflatSchema
import Foundation
import Testing

@Suite("The corpus of schemas")
struct CorpusTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var folder: String
    var name: String
    var testDescription: String { name }

    var path: String { Self.directory + "/\(folder)/\(name)" }

    static let directory = Bundle.module.bundlePath + "/Corpus"

    static func all(_ folder: String) -> [Case] {
      let names = try? FileManager.default.contentsOfDirectory(atPath: "\(directory)/\(folder)")
      return (names ?? []).filter { $0.hasSuffix(".fbs") }.sorted()
        .map { Case(folder: folder, name: $0) }
    }

    func content() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(fileURLWithPath: path))) }

    /// The reason for rejecting a schema that flatc accepts, or for accepting one that it rejects.
    func ownReason() throws -> String? {
      let marker = "// dflat: \(folder == "valid" ? "accepts" : "rejects") — "
      let text = String(decoding: try content(), as: UTF8.self)
      return text.hasPrefix(marker)
        ? String(text.dropFirst(marker.count).prefix { $0 != "\n" }) : nil
    }
  }

  @Test("The corpus has enough schemas")
  func size() {
    #expect(Case.all("valid").count >= 150)
    #expect(Case.all("invalid").count >= 150)
  }

  @Test("A valid schema compiles", arguments: Case.all("valid"))
  func valid(_ schema: Case) {
    let result = SchemaCompiler().compile(file: schema.path)
    let text = result.diagnostics.map { $0.rendered() }.joined(separator: "\n")
    #expect(result.schema != nil, "\(text)")
    #expect(!result.diagnostics.contains { $0.severity == .error })
  }

  @Test("An invalid schema is rejected, at the right line", arguments: Case.all("invalid"))
  func invalid(_ schema: Case) throws {
    let result = SchemaCompiler().compile(file: schema.path)
    #expect(result.schema == nil)
    let errors = result.diagnostics.filter { $0.severity == .error }
    let first = try #require(errors.first)
    for error in errors {
      let position = try #require(error.position)
      #expect(position.line >= 1 && position.column >= 1)
      #expect(error.rendered().hasPrefix("\(position.file):\(position.line):\(position.column): "))
    }
    let lines = String(decoding: try schema.content(), as: UTF8.self)
      .split(separator: "\n", omittingEmptySubsequences: false)
    guard let marked = lines.firstIndex(where: { $0.contains("// <- error") }) else { return }
    #expect(first.position?.line == marked + 1, "\(first.rendered())")
    #expect(first.position?.file == schema.path)
  }

  @Test("One mistake gives one error, or two if a word is missing", arguments: Case.all("invalid"))
  func noCascades(_ schema: Case) {
    let result = SchemaCompiler().compile(file: schema.path)
    let errors = result.diagnostics.filter { $0.severity == .error }
    let text = errors.map { $0.rendered() }.joined(separator: "\n")
    #expect(errors.count <= 2, "\(text)")
  }

  @Test("flatc agrees, except where a file states a reason")
  func agreement() throws {
    let cases = Case.all("valid") + Case.all("invalid")
    try withTemporaryDirectory { directory in
      let files = FileManager.default
      for folder in ["valid", "invalid"] {
        try files.copyItem(
          atPath: "\(Case.directory)/\(folder)", toPath: "\(directory)/\(folder)")
        try Flatc.attributes.write(
          toFile: "\(directory)/\(folder)/dflat_attributes.fbs", atomically: true, encoding: .utf8)
      }
      for schema in cases {
        let text = Flatc.declaringAttributes(try schema.content())
        try Data(text).write(
          to: URL(fileURLWithPath: "\(directory)/\(schema.folder)/\(schema.name)"))
      }
      let verdicts = try Flatc.accepts(
        cases.map { "\($0.folder)/\($0.name)" }, in: directory)
      for schema in cases {
        let isExpected = try (schema.folder == "valid") == (schema.ownReason() == nil)
        let isAccepted = verdicts["\(schema.folder)/\(schema.name)"]
        #expect(isAccepted == isExpected, "flatc on \(schema.folder)/\(schema.name)")
      }
    }
  }
}
