// What schemas say because other languages say it so, and other first mistakes: the message tells
// what a schema says instead.

import DflatSchema
import Testing

@Suite("First mistakes in schemas")
struct FirstMistakeTests {
  /// All messages about a text with their notes, without the source lines.
  private func said(_ text: String) -> [String] {
    compile(text).diagnostics.flatMap { $0.rendered().split(separator: "\n").map(String.init) }
      .filter { !$0.hasPrefix("   ") }
  }

  @Test(
    "Only 'null' stands for absence",
    arguments: [
      ("int = nil", "2:20: error: expected an integer, found 'nil'"),
      ("bool = None", "2:21: error: expected an integer, found 'None'"),
      ("double = undefined", "2:23: error: expected a number, found 'undefined'"),
      ("E = nil", "2:18: error: 'E' has no value 'nil'"),
      ("long = NULL", "2:21: error: expected an integer, found 'NULL'"),
    ])
  func null(type: String, message: String) {
    #expect(
      said("enum E: byte { A }\ntable T { a: \(type); }")
        == ["test.fbs:\(message)", "note: a value that may be absent is written '= null'"])
  }

  @Test("A value may be called like another language's word for absence")
  func values() {
    #expect(said("enum E: byte { A, None, nil }\ntable T { a: E = None; b: E = nil; }") == [])
  }

  @Test("A string needs no default to be absent", arguments: ["null", "nil"])
  func strings(word: String) {
    #expect(
      said("table T { a: string = \(word); }") == [
        "test.fbs:1:23: error: expected a string in quotes, found '\(word)'",
        "note: a string without a default is optional already",
      ])
  }

  @Test("A question mark is no part of a type", arguments: ["string?", "int? = 3"])
  func questionMarks(type: String) {
    #expect(
      said("table T { a: \(type); }") == [
        "test.fbs:1:\(type.hasPrefix("s") ? 20 : 17): error: unexpected '?'",
        "note: a scalar or an enum that may be absent is written '= null'; strings, structs, "
          + "tables and unions may be absent already",
      ])
  }

  @Test("A scalar is no member of a union, and a string needs an alias")
  func members() {
    #expect(
      said("table P { a: int; }\nunion U { P, int }") == [
        "test.fbs:2:14: error: a union's member is a table, a struct or a string; 'int' is a scalar",
        "note: wrap it in a table",
      ])
    #expect(
      said("table P { a: int; }\nunion U { string, P }") == [
        "test.fbs:2:11: error: a string needs an alias to be a union's member",
        "note: for example 'text: string'",
      ])
    #expect(said("table P { a: int; }\nunion U { Int }").last == "note: did you mean 'int'?")
  }

  @Test("A file has one root: the last one, as in flatc, with a warning")
  func roots() {
    #expect(
      said(
        "table A { k: int (primary); }\ntable B { k: int (primary); }\nroot_type A;\nroot_type B;")
        == [
          "test.fbs:3:11: warning: 'A' is no entity: another 'root_type' follows, and the last one counts",
          "test.fbs:4:11: note: the last one is here",
          "note: an entity has a file of its own, whose 'root_type' names it",
        ])
  }

  @Test(
    "A type inside of another has no name that generated code has there",
    arguments: [
      ("table P { a: int; }", "__layout", "member '_layout' of every table"),
      ("struct P { a: int; }", "__layout", "member '_layout' of every struct"),
      ("table A { a: int; } union P { A }", "__layout", "member '_layout' of every union"),
      ("enum P: byte { a }", "__layout", "member '_layout' of every enum"),
      ("enum P: byte { a }", "rawValue", "member 'rawValue' of every enum"),
      ("enum P: byte { a }", "AllCases", "member 'AllCases' of every enum"),
      ("enum P: ubyte (bit_flags) { a }", "Element", "member 'Element' of every enum"),
      ("table P { k: int (primary); } root_type P;", "ID", "member 'ID' of every entity"),
    ])
  func nested(outer: String, name: String, message: String) throws {
    let swift = name.hasPrefix("__") ? String(name.dropFirst()) : name
    #expect(
      said("\(outer)\nnamespace P;\ntable \(name) { a: int; }") == [
        "test.fbs:3:7: error: the type 'P.\(name)' and the \(message) both become 'P.\(swift)' in Swift",
        "note: rename the type, or give it a 'swift_name'",
      ])
    #expect(said("\(outer)\nnamespace P;\ntable \(name) (swift_name: \"Other\") { a: int; }") == [])
  }
}
