// Sources/Empire/Empire.docc/Modelling.md
import Empire
import Foundation

// block 1

@IndexKeyRecord("name")
struct Album {
  let name: String
}

// block 2.1

// block 2.2

// block 3.1

func relations(context: TransactionContext, album: Album, track: Track) throws {
  // block 3.2
}
