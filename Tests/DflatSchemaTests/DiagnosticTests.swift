// The compiler's messages, word for word, with their positions.

import DflatSchema
import Testing

@Suite("Diagnostics")
struct DiagnosticTests {
  /// All messages about a text.
  private func said(_ text: String) -> String {
    compile(text).diagnostics.map { $0.rendered() }.joined(separator: "\n")
  }

  @Test("An error shows its line, underlines the position and says what to do")
  func rendering() {
    #expect(
      said("table Post {\n  images: [string] (indexed);\n}\n") == """
        test.fbs:2:21: error: 'images' cannot be indexed: a vector has no order
            2 |   images: [string] (indexed);
              |                     ^~~~~~~
        note: index a scalar, string, enum or union; or keep the count in a field of its own
        """)
  }

  @Test(
    "A misspelt attribute and Swift type names are recognised",
    arguments: [
      ("x: int (primery);", "did you mean 'primary'?"),
      ("x: int (Indexed);", "did you mean 'indexed'?"),
      ("x: int (swiftname: \"y\");", "did you mean 'swift_name'?"),
      ("x: int (colour);", "an attribute of your own is declared first: attribute \"colour\";"),
      (
        "x: Date;",
        "declare the stored type and add the Swift type as an attribute: long (swift: \"Date\")"
      ),
      (
        "x: Data;",
        "declare the stored type and add the Swift type as an attribute: [ubyte] (swift: \"Data\")"
      ),
    ])
  func meant(field: String, hint: String) {
    #expect(said("table A { \(field) }").hasSuffix("note: " + hint))
  }

  @Test("A note can point at another position")
  func notes() {
    #expect(
      said("table A { x: int; }\nenum A: byte { X }") == """
        test.fbs:2:6: error: 'A' is declared already
            2 | enum A: byte { X }
              |      ^
        test.fbs:1:7: note: as a table, here
            1 | table A { x: int; }
              |       ^
        """)
  }

  @Test("Underlines are aligned with their words after tabs and multi-byte characters")
  func columns() {
    #expect(
      said("table A {\n\t/* äöü */ a: Missing;\n}") == """
        test.fbs:2:18: error: unknown type 'Missing'
            2 | \t/* äöü */ a: Missing;
              | \t             ^~~~~~~
        """)
  }

  @Test("A line with invalid UTF-8 is shown with its columns intact")
  func invalidUTF8() throws {
    let text = Array("table A { /* ".utf8) + [0xFF, 0xFE] + Array(" */ a: Missing; }".utf8)
    let result = SchemaCompiler().compile(source: text, path: "test.fbs")
    let diagnostic = try #require(result.diagnostics.first)
    #expect(
      diagnostic.rendered() == """
        test.fbs:1:23: error: unknown type 'Missing'
            1 | table A { /* ?? */ a: Missing; }
              |                       ^~~~~~~
        """)
  }

  @Test("A missing semicolon is reported where it belongs, without further errors")
  func missingSemicolon() {
    #expect(
      said("table A {\n  a: int\n  b: Missing;\n}") == """
        test.fbs:2:9: error: expected ';' after the field 'a', found 'b'
            2 |   a: int
              |         ^
        test.fbs:3:6: error: unknown type 'Missing'
            3 |   b: Missing;
              |      ^~~~~~~
        """)
  }

  @Test("A forgotten brace is noticed at the next declaration, which is parsed as such")
  func missingBrace() {
    #expect(
      said("table A {\n  a: int;\ntable B { a: A; b: Missing; }") == """
        test.fbs:3:1: error: expected '}' at the end of 'A', found 'table'
            3 | table B { a: A; b: Missing; }
              | ^~~~~
        test.fbs:1:7: note: 'A' begins here
            1 | table A {
              |       ^
        test.fbs:3:20: error: unknown type 'Missing'
            3 | table B { a: A; b: Missing; }
              |                    ^~~~~~~
        """)
  }

  @Test("Several mistakes are several errors, in source order")
  func several() {
    #expect(
      errors(
        """
        enum E: byte { A = 300, B }
        struct S { s: string; }
        table T {
          a: int = x;
          b: [[int]];
          c: E = Nowhere;
          d: S;
          e: Nothing;
        }
        root_type Missing;
        """) == [
          "1:20: 300 is out of range: 'byte' holds -128 to 127",
          "2:15: a struct holds scalars, enums and other structs; 's' is a string",
          "4:12: expected an integer, found 'x'",
          "5:6: a vector of vectors is not possible",
          "8:6: unknown type 'Nothing'",
          "10:11: unknown type 'Missing'",
        ])
  }

  @Test("Consequences of a mistake are not reported")
  func noEcho() {
    #expect(errors("table A { a: B; }\ntable B { x: ; }") == ["2:14: expected a type, found ';'"])
    #expect(
      errors("enum E: byte { A = 300 }\ntable T { e: E; f: E = A; }") == [
        "1:20: 300 is out of range: 'byte' holds -128 to 127"
      ])
    #expect(
      errors("include \"missing.fbs\";\ntable T { a: Missing (their_own); e: Other.Enum = X; }")
        == ["1:9: there is no file 'missing.fbs' to include"])
    #expect(errors("table { a: int; }\ntable B { a: A; }").count == 1)
  }

  @Test(
    "A root whose table SQLite would refuse is an error",
    arguments: [
      ("namespace SQLite; table Post", "SQLite.Post", "sqlite__post"),
      ("namespace sqlite.Inner; table Post", "sqlite.Inner.Post", "sqlite__inner__post"),
      ("namespace sqlite_more; table Post", "sqlite_more.Post", "sqlite_more__post"),
      ("table SQLite_ (swift_name: \"Lite\")", "SQLite_", "sqlite_"),
    ])
  func reservedTables(declaration: String, root: String, table: String) {
    #expect(
      errors("\(declaration) { k: int (primary); }\nroot_type \(root);") == [
        "2:11: the root '\(root)' cannot be stored: its table would be '\(table)', and SQLite keeps "
          + "names that begin with 'sqlite_' for itself"
      ])
    // Only roots have tables, and other names are free.
    #expect(errors("namespace SQLite; table Post { k: int; }") == [])
    #expect(errors("table SQLitePost { k: int (primary); } root_type SQLitePost;") == [])
  }

  @Test("Errors for unknown types suggest the intended name")
  func guesses() {
    let cases = [
      ("table A { a: Int; }", "note: did you mean 'int'?"),
      ("namespace N; table T {} namespace M; table A { t: T; }", "'N.T' exists"),
      ("table A { e: E; } enum E: byte { X }", "must stand above its use"),
    ]
    for (text, hint) in cases {
      #expect(said(text).contains(hint), "\(said(text))")
    }
  }

  @Test("Two schema names that become the same Swift name are both named")
  func swiftNames() {
    #expect(
      said("table A {\n  is_pinned: bool;\n  isPinned: bool;\n}") == """
        test.fbs:3:3: error: the fields 'is_pinned' and 'isPinned' both become 'isPinned' in Swift
            3 |   isPinned: bool;
              |   ^~~~~~~~
        test.fbs:2:3: note: 'is_pinned' is here; rename one of them, or give it a 'swift_name'
            2 |   is_pinned: bool;
              |   ^~~~~~~~~
        """)
  }

  @Test("An impossible Swift type is reported at the type, with the possible ones")
  func swiftTypes() {
    #expect(
      said("table A {\n  a: string (swift: \"Date\");\n}") == """
        test.fbs:2:21: error: 'a' cannot be a 'Date': it is a string of type 'string'
            2 |   a: string (swift: "Date");
              |                     ^~~~~~
        note: a Date is stored in a 'long', in seconds, milliseconds or microseconds, or in a 'double', in seconds
        """)
    let cases = [
      (
        "table A { a: long (swift: \"Date in nanoseconds\"); }", "is not stored in nanoseconds here"
      ),
      ("table A { a: long (swift: \"x y\"); }", "\"x y\" names no type of Swift"),
      (
        "table A { a: int (swift: \"Int32\"); }",
        "note: a field of type 'int' is a 'Int32' without that"
      ),
      (
        "table A { a: long (swift: \"date\"); }",
        "warning: 'date' is taken for a type of the program's"
      ),
      ("table A { a: long (swift: \"date\"); }", "note: did you mean 'Date'?"),
      ("table A (swift_name: \"a.b\") { a: int; }", "\"a.b\" is no name in Swift"),
      ("table A { a: A (required); }", "'A' contains itself that way without an end"),
      ("enum E: byte { A (swift_name: \"b\") }", "rename the value: its name is stored nowhere"),
      ("table A { a: int; } union U { A (swift_name: \"b\") }", "an alias gives it another name"),
    ]
    for (text, words) in cases { #expect(said(text).contains(words), "\(said(text))") }
  }

  @Test("A deprecated field has no Swift name that could conflict")
  func deprecatedNames() {
    #expect(errors("table A { is_pinned: bool (deprecated); isPinned: bool; }").isEmpty)
  }

  @Test("Warnings do not fail a compilation")
  func warnings() {
    let result = compile("table A { a: int (deprecated, deprecated); }")
    #expect(result.schema != nil)
    #expect(result.diagnostics.map(\.severity) == [.warning])
  }

  @Test("A missing file is an ordinary error")
  func missingFile() {
    let result = SchemaCompiler().compile(file: "/nowhere/post.fbs")
    #expect(result.schema == nil)
    #expect(
      result.diagnostics.map { $0.rendered() } == [
        "/nowhere/post.fbs:1:1: error: cannot read the file: it does not exist"
      ])
  }

  @Test("A thousand errors are counted, but not all shown")
  func limit() {
    let text = (0..<1000).map { "table T\($0) { a: Missing\($0); }" }.joined(separator: "\n")
    let diagnostics = compile(text).diagnostics
    #expect(diagnostics.count == 101)
    #expect(diagnostics.last?.message == "900 more errors are not shown")
  }

  @Test("Very long lines are not shown")
  func longLines() throws {
    let text = "table A {" + String(repeating: " ", count: 5000) + "a: Missing; }"
    let diagnostic = try #require(compile(text).diagnostics.first)
    #expect(diagnostic.rendered() == "test.fbs:1:5013: error: unknown type 'Missing'")
  }
}
