// Sources/DflatGraphQL/DflatGraphQL.docc/DflatGraphQL.md
import DflatGraphQL
import Foundation
import FoundationNetworking
import SQLiteDflat

func details(dflat: SQLiteWorkspace, url: URL) async throws {
  // block 1
}
