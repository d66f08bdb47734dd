// Messages about the `index` attribute: each points at its word inside the string.

import DflatSchema
import Testing

@Suite("Diagnostics of compound indexes")
struct CompoundIndexDiagnosticTests {
  private static let fields = """
    {
      id: int (primary); archived: bool; sort_date: long; title: string; tags: [string];
      author: Author; place: Place; thing: Thing; old: int (deprecated); note: Note;
    }
    table Author { handle: string; friend: Author; }
    struct Place { lat: double; lon: double; }
    root_type Note;
    """

  private static let thing = "table Video { url: string; } union Thing { Video }"

  private func said(_ index: String) -> String {
    compile("\(Self.thing)\ntable Note (index: \(index)) \(Self.fields)").diagnostics.map {
      $0.rendered()
    }
    .joined(separator: "\n")
  }

  @Test("A misspelt field is underlined inside the string")
  func unknownField() {
    let text = """
      table Note (index: "id, archievd") { id: int (primary); archived: bool; }
      root_type Note;
      """
    #expect(
      compile(text).diagnostics.map { $0.rendered() } == [
        """
        test.fbs:1:25: error: 'Note' has no field 'archievd'
            1 | table Note (index: "id, archievd") { id: int (primary); archived: bool; }
              |                         ^~~~~~~~
        note: did you mean 'archived'?
        """
      ])
  }

  @Test(
    "Each mistake is told at its word",
    arguments: [
      ("\"archived, author.handl\"", 31, "'Author' has no field 'handl'", "did you mean 'handle'?"),
      ("\"archived, tags\"", 31, "'tags' cannot be indexed: a vector has no order", ""),
      ("\"archived, author\"", 31, "'author' cannot be indexed: a table has no", "author.name"),
      ("\"archived, place\"", 31, "'place' cannot be indexed: a struct has no order", ""),
      ("\"archived, thing\"", 31, "'thing' cannot be indexed: a union has no order", "(indexed)"),
      ("\"archived, thing.url\"", 31, "does not pass through a union", ""),
      ("\"archived, title.x\"", 31, "'title' is a string and has no fields", ""),
      ("\"archived, old\"", 31, "'old' is deprecated", ""),
      ("\"archived, author.friend.handle\"", 31, "does not pass through a table twice", ""),
      ("\"archived, note.id\"", 31, "does not pass through a table twice", ""),
      ("\"archived, title, archived\"", 38, "'archived' is in this index already", "it is here"),
      ("\"archived, title nocase, title\"", 45, "'title' is in this index already", ""),
      ("\"archived,, title\"", 30, "a field is missing", ""),
      ("\"archived, title;\"", 37, "a field is missing", "',' stands between"),
      ("\"archived, sort_date desc\"", 41, "unknown word 'desc'", "'nocase'"),
      ("\"archived, title nocas\"", 37, "unknown word 'nocas'", "did you mean 'nocase'?"),
      ("\"archived, title nocase nocase\"", 44, "'nocase' is given twice", ""),
      ("\"archived unique, title\"", 30, "'unique' concerns the whole index", ""),
      ("\"archived, title unique nocase\"", 44, "'nocase' stands directly behind its field", ""),
      ("\"archived, sort_date nocase\"", 41, "'sort_date' is a scalar, which has no case", ""),
      ("\"archived, title; title, id; archived,title\"", 49, "an index of the same", "it is here"),
      ("\"archived\"", 21, "an index of one field", "put '(indexed)' on 'archived'"),
      ("\"archived unique\"", 21, "an index of one field", "put '(unique)' on 'archived'"),
      ("\"\"", 20, "the fields are missing", "for example"),
      ("\" \"", 20, "the fields are missing", "for example"),
    ])
  func mistakes(index: String, column: Int, message: String, note: String) throws {
    let text = said(index)
    #expect(text.hasPrefix("test.fbs:2:\(column): error: "), "\(text)")
    #expect(text.contains(message), "\(text)")
    #expect(text.contains(note), "\(text)")
    #expect(text.ranges(of: "error:").count == 1, "\(text)")
  }

  @Test("'index' belongs to tables, and has an effect on roots only")
  func places() {
    let field = compile("table Note { id: int (primary, index: \"id\"); }\nroot_type Note;")
      .diagnostics.map { $0.rendered() }.joined()
    #expect(field.contains("test.fbs:1:32: error: 'index' is an attribute of tables"), "\(field)")
    #expect(field.contains("'(indexed)'"))
    let other = compile(
      "table A (index: \"x, y\") { x: int; y: int; }\ntable Note { id: int (primary); a: A; }\n"
        + "root_type Note;")
    #expect(other.schema != nil)
    #expect(
      other.diagnostics.map { $0.rendered() }.joined().contains(
        "test.fbs:1:10: warning: the objects of 'A' are not stored by themselves"))
  }

  @Test("Indexes have storage names that depend on their fields alone")
  func names() throws {
    let schema = try schema(
      """
      \(Self.thing)
      table Note (index: "archived, author.handle nocase; place.lon,title unique; title nocase") \
      \(Self.fields)
      """)
    let paths = schema.indexPaths(of: QualifiedName("Note"))
    #expect(
      paths.map(\.path) == [
        "x__f6__x__f14__f4__nocase", "x__f16__f8__x__f10", "x__f10__nocase",
      ])
    #expect(paths.map(\.isUnique) == [false, true, false])
    #expect(
      paths.map { $0.compound?.name } == [
        "archived, author.handle nocase", "place.lon, title", "title nocase",
      ])
  }
}
