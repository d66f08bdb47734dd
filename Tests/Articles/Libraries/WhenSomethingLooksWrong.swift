// Sources/DflatTools/DflatTools.docc/WhenSomethingLooksWrong.md
import DflatTools

func checking() throws {
  // block 2
}

func repairing() async throws {
  // block 4
}
