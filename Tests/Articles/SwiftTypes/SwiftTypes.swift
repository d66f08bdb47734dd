// Sources/Dflat/Dflat.docc/SwiftTypes.md
import Foundation
import SQLiteDflat

func swiftTypes(dflat: SQLiteWorkspace) {
  // block 2
}

// block 3
