// References: what is refused, where the message points, and what the model has.

import DflatSchema
import Testing

@Suite("References in schemas")
struct ReferenceDiagnosticTests {

  private func compiled(_ field: String) -> CompilationResult {
    compile(
      """
      namespace Blog;
      table Inner { x: int; }
      table Post {
        id: int (primary); title: string;
        \(field)
      }
      root_type Post;
      """)
  }

  private func said(_ field: String) -> String {
    compiled(field).diagnostics.map { $0.rendered() }.joined(separator: "\n")
  }

  @Test("A reference is in the model")
  func model() throws {
    let schema = try #require(
      compiled(
        """
        parent: int = null (references: "Post", ondelete: "nullify", inverse: "replies");
          others: [int] (references: "Blog.Post", ondelete: "cascade");
        """
      ).schema)
    let name = QualifiedName(namespace: ["Blog"], name: "Post")
    guard case .table(let table)? = schema.types[name] else { throw NoTable() }
    let references = table.fields.compactMap(\.reference)
    #expect(references.map(\.target) == [name, name])
    #expect(references.map(\.rule) == [.nullify, .cascade])
    #expect(references.map(\.inverse) == ["replies", nil])
  }

  private struct NoTable: Error {}

  @Test("A wrong type is underlined, with the key that is meant")
  func wrongType() {
    #expect(
      said("parent: string (references: \"Post\");") == """
        test.fbs:5:19: error: 'parent' is string, and the primary key of 'Blog.Post', 'id', is int
            5 |   parent: string (references: "Post");
              |                   ^~~~~~~~~~
        test.fbs:4:3: note: the key is declared here
            4 |   id: int (primary); title: string;
              |   ^~
        note: a reference has the type of the key
        """)
  }

  @Test(
    "Each mistake is told once",
    arguments: [
      ("a: int (references: \"Pots\");", "unknown type 'Pots'"),
      ("a: int (references: \"Inner\");", "'Blog.Inner' cannot be referred to: it is no entity"),
      ("a: int (references);", "the entity is missing"),
      ("a: long (references: \"Post\");", "'a' is long, and the primary key"),
      ("a: Inner (references: \"Post\");", "a table is no key"),
      ("a: [Inner] (references: \"Post\");", "a table is no key"),
      ("a: int (references: \"Post\", ondelete: \"nulify\");", "did you mean 'nullify'?"),
      ("a: int (references: \"Post\", ondelete);", "the rule is missing"),
      ("a: int (references: \"Post\", ondelete: \"nullify\");", "let it be empty: a: … = null"),
      ("a: int (ondelete: \"cascade\");", "'ondelete' belongs to a reference"),
      ("a: int (inverse: \"all\");", "'inverse' belongs to a reference"),
      ("a: int (references: \"Post\", inverse: \"a b\");", "'inverse' needs a name"),
      ("a: int (references: \"Post\", inverse: \"title\");", "has a field 'title' already"),
      ("a: int (references: \"Post\", inverse: \"id\");", "has a field 'id' already"),
      ("a: int (references: \"Post\", inverse: \"hashValue\");", "every entity has"),
      ("a: int (references: \"Post\", deprecated);", "'a' is deprecated and refers to nothing"),
      (
        "a: int (references: \"Post\", inverse: \"x\"); b: int (references: \"Post\", inverse: \"x\");",
        "has an inverse 'x' already"
      ),
      ("a: int (swift: \"Int\", references: \"Post\");", "another Swift type"),
    ])
  func mistakes(field: String, message: String) {
    let text = said(field)
    #expect(text.contains(message), "\(text)")
    #expect(text.ranges(of: "error:").count == 1, "\(text)")
  }

  @Test("Only the fields of a root refer to entities, and only to keys of one field")
  func places() {
    let inner = compile(
      """
      table Inner { a: int (references: "Post"); }
      table Post { id: int (primary); inner: Inner; }
      root_type Post;
      """)
    #expect(inner.diagnostics.map(\.message).count == 1)
    #expect(inner.diagnostics[0].message.contains("are not stored by themselves"))
    let structure = compile("struct Pair { a: int (references: \"Pair\"); }")
    #expect(structure.diagnostics.contains { $0.message.contains("attribute of a root's fields") })
    let compound = compile(
      """
      table Post { id: int (primary); site: int (primary); next: int (references: "Post"); }
      root_type Post;
      """)
    #expect(compound.diagnostics[0].message.contains("its primary key has 2 fields"))
  }

  @Test("Adding, changing and removing a reference is compatible")
  func comparing() throws {
    let versions = [
      "a: int = null;", "a: int = null (references: \"Post\");",
      "a: int = null (references: \"Post\", ondelete: \"cascade\", inverse: \"all\");",
    ].map { compiled($0).schema }
    for old in versions {
      for new in versions {
        let comparison = SchemaComparison(old: try #require(old), new: try #require(new))
        #expect(comparison.changes.allSatisfy { $0.severity == .compatible })
      }
    }
  }
}
