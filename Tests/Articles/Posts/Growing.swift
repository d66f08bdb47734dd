// Sources/PostgresDflat/PostgresDflat.docc/Growing.md
import PostgresDflat
import SQLiteDflat

final class Application: Sendable {
  func use(_ workspace: any Workspace) {}
}

func growing(path: String, app: Application) async throws {
  // block 1
}

func settingUp() async throws {
  // block 2
}

func views(dflat: PostgresWorkspace) async throws {
  // block 3
  _ = """
    // block 4
    """
}
