// How a value is stored, for each form of call that programs use. Swift chooses among overloads: if
// it chose another one, programs would still compile, but no longer find their stored values.

import DflatTestSupport
import Foundation
import Testing

@testable import Dflat

private enum Mode: String, Codable, Sendable { case light, dark }

@Suite("The dictionary's overloads")
struct DictionaryFormsTests {
  /// The value stored under "k" after an assignment.
  private func kind(
    _ engine: TestEngine, _ assign: (inout any WorkspaceDictionary) -> Void
  ) throws -> String {
    try withTemporaryWorkspace(engine) { workspace in
      var dictionary = workspace.dflat.dictionary
      assign(&dictionary)
      return dictionary._contents(of: "k").contents.kindName
    }
  }

  @Test(
    "Literals, expressions and optionals of the six scalar types are stored directly",
    arguments: TestEngine.all)
  func scalars(engine: TestEngine) throws {
    let numbers = [1, 2]
    let texts = ["k": "v"]
    let optional: Int? = 3
    #expect(try kind(engine) { $0["k"] = true } == "Bool")
    #expect(try kind(engine) { $0["k"] = 1 } == "Int")
    #expect(try kind(engine) { $0["k"] = -1 + 2 } == "Int")
    #expect(try kind(engine) { $0["k"] = UInt(1) } == "UInt")
    #expect(try kind(engine) { $0["k"] = 1 as Float } == "Float")
    #expect(try kind(engine) { $0["k"] = 1.5 } == "Double")
    #expect(try kind(engine) { $0["k"] = 1 + 2.5 } == "Double")
    #expect(try kind(engine) { $0["k"] = "a" } == "String")
    #expect(try kind(engine) { $0["k"] = "\(1)" + "b" } == "String")
    #expect(try kind(engine) { $0["k"] = optional } == "Int")
    #expect(try kind(engine) { $0["k"] = numbers.first } == "Int")
    #expect(try kind(engine) { $0["k"] = optional == nil ? "a" : nil } == "nothing")
    #expect(try kind(engine) { $0["k"] = .some(3) } == "Int")
    #expect(try kind(engine) { d in numbers.forEach { d["k"] = $0 } } == "Int")
    #expect(try kind(engine) { d in texts.forEach { d[$0] = $1 } } == "String")
    #expect(try kind(engine) { d in (0..<2).forEach { d["k"] = $0 } } == "Int")
    #expect(try kind(engine) { $0["k", Float.self] = 1 } == "Float")
    #expect(try kind(engine) { $0["k"] = $0["k", default: 0] + 1 } == "Int")
    #expect(try kind(engine) { $0["k"] = ($0["k"] ?? 0) + 1 } == "Int")
    #expect(try kind(engine) { $0["k"] = $0["k"] ?? "x" } == "String")
  }

  @Test(
    "All other Codable types are encoded, even if Swift could convert them to a scalar",
    arguments: TestEngine.all)
  func codable(engine: TestEngine) throws {
    #expect(try kind(engine) { $0["k"] = Int8(1) } == "Codable")
    #expect(try kind(engine) { $0["k"] = CGFloat(1) } == "Codable")
    #expect(try kind(engine) { $0["k"] = Decimal(1) } == "Codable")
    #expect(try kind(engine) { $0["k"] = Mode.dark } == "Codable")
    #expect(try kind(engine) { $0["k"] = [1, 2] } == "Codable")
    #expect(try kind(engine) { $0["k"] = ["a": 1] } == "Codable")
    #expect(try kind(engine) { $0["k"] = Date() } == "Codable")
    #expect(try kind(engine) { d in [Mode.dark].forEach { d["k"] = $0 } } == "Codable")
  }

  @Test(
    "Generated values are stored as FlatBuffers",
    arguments: TestEngine.all)
  func generated(engine: TestEngine) throws {
    let post = Post(site: "s", number: 4)
    let posts: [Post] = [post]
    #expect(try kind(engine) { $0["k"] = post } == "FlatBuffersCodable")
    #expect(try kind(engine) { $0["k"] = posts.first } == "FlatBuffersCodable")
    #expect(try kind(engine) { $0["k", Post.self] = post } == "FlatBuffersCodable")
    #expect(try kind(engine) { d in posts.forEach { d["k"] = $0 } } == "FlatBuffersCodable")
  }

  private func store<T: Codable & Equatable & Sendable>(
    _ value: T, _ dictionary: inout any WorkspaceDictionary
  ) -> T? {
    dictionary["k"] = value
    return dictionary["k", default: value] == value ? dictionary["k"] : nil
  }

  private func storeFlatBuffers<T: FlatBuffersCodable & Equatable & Sendable>(
    _ value: T, _ dictionary: inout any WorkspaceDictionary
  ) -> T? {
    dictionary["k"] = value
    return dictionary["k", default: value] == value ? dictionary["k", T.self] : nil
  }

  @Test(
    "Generic code stores according to its type constraints",
    arguments: TestEngine.all)
  func generic(engine: TestEngine) throws {
    let post = Post(site: "s", number: 4)
    #expect(try kind(engine) { if store(5, &$0) != 5 { $0["k"] = false } } == "Codable")
    #expect(try kind(engine) { if store(post, &$0) != post { $0["k"] = false } } == "Codable")
    #expect(
      try kind(engine) { if storeFlatBuffers(post, &$0) != post { $0["k"] = false } }
        == "FlatBuffersCodable")
  }

  @Test(
    "Reading infers the type from the context",
    arguments: TestEngine.all)
  func reading(engine: TestEngine) throws {
    try withTemporaryWorkspace(engine) { workspace in
      let dflat: any Workspace = workspace.dflat
      dflat.dictionary["int"] = 3
      dflat.dictionary["text"] = "a"
      dflat.dictionary["flag"] = true
      dflat.dictionary["mode"] = Mode.dark
      let dictionary = dflat.dictionary
      let int: Int = dictionary["int", default: .max]
      let text = dictionary["text"] ?? "b"
      let missing: Float = dictionary["float", default: 0.5]
      let mode: Mode = dictionary["mode", default: .light]
      let numbers: [Int] = ["int", "none"].map { dictionary[$0, default: 0] }
      let texts: [String] = ["text", "none"].compactMap { dictionary[$0] }
      #expect(int == 3 && text == "a" && missing == 0.5 && mode == .dark)
      #expect(numbers == [3, 0] && texts == ["a"])
      #expect(dictionary["flag"] == true)
      #expect(dictionary["text"] == "a")
      #expect(dictionary["int"] == 3)
      #expect(dictionary["flag", default: false] && dictionary["text", default: ""].count == 1)
      if case 3? = dictionary["int", Int.self] {} else { Issue.record("no 3") }
      var changed = dictionary
      changed["int", Int.self]? += 1
      changed["text", String.self]?.append("b")
      #expect(dictionary["int"] == 4)
      #expect(dictionary["text"] == "ab")
      changed["int"] = nil as Int?
      changed["text", String.self] = nil
      #expect(Set(dictionary.keys) == ["flag", "mode"])
      #expect(workspace.takeErrors().isEmpty)
    }
  }
}
