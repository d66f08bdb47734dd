// Sources/Dflat/Dflat.docc/GettingStarted.md
import SQLiteDflat

let dflat = SQLiteWorkspace.inMemory()

// block 5
