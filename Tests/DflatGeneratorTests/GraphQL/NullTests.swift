// Null, nothing and unknown values are not 0, false or the first value, in schemas that evolve.

import DflatGenerator
import Foundation
import Testing

@Suite("Null in stored GraphQL entities")
struct NullTests {
  private static let schema = """
    scalar Weight
    enum Mood { GLAD SAD }
    interface Part { id: ID!  count: Int }
    type Wheel implements Part { id: ID!  count: Int  round: Boolean }
    type Car {
      id: ID!  age: Int  price: Float!  isNew: Boolean  mood: Mood  must: Mood!  weight: Weight  inner: Inner
      part: Part  next: Car  moods: [Mood]  ages: [Int]
    }
    type Inner { size: Int }
    type Query { car: Car }
    """

  private static let operations = """
    query All {
      car {
        id age price isNew mood must weight inner { size } part { id count ... on Wheel { round } } next { id }
        moods ages
      }
    }
    query Ids { car { id } }
    """

  private static let options = "--entity Car --primary-key id --scalar Weight=double"

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    @MainActor @discardableResult
    func store<O: GraphQLOperation>(_ type: O.Type, _ car: String) throws -> Car
    where O.Data: GraphQLStorable {
      let data = try O.response(from: Data("{\"data\": {\"car\": \(car)}}".utf8)).requireData()
      _ = try dflat.write(Car.self) { try $0.store(data) }
      return dflat.find(Car.self, "1")!
    }
    // Nothing is known yet.
    var car = try store(IdsQuery.self, #"{"id": "1"}"#)
    precondition(car.age == nil && car.price == nil && car.isNew == nil && car.mood == nil && car.must == nil, "\(car)")
    func all(_ age: String, _ flag: String, _ mood: String, _ must: String, _ count: String) -> String {
      #"""
      {"id": "1", "age": \#(age), "price": 0, "isNew": \#(flag), "mood": \#(mood), "must": \#(must), "weight": null,
        "inner": {"size": \#(age)}, "part": {"__typename": "Wheel", "id": "p", "count": \#(count), "round": \#(flag)},
        "next": null, "moods": ["GLAD", "ODD", null], "ages": [0, null]}
      """#
    }
    car = try store(AllQuery.self, all("0", "false", #""GLAD""#, #""GLAD""#, "0"))
    precondition(car.age == 0 && car.price == 0 && car.isNew == false && car.mood == .glad && car.must == .glad, "\(car)")
    precondition(car.weight == nil && car.inner == .init(size: 0) && car.ages == [0], "\(car)")
    precondition(car.part?.subtype == .wheel(.init(count: 0, round: false)), "\(car)")
    car = try store(AllQuery.self, all("null", "null", "null", #""SAD""#, "null"))
    precondition(car.age == nil && car.isNew == nil && car.mood == nil && car.must == .sad, "\(car)")
    precondition(car.inner == .init() && car.part?.subtype == .wheel(.init()), "\(car)")
    // The service has values that the schema did not have.
    car = try store(AllQuery.self, all("1", "true", #""ODD""#, #""EVEN""#, "2"))
    precondition(car.mood == nil && car.must == nil && car.age == 1 && car.isNew == true, "\(car)")
    let whole = Car(try AllQuery.response(from: Data("{\"data\": {\"car\": \(all("null", "true", #""ODD""#, #""SAD""#, "2"))}}".utf8)).data!.car!)
    precondition(whole.age == nil && whole.mood == nil && whole.must == .sad && whole.price == 0, "\(whole)")
    print("all is well")
    """####

  @Test("is kept apart from 0, false and the first value")
  func stored() throws {
    let output = try GraphQL.output(
      of: Self.program, Self.schema, Self.operations, Self.options + " --evolve")
    #expect(output == "all is well\n", "\(output)")
  }

  private func schema(_ options: String, earlier: String? = nil) throws -> String {
    let run = try GraphQL.run(
      Self.schema, Self.operations, Self.options + options,
      earlier: earlier.map { ["Car_generated.fbs": $0] } ?? [:])
    #expect(run.status == 0 && run.errors == "", "\(run.errors)")
    let text = try #require(run.files["Car_generated.fbs"])
    #expect(try GraphQL.complaints(about: ["Car_generated.fbs": text]) == "")
    return text
  }

  @Test("changes nothing in a schema that is committed without it, and is in its new fields")
  func committed() throws {
    let first = """
      namespace Car;
      enum Mood: int { glad, sad, }
      namespace;
      table Car (v: "0123456789abcdef") {
        id: string (id: 0, primary);
        age: long (id: 1);
        mood: Car.Mood (id: 2);
      }
      root_type Car;
      """
    let text = try schema(" --evolve", earlier: first)
    #expect(
      text.contains(
        "table Car (v: \"0123456789abcdef\") {\n  id: string (id: 0, primary);\n"
          + "  age: long (id: 1);\n  mood: Car.Mood (id: 2);\n"), "\(text)")
    #expect(text.contains("price: double = null (id: ") && text.contains("must: Car.Mood = null"))
    #expect(try schema(" --evolve", earlier: text) == text)
  }

  @Test("has another version, and is not in schemas that no release continues")
  func versions() throws {
    func version(_ text: String) throws -> Substring {
      try #require(text.firstMatch(of: /table Car \(v: "(\w+)"\)/)?.output.1)
    }
    let hashed = try schema("")
    #expect(!hashed.contains("null") && hashed.contains("age: long;"))
    #expect(try version(schema(" --evolve")) != version(hashed))
    // A build that writes somewhere else, without a committed schema.
    try withTemporaryDirectory { directory in
      let run = try GraphQL.run(
        Self.schema, Self.operations, Self.options + " --evolve=\(directory.path())")
      let text = try #require(run.files["Car_generated.fbs"])
      #expect(text.contains("age: long (id: "), "\(text)")
    }
  }
}
