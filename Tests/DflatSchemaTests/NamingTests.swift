// From schema names to Swift names.

import DflatSchema
import Testing

@Suite("Swift names")
struct NamingTests {
  @Test(
    "An underscore is dropped and what follows is upper-cased",
    arguments: [
      ("is_pinned", "isPinned"), ("Post", "Post"), ("TWO_PARTS", "TWOPARTS"), ("a", "a"),
      ("old_", "old_"), ("_hidden", "Hidden"), ("a__b", "a_b"), ("_", "_"), ("__", "_"),
      ("_1st", "1st"), ("a_2_b", "a2B"), ("alreadyCamel", "alreadyCamel"), ("", ""),
    ])
  func camelCase(_ name: String, _ expected: String) {
    #expect(camel(name) == expected)
  }

  @Test(
    "An enum's case begins small, unless it is all in capitals",
    arguments: [
      ("Red", "red"), ("HIGH", "HIGH"), ("Light_Blue", "lightBlue"), ("light", "light"),
      ("HIGH_2", "HIGH2"), ("A", "A"), ("_", "_"), ("HTTPPart", "hTTPPart"),
    ])
  func enumCases(_ name: String, _ expected: String) {
    #expect(enumCaseName(name) == expected)
  }

  @Test(
    "A union's case begins small, unless it is all in capitals",
    arguments: [
      ("TextBlock", "textBlock"), ("URL", "URL"), ("text_block", "textBlock"), ("A", "A"),
    ]
  )
  func unionCases(_ name: String, _ expected: String) {
    #expect(unionCaseName(name) == expected)
  }
}
