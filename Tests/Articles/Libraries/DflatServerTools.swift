// Sources/DflatServerTools/DflatServerTools.docc/DflatServerTools.md
import DflatServerTools
import DflatTools
import Foundation

func lookingAtServers() throws {
  // block 1
}

func preparing() throws {
  // block 2
}
