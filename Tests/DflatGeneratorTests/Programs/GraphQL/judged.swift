// Stores responses that it reads, and prints what is stored after each: for merge-model.py.

import Dflat
import DflatGraphQL
import Foundation
import MemoryDflat

struct Request: Decodable {
  let operation: String
  let update: String
  let response: String
}

struct Stored: Encodable {
  enum Name: String, CodingKey { case User, Repo }
  let users: [User]
  let repos: [Repo]

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Name.self)
    try container.encode(users, forKey: .User)
    try container.encode(repos, forKey: .Repo)
  }
}

let dflat = MemoryWorkspace()

@MainActor func store<Operation: GraphQLOperation>(
  _ type: Operation.Type, _ request: Request
) throws where Operation.Data: GraphQLStorable {
  let response = try Operation.response(from: Data(request.response.utf8))
  _ = try dflat.write(User.self, Repo.self) { try $0.store(response) }
}

while let line = readLine() {
  let request = try JSONDecoder().decode(Request.self, from: Data(line.utf8))
  switch request.operation {
  case "Names": try store(NamesQuery.self, request)
  case "Small": try store(SmallQuery.self, request)
  case "Large": try store(LargeQuery.self, request)
  case "Deep": try store(DeepQuery.self, request)
  case "Some": try store(SomeQuery.self, request)
  case "Repo": try store(RepoQuery.self, request)
  default:
    let response = try PageQuery.response(from: Data(request.response.utf8))
    let update: GraphQLListUpdate =
      request.update == "append" ? .append : request.update == "prepend" ? .prepend : .replace
    _ = try dflat.write(User.self, Repo.self) { try $0.store(response, \.user.repos, update) }
  }
  let stored = Stored(
    users: Array(dflat.fetch(for: User.self).all()), repos: Array(dflat.fetch(for: Repo.self).all())
  )
  // At once: the judge waits for it.
  FileHandle.standardOutput.write(try JSONEncoder().encode(stored) + Data("\n".utf8))
}
