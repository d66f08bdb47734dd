// Sources/Dflat/Dflat.docc/GraphQL.md
import DflatGraphQL
import DflatGraphQLURLSession
import Foundation
import SQLiteDflat

func works(dflat: SQLiteWorkspace) {
  // block 5
}

func asking(dflat: SQLiteWorkspace, url: URL) async throws {
  // block 6
  func storing() async throws {
    // block 8
  }
}

func guessing(dflat: SQLiteWorkspace, ship: Starship, answer: FleetQuery.Data?) async throws {
  // block 7
}
