// Sources/Empire/Empire.docc/Observing.md
import Empire

func observing(store: Store) async throws {
  // block 1
}
