// Sources/Silo/Silo.docc/Silo.md
// block 1.1

enum SiloArticle {
  // block 1.2

  // block 1.3

  static func first(path: String) async throws {
    // block 1.4
  }
}
