// Declarations that differ from their frozen shapes, each on its line.

import Foundation
import Silo

@Persistable(version: 2, shape: "id:U title:S")
struct Appended: Identifiable {
  var id: UUID
  var title: String
  var note: String?  // ! 'note' was appended; stored values stay readable: take shape
  var done = false  // ! 'done' was appended; stored values stay readable
}

@Persistable(version: 2, shape: "id:U title:S")
struct AppendedRequired: Identifiable {
  var id: UUID
  var title: String
  var created: Date  // ! stored values would be misread: make version 3
}

@Persistable(version: 2, shape: "id:U title:S")
struct AppendedUnstable: Identifiable {
  var id: UUID
  var title: String
  var created: Date = .now  // ! make it optional, or give it a constant default
}

@Persistable(version: 2, shape: "id:U")
struct AppendedWithDefaults: Identifiable {
  var id: UUID
  var price: Decimal = 0  // ! 'price' was appended; stored values stay readable
  var at: Date = Date(timeIntervalSince1970: 0)  // ! 'at' was appended; stored values stay readable
  var data: Data = Data()  // ! 'data' was appended; stored values stay readable
  var words: [String] = ["a"]  // ! 'words' was appended; stored values stay readable
  var others: [String] = []  // ! 'others' was appended; stored values stay readable
  var address: Address = Address()  // ! 'address' was appended; stored values stay readable
  var other: Address = .init()  // ! 'other' was appended; stored values stay readable
}

@Persistable(version: 2, shape: "id:U")
struct AppendedUnreadable: Identifiable {
  var id: UUID
  var price: Decimal = 0  // ! but not alone; with the other changes stored values would be misread
  var made: [String] = makeWords()  // ! they cannot read its default
  var note: String? = "a"  // ! they cannot read its default
  var maybe: Address? = Address()  // ! they cannot read its default
  var some: [String]? = []  // ! they cannot read its default
}

@Persistable(
  version: 2,
  shape: "id:U price:N=0 at:D=Date(timeIntervalSince1970:0) words:[S] address:Address=() made:D")
struct OtherLongDefaults: Identifiable {
  var id: UUID
  var price: Decimal = 1  // ! 'price' had the default 0 and has 1 now
  var at: Date  // ! 'at' had the default Date(timeIntervalSince1970:0) and has none now
  var words: [String] = ["b"]  // what the shape has without a default is in every row
  var address: Address  // ! 'address' had the default () and has none now
  var made: Date = Date(timeIntervalSince1970: 5)
}

@Persistable(version: 2, shape: "id:U at:D title:S")
struct LongDefaultStays: Identifiable {
  var id: UUID
  var at: Date = .distantPast
  var title: String
  var note: String?  // ! take shape: "id:U at:D title:S note:S?"
}

@PersistableValue(shape: "street:S= city:S=Rome")
struct Address {
  var street = ""
  var city = "Rome"
}

func makeWords() -> [String] { [] }

@Persistable(version: 2, shape: "id:U title:S count:I")
struct Renamed: Identifiable {
  var id: UUID
  var name: String  // ! take shape: "id:U name:S count:I"
  var count: Int
}

@Persistable(version: 2, shape: "id:U title:S count:I")
struct Retyped: Identifiable {
  var id: UUID
  var title: String
  var count: Int32  // ! 'count' was stored as I and is I32 now
}

@Persistable(version: 2, shape: "id:U title:S")
struct MadeOptional: Identifiable {
  var id: UUID
  var title: String?  // ! 'title' has become optional; stored values stay readable
}

@Persistable(version: 2, shape: "id:U count:I=0")
struct MadeOptionalWithDefault: Identifiable {
  var id: UUID
  var count: Int?  // ! stored values would be misread
}

@Persistable(version: 2, shape: "id:U count:I=0")
struct OtherDefault: Identifiable {
  var id: UUID
  var count = 1  // ! had the default 0 and has 1 now
}

@Persistable(version: 2, shape: "id:U title:S count:I done:B")
struct RemovedInside: Identifiable {
  var id: UUID
  var count: Int  // ! 'title' was removed, and 'count' is where it is stored
  var done: Bool
}

@Persistable(version: 2, shape: "id:U title:S count:I")  // ! 'count' was removed
struct RemovedAtEnd: Identifiable {
  var id: UUID
  var title: String
}

@Persistable(version: 2, shape: "id:U title:S note:S")
struct Exchanged: Identifiable {
  var id: UUID
  var note: String  // ! 'note' is where 'title' is stored
  var title: String
}

@Persistable(version: 2, shape: "id:U title:S")
struct Inserted: Identifiable {
  var id: UUID
  var note: String?  // ! 'note' is new, where 'title' is stored; move it behind the last property
  var title: String
}

@Persistable(version: 2, shape: "id:U owner:@Other")
struct OtherTarget: Identifiable {
  var id: UUID
  var owner: RelatedItem<OtherTarget>  // ! 'owner' was stored as @Other and is @OtherTarget now
}

@Persistable(version: 2, shape: "id:U title:S note:S")
struct Several: Identifiable {
  var id: UUID
  var name: String  // ! 'title' was renamed to 'name', but not alone
  var note: Int  // ! 'note' was stored as S and is I now
  var more: Int?  // ! 'more' was appended
}

@PersistableValue(shape: "a:I")
struct Inner {
  var b: Int  // ! 'a' was renamed to 'b'; stored values stay readable
}

@PersistableValue(shape: "a:I")
struct InnerRetyped {
  var a: String  // ! make a new type and a new version of the values that contain it
}

@PersistableValue(shape: "a:S b:S")
enum Texts: String {
  case a
  case b = "other"  // ! 'b:S' has become 'b:S=other'
  case c  // ! 'c' was appended, but not alone
}

@PersistableValue(shape: "a:S")
enum MoreTexts: String {
  case a
  case c  // ! 'c' was appended; stored values stay readable: take shape: "a:S c:S"
}

@PersistableValue(shape: "a:I=0 b:I=1")
enum Numbers: Int {
  case new  // ! 'new' was appended, but not alone
  case a  // ! 'a:I=0' has become 'a:I=1'
  case b  // ! 'b:I=1' has become 'b:I=2'
}

@PersistableValue(shape: "a:S gone:S")  // ! 'gone' was removed
enum Removed: String { case a }

@PersistableValue(shape: "a:(I) b:(S)")
enum Cases {
  case a(Int)
  case new(Int)  // ! 'new' is new, before cases with values that are stored; move it behind them
  case b(String)
  case plain  // ! 'plain' was appended, but not alone
}

@PersistableValue(shape: "a:(I) b:(S)")  // ! the cases with values are in another order
enum Moved {
  case b(String)
  case a(Int)
  case more(Int)  // ! 'more' was appended, but not alone
}

@PersistableValue(shape: "a:(I)")
enum Payload {
  case a(String)  // ! 'a:(I)' has become 'a:(S)'
}

/// What another type says may change.
struct Settings: Sendable { let level = Level.low }
let settings = Settings()

@PersistableValue(shape: "low:S high:S")
enum Level: String { case low, high }

@Persistable(version: 1, shape: "id:I own:Level=Level.low of:Level=settings.level every:Level")
struct LevelDefaults: Identifiable {
  var id: Int
  var own: Level = Level.low
  var of: Level = settings.level
  var every: Level = settings.level
}

@Persistable(version: 1, shape: "id:I level:Level=settings.level")
struct OtherLevel: Identifiable {
  var id: Int
  var level: Level = .low  // ! 'level' had the default settings.level and has .low now
}

@Persistable(version: 1, shape: "id:I")
struct NewLevel: Identifiable {
  var id: Int
  var level: Level = settings.level  // ! they cannot read its default
}

enum Response {
  @PersistableValue(shape: "name:S")
  struct Data: Hashable { var name: String }
  typealias Date = Foundation.Date
  typealias Int = Swift.Int
  typealias String = Swift.String
}

/// Aliases inside another type have constants as the types themselves have.
@Persistable(version: 1, shape: "id:I count:I=3 name:S=x at:D")
struct InnerAliases: Identifiable {
  var id: Int
  var count: Response.Int = 3
  var name: Response.String = "x"
  var at: Response.Date = .now
}

@Persistable(version: 1, shape: "id:I data:Response.Data bytes:X at:D made:D")
struct Named: Identifiable {
  var id: Swift.Int
  var data: Response.Data
  var bytes: Foundation.Data
  var at: Response.Date
  var made: Date
}

@Persistable(version: 1, shape: "id:I data:Response.Data other:X")
struct ExchangedNames: Identifiable {
  var id: Int
  var data: Data  // ! 'data' was stored as Response.Data and is X now
  var other: Response.Data  // ! 'other' was stored as X and is Response.Data now
}
