// Sources/DflatTools/DflatTools.docc/WhenSomethingLooksWrong.md
import DflatTools
import SQLiteDflat

func checking() throws {
  // block 2
}

func repairing() async throws {
  // block 4
}

func deciding() {
  var configuration = SQLiteWorkspace.Configuration()
  // block 5
}
