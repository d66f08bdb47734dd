// What responses are decoded into for heroes.graphql is generated; here it is decoded.

import DflatGraphQL
import Foundation

/// What responses are written as before they are decoded.
public typealias ResultMap = [String: Any?]

/// Decodes the data of an operation with one field.
private func decode<O: GraphQLOperation>(_ type: O.Type, _ key: String, _ value: Any) -> O.Data {
  let body = try! JSONSerialization.data(withJSONObject: ["data": [key: value]])
  return try! O.response(from: body).requireData()
}

/// As JSON has it, with the name that no server leaves out.
private func object(_ map: ResultMap) -> [String: Any] {
  map.merging(["name": "no name"]) { own, _ in own }.mapValues(json)
}

private func json(_ value: Any?) -> Any {
  switch value {
  case nil: NSNull()
  case let map as ResultMap: object(map)
  case let list as [Any?]: list.map(json)
  case let value?: value
  }
}

func hero(_ map: ResultMap) -> HeroDetailsQuery.Data.Hero {
  decode(HeroDetailsQuery.self, "hero", object(map)).hero!
}
func crew(_ map: ResultMap) -> CrewQuery.Data.Hero {
  decode(CrewQuery.self, "heroes", [object(map)]).heroes[0]
}
func human(_ map: ResultMap) -> OneHumanQuery.Data.Human {
  decode(OneHumanQuery.self, "human", object(map)).human!
}

/// What becomes of an unknown value in a list.
var unknownEpisode: [Character.Episode] { [] }
