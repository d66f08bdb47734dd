// Sources/Empire/Empire.docc/Empire.md
// block 1.1

// block 1.2

func firstLook(directory: String) throws {
  // block 1.3
}
