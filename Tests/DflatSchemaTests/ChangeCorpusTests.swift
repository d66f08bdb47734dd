// Every kind of change, as a pair of schemas with a hand-written expected result.
//
// A folder has `old.fbs` and `new.fbs`, perhaps with includes, and `expected.txt`: all changes,
// each as a line `kind severity subject old-file:line:column new-file:line:column`.

import DflatSchema
import Foundation
import Testing

@Suite("The corpus of changes")
struct ChangeCorpusTests {
  struct Case: CustomTestStringConvertible, Sendable {
    var name: String
    var testDescription: String { name }

    static let directory = CorpusTests.Case.directory + "/changes"

    static let all: [Case] = {
      let names = try? FileManager.default.contentsOfDirectory(atPath: directory)
      return (names ?? []).sorted().map(Case.init)
    }()

    func path(_ file: String) -> String { "\(Self.directory)/\(name)/\(file)" }

    func schema(_ file: String) throws -> Schema {
      let result = SchemaCompiler().compile(file: path(file))
      let errors = result.diagnostics.map { $0.rendered() }.joined(separator: "\n")
      return try #require(result.schema, "\(errors)")
    }

    func text(_ file: String) throws -> String {
      try String(contentsOfFile: path(file), encoding: .utf8)
    }

    func comparison() throws -> SchemaComparison {
      SchemaComparison(old: try schema("old.fbs"), new: try schema("new.fbs"))
    }

    /// A change in the corpus's form.
    func line(_ change: SchemaChange) -> String {
      func place(_ position: SourcePosition) -> String {
        "\(position.file.dropFirst(path("").count)):\(position.line):\(position.column)"
      }
      let subject = change.subject.isEmpty ? "-" : change.subject
      return "\(change.kind.rawValue) \(change.severity.rawValue) \(subject) "
        + "\(place(change.old)) \(place(change.new))"
    }
  }

  @Test("Each change is found, with its severity and both positions", arguments: Case.all)
  func changes(_ pair: Case) throws {
    let found = try pair.comparison().changes.map(pair.line).sorted()
    let expected = try pair.text("expected.txt").split(separator: "\n").map(String.init).sorted()
    #expect(found == expected)
  }

  @Test("Each kind of change is in the corpus")
  func complete() throws {
    let text = try Case.all.map { try $0.text("expected.txt") }.joined()
    let kinds = Set(text.split(separator: "\n").compactMap { $0.split(separator: " ").first })
    for kind in SchemaChange.Kind.allCases {
      #expect(kinds.contains(Substring(kind.rawValue)), "\(kind)")
    }
    #expect(Case.all.count >= 100)
  }

  @Test("A schema has no changes against itself, and messages are short and complete")
  func wording() throws {
    for pair in Case.all {
      let (old, new) = (try pair.schema("old.fbs"), try pair.schema("new.fbs"))
      #expect(SchemaComparison(old: old, new: old).changes.isEmpty, "\(pair.name)")
      #expect(SchemaComparison(old: new, new: new).changes.isEmpty, "\(pair.name)")
      for change in SchemaComparison(old: old, new: new).changes {
        for text in [change.message, change.effect] {
          #expect(!text.isEmpty && !text.contains("\n") && text.last != ".", "\(text)")
        }
      }
    }
  }

  @Test("Changes come in the order of the new version's text")
  func order() throws {
    for pair in Case.all {
      let places = try pair.comparison().changes.map(\.new).filter {
        $0.file == pair.path("new.fbs")
      }
      let sorted = places.sorted { ($0.line, $0.column) < ($1.line, $1.column) }
      #expect(places == sorted, "\(pair.name)")
    }
  }

  @Test("A renamed root is reported once, with table and version")
  func storageNames() throws {
    let comparison = SchemaComparison(
      old: try schema(
        "namespace A.B; table Post (v: \"1.0\") { id: int (primary); } root_type Post;"),
      new: try schema(
        "namespace A.B; table Entry (v: \"1.1\") { id: int (primary); } root_type Entry;"))
    let change = try #require(comparison.changes.first)
    #expect(comparison.changes.count == 1 && change.kind == .rootRenamed)
    #expect(
      change.message.contains("'a__b__post_v1_0'") && change.message.contains("'a__b__entry_v1_1'"))
  }
}
