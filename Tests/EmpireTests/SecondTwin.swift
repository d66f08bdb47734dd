// A type with the same name as one in another file, as in programs with several modules.

import Empire

@IndexKeyRecord("id")
private struct Twin { let id: Int }

enum SecondTwin {
  /// Uses the type in a store.
  static var uses: [(TransactionContext) throws -> Void] {
    [
      { try $0.insert(Twin(id: 2)) },
      { let _: Twin? = try $0.select(key: Tuple(1)) },
      { let _: [Twin] = try $0.select(query: Query(last: .lessThan(3))) },
      { try $0.delete(Twin(id: 1)) },
      { try $0.delete(recordType: Twin.self, key: Tuple(1)) },
      { try $0.deleteAll(of: Twin.self) },
      { _ = try $0.count(of: Twin.self) },
    ]
  }
}
