// Sources/PostgresDflat/PostgresDflat.docc/PostgresDflat.md
// block 1.1

func onAServer() async throws {
  // block 1.2
}
