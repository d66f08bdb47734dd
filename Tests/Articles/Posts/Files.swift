// Sources/SQLiteDflat/SQLiteDflat.docc/Files.md
import Foundation
import SQLiteAccess
import SQLiteDflat

func files(path: String) async throws {
  // block 1
  // block 2
  // block 3
  // block 4
}

func sql(dflat: SQLiteWorkspace) throws {
  // block 5
}

func memory() {
  // block 7
}

func opening(url: URL) async throws {
  // block 8
}
