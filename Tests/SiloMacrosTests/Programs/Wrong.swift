// Every mistake that Silo's macros report, each on its line.

import Foundation
import Silo

@Persistable
class Class: Identifiable { var id = 1 }  // ! @Persistable needs a struct

@Persistable
struct Generic<T>: Identifiable { var id: Int }  // ! a stored value cannot be generic

@Persistable
struct NoID { var title: String }  // ! needs a stored property 'id'

@Persistable
struct OptionalID {
  var id: Int?  // ! Int? cannot be a key
}

@Persistable
struct RealID {
  var id: Double  // ! Double cannot be a key
}

@Persistable
struct ComputedID {  // ! needs a stored property 'id'
  var id: Int { 1 }
}

@Persistable(version: 0)  // ! a version is an integer literal from 1 up
struct VersionZero: Identifiable { var id: Int }

@Persistable(version: 1 + 1)  // ! a version is an integer literal from 1 up
struct VersionSum: Identifiable { var id: Int }

@Persistable(table: "my table")  // ! a table is a string literal
struct TableName: Identifiable { var id: Int }

@Persistable(table: "a__b")  // ! a table is a string literal
struct TableOfIndex: Identifiable { var id: Int }

@Persistable(table: "")  // ! a table is a string literal
struct TableEmpty: Identifiable { var id: Int }

@Persistable(shape: "what is it")  // ! a shape is a string literal with entries like
struct Shapeless: Identifiable { var id: Int }

@Persistable
struct Types: Identifiable {
  var id: Int
  var pair: (Int, Int)  // ! a tuple cannot conform to protocols
  var call: () -> Void  // ! a function cannot be stored
  var type: Int.Type  // ! a type cannot be stored
  var anything: any Sendable  // ! its concrete type must be known
  var character: Character  // ! use 'String'
  var twice: Int??  // ! an optional of an optional has two kinds of nil
  var spelled: Optional<Int?>  // ! an optional of an optional has two kinds of nil
  var inside: [Set<Optional<Int?>>]  // ! an optional of an optional has two kinds of nil
  var short: Array<Int??>  // ! an optional of an optional has two kinds of nil
  var unwrapped: Int!  // ! write '?' instead of '!'
  var byNumber: Dictionary<Double, Int>  // ! the keys of a stored dictionary are
  var tuples: Optional<(Int, Int)>  // ! a tuple cannot conform to protocols
  var byDate: [Date: Int]  // ! the keys of a stored dictionary are
  var list: [(Int, Int)]  // ! a tuple cannot conform to protocols
  var untyped = makeNumber()  // ! needs a type annotation
  lazy var late: Int = 1  // ! is lazy
  let constant: Int = 1  // ! is a constant with a value
  @Wrapper var wrapped: Int  // ! has a property wrapper
  @Ignored var ignored: Int  // ! is not stored, so it needs a default
  @Ignored let never: Int?  // ! is not stored, so it needs a default
  #if os(Linux)  // ! the macro cannot tell which branch
    var conditional: Int
  #endif
}

func makeNumber() -> Int { 1 }

@propertyWrapper
struct Wrapper { var wrappedValue: Int }

@Persistable
struct Indexes: Identifiable {
  var id: Int
  @Indexed var list: [Int]  // ! cannot have an index: a collection has no order
  @Unique var others: RelatedItems<Indexes>  // ! cannot have an index: a collection has no order
}

@Persistable
struct Reserved: Identifiable {
  var id: Int
  var migrations: [String]  // ! is the name of a member that silos use
}

struct Plain {
  @Indexed var title: String  // ! has an effect only on a stored property
  @Ignored var memo = 1  // ! has an effect only on a stored property
}

@PersistableValue
class ValueClass { var a = 1 }  // ! @PersistableValue needs a struct or an enum

@PersistableValue
enum Empty {}  // ! an enum without cases has no values

@PersistableValue
enum Payload {
  case tuple((Int, Int))  // ! a tuple cannot conform to protocols
  case twice(Optional<Int?>)
}

@PersistableValue
enum Conditional {
  case a
  #if os(Linux)  // ! the macro cannot tell which branch
    case b
  #endif
}

@Persistable
struct Rules: Identifiable {
  var id: Int
  @Retains var name: String  // ! 'name' is no relation
  @DeleteRule(.cascade) var number: Int  // ! 'number' is no relation
  @DeleteRule(.nullify) var owner: RelatedItem<Rules>  // ! always refers to a value
  @DeleteRule(.nullify) let fixed: RelatedItems<Rules>  // ! 'fixed' is a constant
  @DeleteRule(rule) var other: RelatedItem<Rules>?  // ! write the rule as '.nothing'
}

let rule = DeletionRule.deny

struct Unruled {
  @Retains var owner: Int  // ! has an effect only on a stored property
}

@Persistable
struct TwoAtOnce: Identifiable {
  var id: Int
  var (left, right): (Int, Int)  // ! declare one property at a time, with its type
}

@Persistable
struct Friend: Identifiable { var id: Int }

@PersistableValue
struct Person {
  var user: RelatedItem<Friend>  // ! 'user' would be stored and never followed
  var deputy: RelatedItem<Friend>?  // ! or store the id, Friend.ID
  var groups: RelatedItems<Friend>  // ! make it a property of the '@Persistable' struct
  var friends: RelatedList<Friend>  // ! 'friends' would be stored and never followed
  var rooms: [String: [RelatedItem<Friend>]]  // ! 'rooms' would be stored and never followed
}

@PersistableValue
enum Author {
  case unknown
  case user(RelatedItem<Friend>, since: Int)  // ! 'user' would be stored and never followed
}

@Persistable
struct Meeting: Identifiable {
  var id: Int
  var host: RelatedItem<Friend>?
  var guests: [RelatedItem<Friend>]  // ! use RelatedItems<Friend> or RelatedList<Friend>
  var others: Set<RelatedItem<Friend>>?  // ! 'others' would be stored and never followed
  var lists: Array<RelatedList<Friend>>  // ! 'lists' would be stored and never followed
  var seats: [String: RelatedItem<Friend>]  // ! or store the ids, Friend.ID
}

let newest = Int.self

@EntityVersion(1, of: newest, shape: "id:I")  // ! name the value that this is a version of
struct Unnamed: Identifiable { var id: Int }

struct Surrounding {
  @Persistable(shape: "id:I")
  private struct Hidden: Identifiable { var id: Int }  // ! write 'fileprivate'

  @PersistableValue(shape: "a:S")
  private enum HiddenKind: String { case a }  // ! write 'fileprivate'
}

@Persistable(shape: "id:I left:I right:I")
struct WithOperators: Identifiable {
  var id: Int
  var left, right: Int  // ! in a type with operators each property is declared by itself
  static func + (left: Self, right: Self) -> Self { right }
}

@Persistable(shape: "id:I count:I")
struct OnlyLists: Identifiable {
  var id, count: Int  // ! declare at least one property by itself
}

@Persistable(shape: "id:I")  // ! name one, as in table: "my_value"
struct `my value`: Identifiable { var id: Int }

@Persistable(table: "SQLite_values", shape: "id:I")  // ! SQLite keeps names that begin
struct ReservedTable: Identifiable { var id: Int }

@Persistable(shape: "id:I")  // ! name another table, as in table: "values_sqlite_value"
struct SQLite_Value: Identifiable { var id: Int }

@PersistableValue
enum Overloaded {
  case a(Int)
  case b, a(x: String)  // ! there is a case 'a' already, and the name of a case is what is stored
}
