// Sources/DflatGraphQLURLSession/DflatGraphQLURLSession.docc/DflatGraphQLURLSession.md
import DflatGraphQL
import DflatGraphQLURLSession
import Foundation
import FoundationNetworking
import SQLiteDflat

@Sendable func token() async -> String { "t" }

func sessionClient(dflat: SQLiteWorkspace, url: URL) async throws {
  // block 1
  func parts() async throws {
    // block 2
  }
  func events() async throws {
    // block 3
  }
  func socket() async throws {
    // block 4
  }
}

func ownSession(url: URL) async throws {
  // block 5
}
