// Sources/PostgresDflat/PostgresDflat.docc/Growing.md
import PostgresDflat
import SQLiteDflat

final class Application: Sendable {
  func use(_ workspace: any Workspace) {}
}

func growing(path: String, app: Application) async throws {
  // block 1
}
