// Queries whose types are not checked at compile time: they compile with a warning.

import Empire

@IndexKeyRecord("a", "b")
struct Pair {
  let a: Int
  let b: UInt
}

func all<Record: IndexKeyRecord>(_ recordType: Record.Type, _ store: Store) throws -> [Record] {
  try store.select(query: Query(last: .lessThan(5)))  // ! not known to be of the types
}

func pairs(_ context: TransactionContext, number: Int) throws -> [Pair] {
  try context.select(query: Query(1, last: .equals(number)))  // ! not known to be of the types
}

func right(_ context: TransactionContext, number: UInt) throws -> [Pair] {
  try context.select(query: Query(1, last: .equals(number)))
}
