// Custom scalars without a type: a service may send anything for them.

import DflatGenerator
import Foundation
import Testing

@Suite("Custom scalars of GraphQL")
struct CustomScalarTests {
  private static let schema = """
    scalar JSON
    scalar Stamp
    type Thing {
      id: ID!  any: JSON  must: JSON!  list: [JSON]  all: [JSON!]!  deep: [[JSON!]]  stamp: Stamp
    }
    type Query { thing: Thing }
    """

  private static let operations = """
    query All($with: Boolean!) {
      thing {
        id any must list all deep stamp other: any @include(if: $with) more: list @include(if: $with)
        sure: must @include(if: $with) every: all @include(if: $with)
      }
    }
    """

  private static let program = ####"""
    import Dflat
    import DflatGraphQL
    import Foundation
    import MemoryDflat

    let dflat = MemoryWorkspace()
    @MainActor func store(_ rest: String) throws -> (AllQuery.Data.Thing, Thing) {
      let json = #"{"data": {"thing": {"id": "1", \#(rest)}}}"#
      let data = try AllQuery.response(from: Data(json.utf8)).requireData()
      let again = try JSONDecoder().decode(AllQuery.Data.self, from: JSONEncoder().encode(data))
      precondition(again == data)
      _ = try dflat.write(Thing.self) { try $0.store(data) }
      return (data.thing!, dflat.find(Thing.self, "1")!)
    }
    let (data, thing) = try store(#"""
      "any": {"b": [1, 2.5, null], "a": "x"}, "must": 7, "list": [true, null, "text", {"k": 1}], "all": [1],
      "deep": [[1, "2"], null], "stamp": 1700000000, "other": [3], "more": [4, null], "sure": false, "every": ["e", 5]
      """#)
    precondition(data.any == #"{"a":"x","b":[1,2.5,null]}"# && data.must == "7" && data.stamp == "1700000000", "\(data)")
    precondition(data.list == ["true", nil, "text", #"{"k":1}"#] && data.all == ["1"], "\(data)")
    precondition(data.deep == [["1", "2"], nil], "\(data)")
    precondition(data.other == "[3]" && data.more == ["4", nil] && data.sure == "false" && data.every == ["e", "5"], "\(data)")
    precondition(thing.any == data.any && thing.must == "7" && thing.list == ["true", "text", #"{"k":1}"#], "\(thing)")
    precondition(thing.stamp == "1700000000", "\(thing)")
    let (next, cleared) = try store(#""any": null, "must": "text", "list": null, "all": [], "deep": null, "stamp": "now""#)
    precondition(next.any == nil && next.list == nil && next.deep == nil && next.other == nil, "\(next)")
    precondition(!next.otherIfIncluded.isIncluded && next.sure == nil, "\(next)")
    precondition(cleared.any == nil && cleared.must == "text" && cleared.stamp == "now" && cleared.list == [], "\(cleared)")
    // A number has the digits that the service has sent.
    for number in [
      "12345678901234567890", "1.10", "1e3", "-0", "1E-200", "1e400", "123456789012345678901234567890123456789012345",
      "0.1234567890123456789012345678901234567890123",
    ] {
      let (digits, kept) = try store(#"""
        "any": \#(number), "must": {"v": [\#(number)], "u": "\u00e9/\n"}, "list": [\#(number), "x"], "all": [],
        "deep": [[\#(number)]], "stamp": \#(number)
        """#)
      precondition(digits.any == number && digits.list == [number, "x"] && digits.deep == [[number]], "\(digits)")
      precondition(digits.must == "{\"u\":\"é/\\n\",\"v\":[\(number)]}" && digits.stamp == number, "\(digits)")
      precondition(kept.any == number && kept.must == digits.must && kept.list == [number, "x"], "\(kept)")
      precondition(kept.deep.map(\.values) == [[number]], "\(kept)")
      precondition(kept.stamp == number, "\(kept)")
    }
    print("all is well")
    """####

  @Test("take what the service sends, and keep what is not text as JSON")
  func stored() throws {
    let output = try GraphQL.output(
      of: Self.program, Self.schema, Self.operations,
      "--entity Thing --primary-key id --scalar Stamp=string")
    #expect(output == "all is well\n", "\(output)")
  }
}
