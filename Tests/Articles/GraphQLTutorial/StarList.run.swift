// Sources/Dflat/Dflat.docc/GraphQLTutorial.md
import DflatGraphQL
import Foundation
import SQLiteDflat

// block 4
// block 5

struct NoConnection: Error, CustomStringConvertible {
  var description: String { "there is no connection" }
}

/// Answers with the page behind the cursor in a query.
@Sendable func page(_ query: StarredQuery) throws -> GraphQLResponse<StarredQuery.Data> {
  let body = try JSONSerialization.jsonObject(with: query.body()) as! [String: Any]
  let after = (body["variables"] as! [String: Any])["after"] as? String
  let all = [
    ("mill/grinder", 812), ("garden/soil", 94), ("harbor/crane", 4031), ("mill/sieve", 57),
    ("library/catalog", 655),
  ]
  let start = after.map { Int($0)! } ?? 0
  let end = min(start + 2, all.count)
  let edges = (start..<end).map { index -> [String: Any] in
    [
      "starredAt": "2026-01-0\(9 - index)T10:00:00+01:00",
      "node": ["id": "R\(index)", "nameWithOwner": all[index].0, "stargazerCount": all[index].1],
    ]
  }
  let list: [String: Any] = [
    "totalCount": all.count, "edges": edges,
    "pageInfo": ["endCursor": "\(end)", "hasNextPage": end < all.count],
  ]
  let viewer: [String: Any] = ["id": "U1", "starredRepositories": list]
  return try StarredQuery.response(
    from: JSONSerialization.data(withJSONObject: ["data": ["viewer": viewer]]))
}

@main struct Starts {
  static func main() async throws {
    for isConnected in [true, true, false, true] {
      let dflat = try await SQLiteWorkspace.open(filePath: "stars.sqlite3")
      let list = StarList(dflat: dflat) { query in
        if !isConnected { throw NoConnection() }
        return try page(query)
      }
      await list.show()
      await dflat.shutdown()
    }
  }
}
