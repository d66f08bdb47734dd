// The `fulltext` attribute: which fields are found, their common index, and messages about it.

import DflatSchema
import Testing

@Suite("Full-text fields")
struct FullTextTests {
  private func said(_ fields: String) -> String {
    compile("table Note {\n  id: int (primary);\n  \(fields)\n}\nroot_type Note;")
      .diagnostics.map { $0.rendered() }.joined(separator: "\n")
  }

  @Test("Fields at the root, nested and in unions share one index, in declaration order")
  func paths() throws {
    let schema = try schema(
      """
      table Author { name: string (fulltext); age: int; }
      table Quote { text: string (fulltext); by: Author; note: Note; }
      union Extra { Quote, plain: string }
      table Note {
        id: int (primary);
        title: string (indexed, fulltext);
        author: Author;
        gone: string (fulltext, deprecated);
        body: string (fulltext: "porter unicode61");
        extra: Extra;
        tags: [string];
      }
      root_type Note;
      """)
    let note = QualifiedName("Note")
    let fullText = try #require(schema.fullText(of: note))
    #expect(
      fullText.fields.map(\.path) == ["f6", "f8__f4", "f12", "f16__u1__f4", "f16__u1__f6__f4"])
    #expect(fullText.tokenizer == .porter)
    #expect(
      fullText.storageName
        == "fulltext__porter__x__f6__x__f8__f4__x__f12__x__f16__u1__f4__x__f16__u1__f6__f4")
    #expect(schema.indexPaths(of: note).map(\.path) == ["f6"])
    #expect(try schema.table("Author").fields.map(\.isFullText) == [true, false])
    #expect(schema.fullText(of: QualifiedName("Author"))?.tokenizer == .unicode61)
    let plain = try DflatSchemaTests.schema("table T { id: int (primary); } root_type T;")
    #expect(plain.fullText(of: QualifiedName("T")) == nil)
  }

  @Test("An unknown tokenizer is underlined, with what was meant")
  func unknownTokenizer() {
    #expect(
      said("title: string (fulltext: \"portr\");") == """
        test.fbs:3:28: error: unknown tokenizer "portr"
            3 |   title: string (fulltext: "portr");
              |                            ^~~~~~~
        note: did you mean 'porter'?
        """)
    #expect(said("t: string (fulltext: \"icu\");").contains("the tokenizers are \"unicode61\""))
    #expect(said("t: string (fulltext: \"porter trigram\");").contains("choose one of them"))
    #expect(said("t: string (fulltext: 3);").contains("unknown tokenizer \"3\""))
    #expect(said("t: string (fulltext: \"\");").contains("unknown tokenizer \"\""))
    for good in [
      "unicode61", "porter", "porter unicode61", " trigram ", "cjk", "unicode61 cjk", "porter cjk",
    ] {
      #expect(said("t: string (fulltext: \"\(good)\");") == "")
    }
  }

  @Test("Only strings have words")
  func unsuited() {
    #expect(
      said("tags: [string] (fulltext);") == """
        test.fbs:3:19: error: 'tags' cannot be searched for words: it is a vector
            3 |   tags: [string] (fulltext);
              |                   ^~~~~~~~
        note: keep the words in one string, or search the elements with 'any'
        """)
    for field in ["n: int (fulltext);", "b: [ubyte] (fulltext);", "x: Note (fulltext);"] {
      #expect(said(field).contains("cannot be searched for words"))
    }
    #expect(
      errors("table Note (fulltext) { id: int (primary); } root_type Note;") == [
        "1:13: 'fulltext' is an attribute of fields"
      ])
  }

  @Test("Each field may have its own tokenizer; a field without one takes that of the others")
  func differentTokenizers() throws {
    let text = said(
      "a: string (fulltext);\n  b: string (fulltext: \"porter\");\n  c: string (fulltext: \"trigram\");"
    )
    #expect(
      text.contains("test.fbs:3:3: error: a full-text field of 'Note' names no tokenizer, and"))
    #expect(text.contains("have different ones, \"porter\" and \"trigram\""))
    #expect(
      text.contains("\"porter\" is named here") && text.contains("\"trigram\" is named here"))
    #expect(said("a: string (fulltext);\n  b: string (fulltext: \"porter\");") == "")
    let schema = try schema(
      """
      table Author { name: string (fulltext: "unicode61"); }
      table Note {
        id: int (primary);
        a: string (fulltext: "porter"); b: string (fulltext: "porter cjk");
        author: Author; c: string (fulltext: "trigram");
      }
      table Text { id: int (primary); a: string (fulltext); b: string (fulltext: "cjk"); }
      root_type Note;
      """)
    let note = try #require(schema.fullText(of: QualifiedName("Note")))
    #expect(note.tokenizer == nil)
    #expect(note.fields.map(\.tokenizer) == [.porter, .porterCJK, .unicode61, .trigram])
    #expect(
      note.storageName
        == "fulltext__tokens__x__f6__porter__x__f8__portercjk__x__f10__f4__unicode61"
        + "__x__f12__trigram")
    let text2 = try #require(schema.fullText(of: QualifiedName("Text")))
    #expect(text2.tokenizer == .cjk)
    #expect(text2.storageName == "fulltext__tokens__x__f6__cjk__x__f8__cjk")
  }

  @Test("A root has a limited number of full-text fields")
  func limit() {
    let fields = (1...65).map { "s\($0): string (fulltext);" }
    #expect(said(fields.joined()).contains("more than 64 full-text fields"))
    #expect(said(fields.dropLast().joined()) == "")
  }
}
