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

func replaced(dflat: SQLiteWorkspace) async throws {
  // block 5
}

func sql(dflat: SQLiteWorkspace) throws {
  // block 7
}

func memory() {
  // block 9
}

func opening(url: URL) async throws {
  // block 10
}

func backups() throws {
  // block 6
}

func download(into dflat: SQLiteWorkspace) async throws {}

func deciding(url: URL) async throws {
  var configuration = SQLiteWorkspace.Configuration()
  // block 12
  // block 13
}

func acting(path: String, error: StorageError) throws {
  // block 14
}
