// Sources/DflatTools/DflatTools.docc/DflatTools.md
import DflatTools
import Foundation

func looking() throws {
  // block 1
}
