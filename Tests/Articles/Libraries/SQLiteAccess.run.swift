// Sources/SQLiteAccess/SQLiteAccess.docc/SQLiteAccess.md
import Foundation
import SQLiteAccess

// block 1
// block 2
// block 3
