// Names that stand for plain types: a shape protects what is stored only if it has the type itself.

import Foundation
import Silo

typealias Code = String
typealias Count = Int
typealias Codes = [String]
typealias Level = Kind

@PersistableValue(shape: "a:S b:S")
enum Kind: String { case a, b }

@PersistableValue(shape: "x:I")
struct Point: Hashable { var x: Int }

@Persistable(version: 1, shape: "id:I")
struct Friend: Identifiable { var id: Int }

@Persistable(
  version: 1,
  shape:
    "id:Count code:Code maybe:Code? list:[Code] set:{Count} map:[Code:Kind] codes:Codes time:TimeInterval friend:Friend.ID own:Kind level:Level point:Point?"
)
struct Unprotected: Identifiable {
  var id: Count  // ! write what the name stands for into the shape
  var code: Code  // ! write what the name stands for into the shape
  var maybe: Code?  // ! write what the name stands for into the shape
  var list: [Code]  // ! write what the name stands for into the shape
  var set: Set<Count>  // ! write what the name stands for into the shape
  var map: [Code: Kind]  // ! write what the name stands for into the shape
  var codes: Codes  // ! write what the name stands for into the shape
  var time: TimeInterval
  var friend: Friend.ID  // ! write what the name stands for into the shape
  var own: Kind
  @Indexed var level: Level
  var point: Point?
}

@Persistable(
  version: 1,
  shape:
    "id:I code:S maybe:S? list:[S] set:{I} map:[S:Kind] codes:[S] time:R friend:I own:Kind=.a point:Point?"
)
struct Protected: Identifiable {
  typealias ID = Int
  var id: ID
  @Indexed var code: Code
  var maybe: Code?
  var list: [Code]
  var set: Set<Count>
  var map: [Code: Kind]
  var codes: Codes
  var time: TimeInterval
  var friend: Friend.ID
  var own: Kind = .a
  var point: Point?
}

@Persistable(version: 1, shape: "id:I code:I maybe:I? list:[I] map:[I:Kind] codes:[I] kind:S")
struct Changed: Identifiable {
  var id: Int
  var code: Code  // ! 'code' was stored as I and is Code now; stored values would be misread
  var maybe: Code?  // ! 'maybe' was stored as I? and is Code? now
  var list: [Code]  // ! 'list' was stored as [I] and is [Code] now
  var map: [Code: Kind]  // ! 'map' was stored as [I:Kind] and is [Code:Kind] now
  var codes: Codes  // ! 'codes' was stored as [I] and is Codes now
  var kind: Kind  // ! 'kind' was stored as S and is Kind now
}

@Persistable(version: 1, shape: "id:I code:S")
struct Grown: Identifiable {
  var id: Int
  var code: Code
  var note: Code?  // ! 'note' was appended; stored values stay readable: take shape: "id:I code:S
}

@Persistable(version: 1, shape: "id:I kind:Old code:[S:Other] point:[Point]")
struct Retyped: Identifiable {
  var id: Int
  var kind: Kind  // ! 'kind' was stored as Old and is Kind now
  var code: [Code: Kind]  // ! 'code' was stored as [S:Other] and is [Code:Kind] now
  var point: Point  // ! 'point' was stored as [Point] and is Point now
}

@PersistableValue(shape: "code:Code count:I wrong:B")
struct Part {
  var code: Code  // ! write what the name stands for into the shape
  var count: Count
  var wrong: Count  // ! 'wrong' was stored as B and is Count now
}

@PersistableValue(shape: "none:() some:(Code) two:(S,at:I?) kind:(Kind) wrong:(I,I)")
enum Choice {
  case none
  case some(Code)  // ! write what the name stands for into the shape
  case two(Code, at: Count?)
  case kind(Kind)
  case wrong(Int, Code)  // ! 'wrong' was stored as (I,I) and is (I,Code) now
}

@Persistable  // without a shape nothing is protected, which is a warning
struct Shapeless: Identifiable {
  var id: Int
  var code: Code
}
