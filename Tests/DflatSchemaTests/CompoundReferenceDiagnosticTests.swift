// References by several fields: what is refused, where the message points, and what the model has.

import DflatSchema
import Testing

@Suite("References of tables in schemas")
struct CompoundReferenceDiagnosticTests {
  private static let rest = """
    {
      site: string (primary); number: int (primary); title: string; a: string; b: int = null;
      c: long; d: int; tags: [int]; old: int (deprecated); u: int (swift: "Int"); one: string;
    }
    table Inner { a: string; b: int; }
    root_type Post;
    """

  private func compiled(_ references: String) -> CompilationResult {
    compile("table Post (references: \(references)) \(Self.rest)")
  }

  private func said(_ references: String) -> String {
    compiled(references).diagnostics.map { $0.rendered() }.joined(separator: "\n")
  }

  @Test("The references are in the model")
  func model() throws {
    let text =
      "\"next: a, b -> Post ondelete nullify inverse previous; other:one,d->Post inverse others ;\""
    let schema = try #require(compiled(text).schema)
    let name = QualifiedName(namespace: [], name: "Post")
    guard case .table(let table)? = schema.types[name] else {
      Issue.record("there is no table")
      return
    }
    #expect(table.compoundReferences.map(\.name) == ["next", "other"])
    #expect(table.compoundReferences.map(\.fields) == [["a", "b"], ["one", "d"]])
    #expect(table.references.map(\.target) == [name, name])
    #expect(table.references.map(\.rule) == [.nullify, .nothing])
    #expect(table.references.map(\.inverse) == ["previous", "others"])
  }

  @Test("A wrong type is underlined inside the string, with the key that is meant")
  func wrongType() {
    #expect(
      compile(
        """
        table Post (references: "next: a, b -> Post") {
          site: string (primary); number: int (primary); a: string; b: long;
        }
        root_type Post;
        """
      ).diagnostics.map { $0.rendered() } == [
        """
        test.fbs:1:35: error: 'b' is long, and the primary key of 'Post', 'number', is int
            1 | table Post (references: "next: a, b -> Post") {
              |                                   ^
        test.fbs:2:27: note: the key is declared here
            2 |   site: string (primary); number: int (primary); a: string; b: long;
              |                           ^~~~~~
        note: a reference has the type of the key
        """
      ])
  }

  @Test(
    "Each mistake is told once, at its word",
    arguments: [
      ("\"\"", 25, "the references are missing", "author: author_site, author_number -> Author"),
      ("\";\"", 25, "the references are missing", ""),
      ("5", 25, "the references are missing", ""),
      ("\"next\"", 26, "':' is missing behind 'next'", "for example"),
      ("\": a, b -> Post\"", 26, "the name of the reference is missing before ':'", ""),
      ("\"next a, b -> Post\"", 31, "':' is missing before 'a'", ""),
      ("\"next: a, -> Post\"", 35, "a field is missing before '->'", ""),
      ("\"next: a b -> Post\"", 34, "'->' is missing before 'b'", ""),
      ("\"next: a, b\"", 35, "'->' is missing behind 'b'", ""),
      ("\"next: a, b ->\"", 37, "the entity is missing behind '->'", ""),
      ("\"next: a, b -> Pots\"", 40, "unknown type 'Pots'", ""),
      ("\"next: a, b -> Inner\"", 40, "'Inner' cannot be referred to: it is no entity", ""),
      ("\"2x: a, b -> Post\"", 26, "'2x' is no name for a reference", ""),
      ("\"title: a, b -> Post\"", 26, "has a field 'title' already", "declared here"),
      ("\"hash: a, b -> Post\"", 26, "every entity has", ""),
      ("\"x: a, b -> Post; x: one, d -> Post\"", 43, "has a reference 'x' already", "it is here"),
      ("\"next: a, bb -> Post\"", 35, "'Post' has no field 'bb'", "did you mean 'b'?"),
      ("\"next: a, old -> Post\"", 35, "'old' is deprecated", ""),
      ("\"next: a, tags -> Post\"", 35, "a vector is no part of a key", ""),
      ("\"next: a, a -> Post\"", 35, "'a' is in this reference already", "it is here"),
      ("\"next: b, a -> Post\"", 32, "'b' is int, and the primary key of 'Post', 'site', is", ""),
      ("\"next: a, u -> Post\"", 35, "another Swift type", "leave 'swift' out"),
      (
        "\"next: a -> Post\"", 32, "'next' has 1 field, and the primary key", "'site', 'number', in"
      ),
      ("\"next: a, b, d -> Post\"", 32, "'next' has 3 fields, and the primary key of", ""),
      ("\"next: a, b -> Post ondelete nulify\"", 54, "unknown rule 'nulify'", "did you mean"),
      ("\"next: a, b -> Post ondelete\"", 45, "the rule is missing", ""),
      ("\"next: a, d -> Post ondelete nullify\"", 54, "'d' always has a value", "d: … = null"),
      ("\"next: a, b -> Post delete cascade\"", 45, "unknown word 'delete'", "'ondelete'"),
      ("\"next: a, b -> Post inverse\"", 45, "'inverse' needs a name", ""),
      ("\"next: a, b -> Post inverse title\"", 53, "has a field 'title' already", ""),
      ("\"next: a, b -> Post inverse next\"", 53, "has a reference 'next' already", "it is here"),
      ("\"next: a, b -> Post inverse x inverse y\"", 55, "'inverse' is given twice", ""),
      (
        "\"x: a, b -> Post inverse y; z: one, d -> Post inverse y\"", 79, "an inverse 'y' already",
        ""
      ),
    ])
  func mistakes(references: String, column: Int, message: String, note: String) {
    let text = said(references)
    #expect(text.hasPrefix("test.fbs:1:\(column): error: "), "\(text)")
    #expect(text.contains(message) && (note.isEmpty || text.contains(note)), "\(text)")
    #expect(text.ranges(of: "error:").count == 1, "\(text)")
  }

  @Test("Only roots refer to entities, and by one field in the way of fields")
  func places() {
    let inner = compile(
      """
      table Inner (references: "post: a, b -> Post") { a: int; b: int; }
      table Post { a: int (primary); b: int (primary); inner: Inner; }
      root_type Post;
      """)
    #expect(inner.diagnostics.map(\.message).count == 1)
    #expect(inner.diagnostics[0].message.contains("are not stored by themselves"))
    let single = compile(
      """
      table Post (references: "next: a -> Post") { id: int (primary); a: int; }
      root_type Post;
      """)
    #expect(
      single.diagnostics.map(\.message) == ["a reference of one field is declared on the field"])
    let structure = compile("struct Pair (references: \"x: a, b -> Pair\") { a: int; b: int; }")
    #expect(
      structure.diagnostics.map(\.message) == [
        "'references' is an attribute of fields and tables"
      ])
    let ofField = compile(
      """
      table Post { id: int (primary); site: int (primary); next: int (references: "Post"); }
      root_type Post;
      """
    ).diagnostics.map { $0.rendered() }.joined()
    #expect(ofField.contains("(references: \"name: … id, … site -> Post\")"), "\(ofField)")
  }
}
