// Programs that must not compile. Behind each line that is wrong stands a part of what the compiler has to say; other lines have to be
// free of errors.

import Empire

@IndexKeyRecord("nam")  // ! 'nam' is no stored property of Misspelt; it has none
struct Misspelt {}

@IndexKeyRecord("name", "ag")  // ! 'ag' is no stored property of Near; it has 'name', 'age'
struct Near {
  let name: String
  let age: Int
}

@IndexKeyRecord("name", "name")  // ! 'name' is part of the key already
struct Twice { let name: String }

@IndexKeyRecord("name")
class Object {  // ! needs a struct
  let name: String = ""
}

@IndexKeyRecord("name")
enum Choice { case name }  // ! needs a struct

@IndexKeyRecord("name")
struct NoType {
  let name: String
  var age = 5  // ! 'age' needs a type annotation
}

@IndexKeyRecord("name")
struct Constant {
  let name: String
  let kind: Int = 5  // ! 'kind' is a constant with a value
}

@IndexKeyRecord("name")
struct Lazy {
  let name: String
  lazy var kind: Int = 5  // ! is lazy
}

@propertyWrapper struct Wrapper { var wrappedValue: Int }

@IndexKeyRecord("name")
struct Wrapped {
  let name: String
  @Wrapper var kind: Int  // ! property wrapper
}

@IndexKeyRecord("name")
struct Initialized {
  let name: String
  init(_ name: String) { self.name = name }  // ! replaces the memberwise one, 'init(name:)'
}

@IndexKeyRecord("name")
struct Failable {
  let name: String
  init?(name: String) { self.name = name }  // ! replaces the memberwise one
}

@IndexKeyRecord("name")
struct Pair {
  let name: String
  var (left, right): (Int, Int)  // ! one property at a time
}

@IndexKeyRecord("name")
struct Conditional {
  let name: String
  #if DEBUG  // ! cannot know which members
    let debug: Int
  #endif
}

@IndexKeyRecord("")  // ! string literal
struct Empty { let name: String }

@IndexKeyRecord("na\(1)me")  // ! StaticString
struct Interpolated { let name: String }

@IndexKeyRecord()  // ! missing argument
struct NoKey { let name: String }

@IndexKeyRecord(keyPrefix: -1, "name")  // ! integer literal from 0
struct Negative { let name: String }

@IndexKeyRecord(fieldsVersion: 4294967296, "name")  // ! 'fieldsVersion' has to be
struct TooLarge { let name: String }

let number = 5

@IndexKeyRecord(validated: number, "name")  // ! 'validated' has to be
struct NoLiteral { let name: String }

@IndexKeyRecord(validated: 0, keyPrefix: 1, "name")  // ! cannot stand beside
struct Both { let name: String }

@IndexKeyRecord(validated: 1, "name")  // ! their hash is 610305871, not 1
struct Changed {
  let name: String
  var age: Int
}

// Queries that the order of keys does not answer.

@IndexKeyRecord("a", "b", "c")
struct Right {
  let a: Int
  let b: String
  let c: Int
  var d: Int
}

func query(_ context: TransactionContext) throws {
  _ = try Right.select(in: context, a: .greaterThan(1))
  _ = try Right.select(in: context, a: 1, b: .lessThan(""), c: 1)  // ! lessThan
  _ = try Right.select(in: context, a: 1, c: 1)  // ! missing argument for parameter 'b'
  _ = try Right.select(in: context, b: "")  // ! 'a'
  _ = try Right.select(in: context)  // !
  _ = try Right.select(in: context, a: "")  // ! no exact matches
  _ = try Right.select(in: context, d: 1)  // !
  try Right.delete(in: context, a: 1, b: "")  // !
}

// Indexes.

@IndexKeyRecord("name")
@Index("agee")  // ! 'agee' is no stored property of MisspeltIndex; it has 'name', 'age'
struct MisspeltIndex {
  let name: String
  var age: Int
}

@IndexKeyRecord("name")
@Index("age", "age")  // ! 'age' is part of the index already
struct TwiceInIndex {
  let name: String
  var age: Int
}

@IndexKeyRecord("name")
@Index("age")
@Index("age")  // ! there is an index by 'age' already
struct TwiceIndexed {
  let name: String
  var age: Int
}

@IndexKeyRecord("name")
@Index("age", "city")
@Index("age")  // ! answers what both would
struct Beginning {
  let name: String
  var age: Int
  var city: String
}

@IndexKeyRecord("name", "age")
@Index("name")  // ! the key begins with 'name'
struct OfTheKey {
  let name: String
  var age: Int
}

@IndexKeyRecord("name")
@Index("nickname")  // ! 'nickname' cannot be indexed: an optional is no key
@Index("tags")  // ! 'tags' cannot be indexed: a collection has no order
@Index("scores")  // ! 'scores' cannot be indexed: a collection
struct Unsortable {
  let name: String
  var nickname: String?
  var tags: Set<String>
  var scores: [Int]
}

@IndexKeyRecord("name")
@Index("twice")  // ! 'twice' is no stored property
struct ComputedIndex {
  let name: String
  var age: Int
  var twice: Int { age * 2 }
}

@IndexKeyRecord("name")
@Index("")  // ! string literal
struct EmptyIndex { let name: String }

@Index("name")  // ! no effect without @IndexKeyRecord
struct NoRecord { let name: String }

@IndexKeyRecord("a", "b")
@Index("d", "c")
@Index("a", "c")
struct Indexed {
  let a: Int
  let b: String
  let c: Int
  var d: Double
}

func indexQuery(_ context: TransactionContext, _ store: Store) throws {
  _ = try Indexed.select(in: context, d: .greaterThan(1))
  _ = try Indexed.select(in: store, limit: 3, d: 1, c: .within([1]))
  _ = try Indexed.select(in: store, a: 1, c: .lessThan(1))
  _ = try Indexed.select(in: store, a: .lessThan(1))
  _ = try Indexed.select(in: context, c: 1)  // !
  _ = try Indexed.select(in: context, d: .lessThan(1), c: 1)  // ! lessThan
  _ = try Indexed.select(in: context, d: "")  // ! no exact matches
}

func awaited(_ store: Store) async throws -> [Right] {
  try await store.withTransaction { try $0.insert(Right(a: 1, b: "", c: 1, d: 1)) }
  try store.withTransaction { try $0.insert(Right(a: 1, b: "", c: 1, d: 1)) }
  return try await store.withTransaction {
    try Right.select(in: $0, a: .lessThanOrEqual(1))
      + Right.select(in: $0, a: .greaterThanOrEqual(1))
  }
}
