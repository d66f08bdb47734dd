// Sources/DflatInspector/DflatInspector.docc/DflatInspector.md
import DflatInspector
import SQLiteDflat

func inspecting(workspace: SQLiteWorkspace) throws {
  // block 1
}
