// Sources/Empire/Empire.docc/Manipulating.md
import Empire
import LMDB

struct Taken: Error {}

func manipulating(store: Store, person: Person) throws {
  // block 1
  // block 2
  // block 3
}
