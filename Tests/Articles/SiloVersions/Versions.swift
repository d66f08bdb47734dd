// Sources/Silo/Silo.docc/Versions.md
import Foundation
import Silo
import Testing

// block 2

func testing(id: UUID, fixtures: URL) throws {
  // block 4
}

func otherTools() throws {
  // block 5
}
