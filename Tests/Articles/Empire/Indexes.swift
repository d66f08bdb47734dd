// Sources/Empire/Empire.docc/Indexes.md
import Empire

enum Indexes {
  // block 1.1

  static func asking(store: Store, context: TransactionContext) throws {
    // block 1.2
  }
}
