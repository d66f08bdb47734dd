// Sources/Empire/Empire.docc/Modelling.md
import Empire

// block 1

@IndexKeyRecord("name")
struct Album {
  let name: String
}

// block 2.1

func relations(context: TransactionContext, album: Album, track: Track) throws {
  // block 2.2
}
