// Sources/EmpireSilo/EmpireSilo.docc/EmpireSilo.md
import Empire
import EmpireSilo
import Silo

func inLMDB(directory: String) throws {
  // block 1
}
