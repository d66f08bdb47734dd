// Programs that must not compile. Each line with an error ends with part of the expected message;
// all other lines must be free of errors.

import Empire

@IndexKeyRecord("nam")  // ! 'nam' is not a stored property of Misspelt; it has none
struct Misspelt {}

@IndexKeyRecord("name", "ag")  // ! 'ag' is not a stored property of Near; it has 'name', 'age'
struct Near {
  let name: String
  let age: Int
}

@IndexKeyRecord("name", "name")  // ! 'name' is already part of the key
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
  #if DEBUG  // ! cannot tell which branch
    let debug: Int
  #endif
}

@IndexKeyRecord("")  // ! string literal
struct Empty { let name: String }

@IndexKeyRecord("na\(1)me")  // ! StaticString
struct Interpolated { let name: String }

@IndexKeyRecord()  // ! needs the name of at least one property: its key
struct NoKey { let name: String }

@IndexKeyRecord(keyPrefix: -1, "name")  // ! integer literal from 0
struct Negative { let name: String }

@IndexKeyRecord(fieldsVersion: 4294967296, "name")  // ! 'fieldsVersion' must be
struct TooLarge { let name: String }

let number = 5

@IndexKeyRecord(validated: number, "name")  // ! 'validated' must be
struct NoLiteral { let name: String }

@IndexKeyRecord(validated: 0, keyPrefix: 1, "name")  // ! cannot be combined with
struct Both { let name: String }

@IndexKeyRecord(validated: 1, "name")  // ! their hash is 610305871, not 1
struct Changed {
  let name: String
  var age: Int
}

// Queries that the order of the keys cannot answer.

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
@Index("agee")  // ! 'agee' is not a stored property of MisspeltIndex; it has 'name', 'age'
struct MisspeltIndex {
  let name: String
  var age: Int
}

@IndexKeyRecord("name")
@Index("age", "age")  // ! 'age' is already part of the index
struct TwiceInIndex {
  let name: String
  var age: Int
}

@IndexKeyRecord("name")
@Index("age")
@Index("age")  // ! there is already an index by 'age'
struct TwiceIndexed {
  let name: String
  var age: Int
}

@IndexKeyRecord("name")
@Index("age", "city")
@Index("age")  // ! answers the queries of both
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
@Index("nickname")  // ! 'nickname' cannot be indexed: an optional has no defined order
@Index("tags")  // ! 'tags' cannot be indexed: a collection has no order
@Index("scores")  // ! 'scores' cannot be indexed: a collection
struct Unsortable {
  let name: String
  var nickname: String?
  var tags: Set<String>
  var scores: [Int]
}

@IndexKeyRecord("name")
@Index("twice")  // ! 'twice' is not a stored property
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

// Types that cannot be records.

@IndexKeyRecord  // ! needs the name of at least one property: its key
struct Keyless { let id: Int }

@IndexKeyRecord("id")
struct Box<Value: Serializable & Deserializable> {  // ! a record cannot be generic
  let id: Int
  var value: Value
}

struct Shelf<Value> {
  @IndexKeyRecord("id")
  struct Place { let id: Int }  // ! a record cannot be generic
}

@IndexKeyRecord("id", "tags")
struct OptionalKey {
  let id: Int?  // ! 'id' cannot be part of the key: an optional has no defined order
  let tags: [String]  // ! 'tags' cannot be part of the key: a collection has no order
}

@IndexKeyRecord("id")
struct Unstorable {
  let id: Int
  var place: (Int, Int)  // ! 'place' cannot be stored: a Swift tuple
  var action: () -> Void  // ! 'action' cannot be stored: a function
  var any: [any Sendable]  // ! 'any' cannot be stored: its concrete type
  var kind: Int.Type?  // ! 'kind' cannot be stored: a type is not a storable value
}

@IndexKeyRecord("id")
struct Generated {
  let id: Int
  var fields: Int  // ! 'fields' is the name of a member that @IndexKeyRecord generates
  var indexKey: Int  // ! 'indexKey' is the name of a member
  var Empire: Int  // ! 'Empire' hides the module
  static let keyPrefix = 5  // ! 'keyPrefix' is the name of a member
  struct Fields {}  // ! 'Fields' is the name of a member
}

@IndexKeyRecord("id")
struct HarmlessNames {
  let id: Int
  var keyPrefix: Int
  var select: Int
  var serialize: Int
  var query: Int
  var deserialize: Int
  static let fields = 5
}

@IndexKeyRecord("id")
struct WrongVersion {
  let id: Int
  static func deserialize(  // ! older versions are read by 'static func deserialize(with
    with deserializer: consuming RecordDeserializer, version: Int
  ) throws -> sending WrongVersion { WrongVersion(id: 1) }
}

@IndexKeyRecord("id")
struct NotSent {
  let id: Int
  static func deserialize(  // ! -> sending NotSent'; this function would never be called
    with deserializer: consuming RecordDeserializer, version: UInt32
  ) throws -> NotSent { NotSent(id: 1) }
}

@IndexKeyRecord("id")
struct OptionalResult {
  let id: Int
  static func deserialize(  // ! this function would never be called
    with deserializer: consuming RecordDeserializer, version: UInt32
  ) throws -> sending OptionalResult? { nil }
}

@IndexKeyRecord("id")
struct NotStatic {
  let id: Int
  func deserialize(  // ! this function would never be called
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending NotStatic { self }
}

@IndexKeyRecord("id")
struct RightVersion {
  let id: Int
  static func deserialize(
    with deserializer: consuming Empire.RecordDeserializer, version: UInt32
  ) throws -> sending Self { RightVersion(id: 1) }
}

// Queries of other types than the key's.

enum Status: UInt32, Serializable, Deserializable, IndexKeyComparable {
  case open, closed
  static func < (lhs: Status, rhs: Status) -> Bool { lhs.rawValue < rhs.rawValue }
}

@IndexKeyRecord("number")
@Index("status", "title")
struct Issue {
  let number: Int
  var status: Status
  var title: String

  static var byStatus: RecordIndex<Issue, Status, String> { RecordIndex(0) }
}

@IndexKeyRecord("a", "b", "c", "d", "e", "f")
struct Long {
  let a, b, c, d, e: Int
  let f: UInt
}

typealias Issues = RecordSet<Issue>

func rightQueries(_ context: TransactionContext, _ store: Store) throws {
  _ = try context.delete(Issue.query(number: .lessThan(5)))
  _ = try context.count(Issue.query(status: .open, title: .greaterThan("")))
  _ = try store.count(RecordSet<Issue>.query(Query(last: .within([1, 2]))))
  _ = try store.select(Issues.query(Query(.open, last: .equals("")), index: Issue.byStatus))
  _ = try store.subscribe(to: Issue.query(status: .open)) { _ in }
  _ = try store.count(RecordSet<Long>.query(Query(1, 2, 3, 4, 5, last: .lessThan(6))))
  let issues: [Issue] = try context.select(query: Query(last: .lessOrEqual(5), limit: 7))
  let longs: [Long] = try store.select(query: Query(1, 2, 3, 4, 5, last: .equals(6)))
  _ = (issues, longs)
  do { try context.delete(recordType: Issue.self, key: Tuple(1)) } catch MDBError.recordNotFound {
  } catch StoreError.keyBufferOverflow {
  } catch MDBError.failure(let code, _) where code == 2 {
  }
  print(MDBError.recordNotFound, MDBError.permissionDenied, StoreError.keyBufferOverflow)
}

func wrongQueries(_ context: TransactionContext, _ store: Store, date: Float) throws {
  _ = try context.delete(Query(last: .lessThan(date)), recordType: Issue.self)  // ! compares
  _ = try context.count(Query(last: .equals(Status.open)), recordType: Issue.self)  // ! compares
  _ = try context.delete(Issues.query(Query(last: .lessThan(date))))  // ! not of the types that
  _ = try store.count(Issues.query(Query(last: .equals(Status.open))))  // ! the record's key
  _ = try store.count(Issues.query(Query(1, last: .equals(1))))  // ! not of the types
  _ = try store.count(RecordSet<Right>.query(Query(1, last: .equals(1))))  // ! not of the types
  _ = try store.count(Issues.query(Query(last: .equals(1)), index: Issue.byStatus))  // ! the index
  _ = try store.count(Issue.query(number: .lessThan(date)))  // ! convert value of type 'Float'
  _ = try store.count(Issue.query(status: .equals(1)))  // ! expected argument type 'Status'
  _ = try store.subscribe(to: Issues.query(Query(last: .equals("")))) { _ in }  // ! the types
}

struct Surrounding {
  @IndexKeyRecord("id")
  private struct Hidden { let id: Int }  // ! write 'fileprivate'

  private enum Inner {
    @IndexKeyRecord("id")
    struct Hidden { let id: Int }  // ! write 'fileprivate'
  }
}

@CloudKitWebRecord
struct CloudConstants {
  let id: Int
  let version: Int = 5  // ! 'version' is a constant with a value
  let kind = "house"  // ! 'kind' is a constant with a value
  lazy var size = 3  // ! 'size' is lazy
}

struct CloudSurrounding {
  @CloudKitWebRecord
  private struct Hidden { let id: Int }  // ! write 'fileprivate'
}
