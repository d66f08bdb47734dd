// From schema names to Swift names.

import DflatSchema
import Testing

@Suite("Swift names")
struct NamingTests {
  @Test(
    "An underscore is dropped and the next character is upper-cased",
    arguments: [
      ("is_pinned", "isPinned"), ("Post", "Post"), ("TWO_PARTS", "TWOPARTS"), ("a", "a"),
      ("old_", "old_"), ("_hidden", "Hidden"), ("a__b", "a_b"), ("_", "_"), ("__", "_"),
      ("_1st", "1st"), ("a_2_b", "a2B"), ("alreadyCamel", "alreadyCamel"), ("", ""),
    ])
  func camelCase(_ name: String, _ expected: String) {
    #expect(camel(name) == expected)
  }

  @Test("A swift_name replaces the rule's name, in Swift only")
  func chosenNames() throws {
    let source = """
      enum URLSession: byte (swift_name: "URLSession") { A }
      table post_item (swift_name: "PostItem") { _x: int (primary, swift_name: "_x"); }
      table url_note (swift_name: "URLNote") { s: URLSession; }
      union any_of (swift_name: "Any") { url_note, post_item, other: url_note }
      root_type post_item;
      """
    let result = SchemaCompiler().compile(source: Array(source.utf8), path: "names.fbs")
    let schema = try #require(result.schema, "\(result.diagnostics)")
    let item = QualifiedName(name: "post_item")
    #expect(schema.swiftName(of: item) == "PostItem" && schema.tableName(of: item) == "postitem")
    guard case .table(let table)? = schema.types[item],
      case .union(let union)? = schema.types[QualifiedName(name: "any_of")]
    else {
      Issue.record("the types are not there")
      return
    }
    #expect(table.fields.map(\.swiftName) == ["_x"])
    #expect(union.members.map(\.swiftName) == ["urlNote", "postItem", "other"])
  }

  @Test(
    "An enum's case begins in lower case, unless it is in capitals",
    arguments: [
      ("Red", "red"), ("HIGH", "HIGH"), ("Light_Blue", "lightBlue"), ("light", "light"),
      ("HIGH_2", "HIGH2"), ("A", "A"), ("_", "_"), ("HTTPPart", "hTTPPart"),
    ])
  func enumCases(_ name: String, _ expected: String) {
    #expect(enumCaseName(name) == expected)
  }

  @Test(
    "A union's case begins in lower case, unless it is in capitals",
    arguments: [
      ("TextBlock", "textBlock"), ("URL", "URL"), ("text_block", "textBlock"), ("A", "A"),
    ]
  )
  func unionCases(_ name: String, _ expected: String) {
    #expect(unionCaseName(name) == expected)
  }
}
