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

func metrics(dflat: PostgresWorkspace) async {
  // block 3
  print(text)
}

func views(dflat: PostgresWorkspace) async throws {
  // block 4
  _ = """
    // block 5
    """
  // block 6
}

func standbys() async throws {
  // block 7
  await dflat.shutdown()
}

func checking(dflat: PostgresWorkspace) async throws {
  // block 8
}
