// Sources/Dflat/Dflat.docc/GraphQL.md
import DflatGraphQL
import Foundation
import FoundationNetworking
import SQLiteDflat

func works(dflat: SQLiteWorkspace) {
  // block 5
}

func asking(dflat: SQLiteWorkspace, url: URL) async throws {
  // block 6
  func storing() async throws {
    // block 7
  }
}
