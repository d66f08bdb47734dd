// Sources/MemoryDflat/MemoryDflat.docc/MemoryDflat.md
// block 1.1

func inMemory() async throws {
  // block 1.2
}

// block 2
