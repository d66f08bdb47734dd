// Lists of operations whose answers come in parts: what a payload is about is stored, and no list
// around it changes.

import Foundation
import Testing

@Suite("Lists around deferred fragments")
struct DeferredListTests {
  private static let schema = """
    interface Pet { id: ID!  name: String  toy: String }
    type Dog implements Pet { id: ID!  name: String  toy: String }
    type Cat implements Pet { id: ID!  name: String  toy: String }
    type Item { title: String  text: String }
    type Hero {
      id: ID!  name: String  bio: String  friends: [Hero]  items: [Item]  pets: [Pet]  best: Pet
      tags: [String]
    }
    type Query { hero: Hero }
    """

  private static let operations = """
    query Lists {
      hero {
        id friends { id ... @defer { name } } items { title ... @defer { text } }
        pets { id name ... @defer { toy } } best { id ... @defer { name } }
      }
    }
    query Again { hero { id name friends { id } ... @defer { name friends { bio } } } }
    query Stream {
      hero {
        id friends @stream(initialCount: 1) { id name } items @stream { title ... @defer { text } }
        pets @stream { id name ... @defer { toy } } tags @stream
      }
    }
    query Pages { hero { id friends { id friends { id } ... @defer { name friends { id } } } } }
    """

  private static let start = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    /// The payloads of one response, on their way into a workspace.
    @MainActor struct Answer<O: GraphQLOperation> where O.Data: GraphQLStorable {
      let dflat = MemoryWorkspace()
      var decoder = GraphQLIncrementDecoder<O.Data>()
      var pages: [GraphQLPage<O.Data>] = []
      init(_ type: O.Type) {}
      var hero: Hero { dflat.find(Hero.self, "1")! }
      func name(_ id: String) -> String? { dflat.find(Hero.self, id)?.name }
      mutating func take(_ json: String) throws {
        let increment = try decoder.decode(Data(json.utf8))!
        _ = try dflat.write(Hero.self) { txn in try txn.store(increment, pages: pages) }
        // Storing what is known as a whole is the same as what the decoder has put together.
        precondition(increment.response.data != nil && increment.response.errors.isEmpty)
      }
      func change(_ hero: Hero, _ body: (inout Hero._Draft) -> Void) throws {
        _ = try dflat.write(Hero.self) { txn in try txn.update(hero, body) }
      }
    }
    func item(_ path: String, _ data: String) -> String {
      "{\"path\": [\"hero\", \(path)], \"data\": {\(data)}}"
    }
    func payload(_ items: String...) -> String {
      "{\"incremental\": [\(items.joined(separator: ", "))], \"hasNext\": true}"
    }

    """####

  private static let deferred = ####"""
    // Keys stay, whatever the program has done to them, and null elements count as places.
    var lists = Answer(ListsQuery.self)
    try lists.take(#"""
      {"data": {"hero": {"id": "1", "friends": [null, {"id": "A"}, {"id": "B"}, {"id": "A"}],
        "items": [null, {"title": "a"}, {"title": "b"}],
        "pets": [{"__typename": "Dog", "id": "p", "name": "P"}, null, {"__typename": "Cat", "id": "q", "name": "Q"}],
        "best": {"__typename": "Dog", "id": "p"}}}, "hasNext": true}
      """#)
    precondition(lists.hero.friends == ["A", "B", "A"], "\(lists.hero)")
    try lists.take(payload(item(#""friends", 1"#, #""name": "a""#)))
    precondition(lists.hero.friends == ["A", "B", "A"] && lists.name("A") == "a", "\(lists.hero)")
    try lists.change(lists.hero) { hero in
      hero.friends = ["X", "A", "B", "C"]
      hero.items.append(.init(text: "mine", title: "c"))
      hero.items[0].text = "kept"
      hero.pets.reverse()
      hero.pets[0].subtype = .cat(.init(name: "mine"))
    }
    try lists.take(payload(
      item(#""friends", 2"#, #""name": "b""#), item(#""items", 2"#, #""text": "tb""#),
      item(#""pets", 2"#, #""toy": "ball""#)))
    precondition(lists.hero.friends == ["X", "A", "B", "C"] && lists.name("B") == "b", "\(lists.hero)")
    precondition(lists.hero.items.map(\.title) == ["a", "b", "c"], "\(lists.hero)")
    precondition(lists.hero.items.map(\.text) == ["kept", "tb", "mine"], "\(lists.hero)")
    precondition(lists.hero.pets.map(\.id) == ["q", "p"], "\(lists.hero)")
    precondition(lists.hero.pets[0].subtype == .cat(.init(name: "mine", toy: "ball")), "\(lists.hero)")
    precondition(lists.hero.pets[1].subtype == .dog(.init(name: "P")), "\(lists.hero)")
    // What the program has removed or replaced is not brought back.
    try lists.change(lists.hero) { hero in
      hero.pets.removeLast()
      hero.items = []
      hero.best = .init(id: "z", subtype: .dog(.init(name: "Z")))
    }
    try lists.take(payload(
      item(#""pets", 0"#, #""toy": "bone""#), item(#""items", 1"#, #""text": "ta""#),
      item(#""best""#, #""name": "P""#)))
    precondition(lists.hero.pets.map(\.id) == ["q"] && lists.hero.items.isEmpty, "\(lists.hero)")
    precondition(lists.hero.best == .init(id: "z", subtype: .dog(.init(name: "Z"))), "\(lists.hero)")

    // An object that a list has several times gets it in every place.
    var twice = Answer(ListsQuery.self)
    let pet = #"{"__typename": "Dog", "id": "p", "name": "P"}"#
    try twice.take(#"""
      {"data": {"hero": {"id": "1", "friends": null, "items": null, "pets": [\#(pet), \#(pet)], "best": null}}, "hasNext": true}
      """#)
    try twice.take(payload(item(#""pets", 0"#, #""toy": "t""#), item(#""pets", 1"#, #""toy": "t""#)))
    precondition(twice.hero.pets.map(\.subtype) == Array(repeating: .dog(.init(name: "P", toy: "t")), count: 2), "\(twice.hero)")

    // A fragment that has a list again brings what is new in it.
    for isReversed in [false, true] {
      var again = Answer(AgainQuery.self)
      try again.take(#"""
        {"data": {"hero": {"id": "1", "name": "n", "friends": [{"id": "A"}, {"id": "B"}]}}, "hasNext": true}
        """#)
      try again.change(again.hero) { $0.friends = ["B"]; $0.name = "mine" }
      let fragments = [
        item(#""friends", 0"#, #""bio": "a""#).replacing("bio", with: "id").replacing("\"a\"", with: "\"A\""),
        #"{"path": ["hero"], "data": {"name": "n", "friends": [{"bio": "a"}, {"bio": "b"}]}}"#,
      ]
      try again.take(
        "{\"incremental\": [\((isReversed ? fragments.reversed() : fragments).joined(separator: ","))], \"hasNext\": false}")
      precondition(again.hero.friends == ["B"] && again.hero.name == "mine", "\(again.hero)")
      precondition(again.dflat.find(Hero.self, "A")!.bio == "a" && again.dflat.find(Hero.self, "B")!.bio == "b")
    }

    // A list of an element that pages is a page also where the element comes by itself.
    var pages = Answer(PagesQuery.self)
    pages.pages = [.append(\.hero.friends.friends)]
    try pages.take(#"{"data": {"hero": {"id": "1", "friends": [{"id": "A", "friends": [{"id": "X"}]}]}}, "hasNext": true}"#)
    try pages.take(payload(item(
      #""friends", 0"#, #""name": "a", "friends": [{"id": "X"}, {"id": "Y"}]"#)))
    precondition(pages.dflat.find(Hero.self, "A")!.friends == ["X", "Y"] && pages.hero.friends == ["A"])
    print("all is well")
    """####

  private static let streamed = ####"""
    var stream = Answer(StreamQuery.self)
    try stream.take(#"""
      {"data": {"hero": {"id": "1", "friends": [{"id": "A", "name": "a"}], "items": [], "pets": [], "tags": ["s"]}},
       "pending": [{"id": "f", "path": ["hero", "friends"]}, {"id": "i", "path": ["hero", "items"]},
         {"id": "p", "path": ["hero", "pets"]}, {"id": "t", "path": ["hero", "tags"]}], "hasNext": true}
      """#)
    let first = stream.dflat.find(Hero.self, "A")!
    try stream.change(first) { $0.name = "mine" }
    try stream.change(stream.hero) { $0.friends = ["Z", "A"] }
    try stream.take(#"""
      {"incremental": [{"id": "f", "items": [{"id": "B", "name": "b"}, null]}, {"id": "t", "items": ["t"]},
         {"id": "i", "items": [null, {"title": "x"}]}, {"id": "f", "items": [{"id": "A", "name": "new"}]},
         {"id": "p", "items": [{"__typename": "Dog", "id": "p", "name": "P"}, {"__typename": "Cat", "id": "q", "name": "Q"}]}],
       "pending": [{"id": "q", "path": ["hero", "pets", 1]}, {"id": "x", "path": ["hero", "items", 1]}], "hasNext": true}
      """#)
    precondition(stream.hero.friends == ["Z", "A", "B", "A"] && stream.name("A") == "new", "\(stream.hero)")
    precondition(stream.hero.tags == ["s", "t"] && stream.hero.items == [.init(title: "x")], "\(stream.hero)")
    precondition(stream.hero.pets.map(\.id) == ["p", "q"], "\(stream.hero)")
    let again = stream.dflat.find(Hero.self, "A")!
    try stream.change(again) { $0.name = "mine again" }
    try stream.take(#"""
      {"incremental": [{"id": "q", "data": {"toy": "ball"}}, {"id": "x", "data": {"text": "y"}},
         {"id": "i", "items": [{"title": "z", "text": "w"}]}, {"id": "f", "items": [{"id": "C", "name": "c"}]}],
       "hasNext": false}
      """#)
    precondition(stream.hero.items == [.init(text: "y", title: "x"), .init(text: "w", title: "z")], "\(stream.hero)")
    precondition(stream.hero.pets[1].subtype == .cat(.init(name: "Q", toy: "ball")), "\(stream.hero)")
    precondition(stream.hero.pets[0].subtype == .dog(.init(name: "P")), "\(stream.hero)")
    precondition(stream.hero.friends == ["Z", "A", "B", "A", "C"] && stream.name("A") == "mine again", "\(stream.hero)")

    // A stream that is a page has each element once.
    var page = Answer(StreamQuery.self)
    _ = try page.dflat.write(Hero.self) { txn in
      let hero = Hero(id: "1", friends: ["B", "K"], pets: [.init(id: "p", subtype: .dog(.init(toy: "old")))])
      _ = try txn.upsert(hero)
    }
    page.pages = [.append(\.hero.friends), .append(\.hero.pets)]
    try page.take(#"""
      {"data": {"hero": {"id": "1", "friends": [{"id": "A", "name": "a"}], "items": [], "pets": [], "tags": []}}, "hasNext": true}
      """#)
    try page.take(#"""
      {"incremental": [{"path": ["hero", "friends", 1], "items": [{"id": "B", "name": "b"}, {"id": "C", "name": "c"}]},
         {"path": ["hero", "pets", 0], "items": [{"__typename": "Dog", "id": "p", "name": "P"}, {"__typename": "Cat", "id": "p", "name": "Q"}]}],
       "hasNext": true}
      """#)
    precondition(page.hero.friends == ["B", "K", "A", "C"] && page.name("B") == "b", "\(page.hero)")
    precondition(page.hero.pets.map(\.id) == ["p", "p"], "\(page.hero)")
    precondition(page.hero.pets[0].subtype == .dog(.init(name: "P", toy: "old")), "\(page.hero)")
    print("all is well")
    """####

  @Test("stay as they are; the element is found by its key, or by its position")
  func deferredElements() throws {
    let output = try GraphQL.output(
      of: Self.start + Self.deferred, Self.schema, Self.operations,
      "--entity Hero --primary-key id --incremental")
    #expect(output == "all is well\n", "\(output)")
  }

  @Test("get the elements that a stream brings, and nothing of earlier ones is stored again")
  func streamedElements() throws {
    let output = try GraphQL.output(
      of: Self.start + Self.streamed, Self.schema, Self.operations,
      "--entity Hero --primary-key id --incremental")
    #expect(output == "all is well\n", "\(output)")
  }
}
