// Sources/LMDB/LMDB.docc/LMDB.md
import LMDB

func trees(directory: String) throws {
  // block 1
}
