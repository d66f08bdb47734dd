// From texts to syntax trees: what the language of GraphQL allows, and what is said about the rest.

import Dispatch
import Foundation
import GraphQLSchema
import Testing

@Suite("GraphQL: parsing")
struct ParsingTests {
  /// The string that `literal` stands for.
  private func string(_ literal: String) throws -> String {
    let operations = try operations(
      "{ a(x: \(literal), y: []) { __typename } }", schema(plainSchema))
    guard case .string(let text) = operations.firstValue else { return "no string" }
    return text
  }

  @Test("Byte order marks, commas, comments and line breaks separate tokens")
  func ignored() throws {
    let text = "\u{FEFF}# a\r\nquery,,A\r{ b,#x\n\u{FEFF} c:b{__typename} } # end"
    let schema = try schema("type Query { b: Query }")
    #expect(
      said(text.replacing("b,#x", with: "b{b{__typename}},#x"), schema) == "")
  }

  @Test(
    "Escapes in strings",
    arguments: [
      (#""""#, ""), (#""a\n\t\"\\\/\b\f\r""#, "a\n\t\"\\/\u{8}\u{C}\r"),
      (#""\u00e9\u{1F600}\u{61}""#, "é😀a"), (#""\uD83D\uDE00""#, "😀"),
      (#""é # , {""#, "é # , {"),
    ])
  func escapes(literal: String, meaning: String) throws {
    #expect(try string(literal) == meaning)
  }

  @Test(
    "Block strings lose their common indentation and the blank lines around them",
    arguments: [
      (#""""""""#, ""), (#""""a""""#, "a"),
      ("\"\"\"\n\n    a\n      b\n\n    c\n  \"\"\"", "a\n  b\n\nc"),
      ("\"\"\"a\n  b\r\n   c\r  d\"\"\"", "a\nb\n c\nd"), (#""""  a \""" \n""""#, #"  a """ \n"#),
      ("\"\"\"\n\ta\n\t\tb\"\"\"", "a\n\tb"), (#"""" " "" """"#, #" " "" "#),
    ])
  func blockStrings(literal: String, meaning: String) throws {
    #expect(try string(literal) == meaning)
  }

  @Test("A syntax error says what was expected, and the next definitions are still read")
  func errors() throws {
    #expect(
      said("query A {\n  b(\n}\nquery C { b: }\n", try schema(plainSchema)) == """
        test.graphql:3:1: error: expected the name of an argument, found '}'
            3 | }
              | ^
        test.graphql:4:14: error: expected the name of the field behind its alias, found '}'
            4 | query C { b: }
              |              ^
        """)
  }

  @Test("A misspelt keyword is recognised")
  func keywords() {
    #expect(
      said("typo A { b: Int }").hasSuffix(
        "found 'typo'\n    1 | typo A { b: Int }\n      | ^~~~\nnote: did you mean 'type'?"))
  }

  @Test(
    "Nesting of any depth is an error, not the end of the stack",
    arguments: ["{a", "{a(x:[", "{a(x:{a:", "query($a:[", "{...{", "{a(x:[{b:", "[", "{"])
  func depth(piece: String) throws {
    let head = piece.hasPrefix("{a(x:") ? "{a(x:" : piece.hasPrefix("query($a:") ? "query($a:" : ""
    let repeated = String(piece.dropFirst(head.count))
    let text = head + String(repeating: repeated, count: 1_000_000 / repeated.utf8.count)
    let schema = try schema(plainSchema)
    let result = Operations.read([GraphQLSource(path: "test.graphql", text: text)], schema: schema)
    #expect(result.value == nil && !result.diagnostics.isEmpty)
    #expect(readSchema(text).value == nil)
    let type = "type A { b: " + String(repeating: "[", count: 500_000)
    #expect(said(type).contains("nested more than 100 levels"))
  }

  @Test("As much nesting as is allowed needs no more stack than a small thread has")
  func deepest() throws {
    let schema = try schema(plainSchema + " input In { in: In  list: [[Int]] }")
    let text =
      String(repeating: "{a(y:[])", count: 99) + "{__typename}" + String(repeating: "}", count: 99)
    let inline =
      String(repeating: "{...on Query@skip(if:true)", count: 99) + "{__typename}"
      + String(repeating: "}", count: 99)
    let list = String(repeating: "[", count: 98) + String(repeating: "]", count: 98)
    let object = String(repeating: "{a:", count: 98) + "1" + String(repeating: "}", count: 98)
    let texts = [
      text, inline, "{a(x:\(list), y: []){__typename}}", "{a(x:\(object), y: []){__typename}}",
    ]
    let type = String(repeating: "[", count: 99) + "Int" + String(repeating: "]", count: 99)
    let answers = onSmallStack {
      texts.map { said($0, schema) } + [said("type Query { a(b: \(type)): \(type) }")]
    }
    #expect(answers == ["", "", "", "", ""])
  }

  /// Runs `body` on a thread with the smallest stack that Apple's systems give to one.
  private func onSmallStack<Answer: Sendable>(_ body: @escaping @Sendable () -> Answer) -> Answer? {
    nonisolated(unsafe) var answer: Answer?
    let isDone = DispatchSemaphore(value: 0)
    let thread = Thread {
      answer = body()
      isDone.signal()
    }
    thread.stackSize = 512 << 10
    thread.start()
    isDone.wait()
    return answer
  }
}
