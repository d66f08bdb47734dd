// Sources/DflatGraphQL/DflatGraphQL.docc/DflatGraphQL.md
import DflatGraphQL
import Foundation
import FoundationNetworking
import SQLiteDflat

func details(dflat: SQLiteWorkspace, url: URL) async throws {
  // block 1
}

func paging(dflat: SQLiteWorkspace, bytes: Data) async throws {
  // block 2
}

func storingPartially(dflat: SQLiteWorkspace, bytes: Data) async throws {
  // block 3
}
