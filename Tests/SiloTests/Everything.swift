// Values with properties of every supported type.

import Foundation
import Silo

@PersistableValue(shape: "low:S middle:S=in%20between high:S")
enum Priority: String, CaseIterable { case low, middle = "in between", high }

@PersistableValue(shape: "small:I16=1 great:I16=40")
enum Size: Int16, CaseIterable { case small = 1, great = 40 }

@PersistableValue(
  shape: "none:() text:(S) place:(latitude:R,longitude:R,name:S?) list:([Contents])")
indirect enum Contents: Hashable {
  case none
  case text(String)
  case place(latitude: Double, longitude: Double, name: String?)
  case list([Contents])
}

@PersistableValue(shape: "street:S city:S=Paris number:I? tags:[S]")
struct Address: Hashable {
  var street: String
  var city = "Paris"
  var number: Int?
  var tags: [String] = []
}

@PersistableValue(shape: "list:S number:I")
struct Place: Hashable, Codable {
  var list: String
  var number: Int
}

@Persistable(
  version: 3, table: "everything",
  shape: """
    id:U flag:B i8:I8 i16:I16 i32:I32 i64:I64 int:I u8:W8 u16:W16 u32:W32 u64:W64 uint:W real:R32 \
    double:R decimal:N text:S data:X date:D uuid:U url:L priority:Priority size:Size \
    contents:Contents address:Address maybeFlag:B? maybeInt:I? maybeText:S? maybeDate:D? \
    maybeData:X? maybePriority:Priority? maybeAddress:Address? maybeContents:Contents? numbers:[I] \
    texts:[S] dates:[D] addresses:[Address] nested:[[S]] optionals:[I?] datas:[X] words:{S} \
    homes:{Address} counts:[S:I] byNumber:[I:Address] byPriority:[Priority:[S]] maybeList:[S]? \
    count:I=3 title:S=new%20title ratio:R=-0.5 level:Priority=.middle
    """)
struct Everything: Identifiable, Hashable, Sendable {
  var id: UUID
  var flag: Bool
  var i8: Int8
  var i16: Int16
  var i32: Int32
  var i64: Int64
  var int: Int
  var u8: UInt8
  var u16: UInt16
  var u32: UInt32
  var u64: UInt64
  var uint: UInt
  var real: Float
  var double: Double
  var decimal: Decimal
  var text: String
  var data: Data
  var date: Date
  var uuid: UUID
  var url: URL
  var priority: Priority
  var size: Size
  var contents: Contents
  var address: Address
  var maybeFlag: Bool?
  var maybeInt: Int?
  var maybeText: String?
  var maybeDate: Date?
  var maybeData: Data?
  var maybePriority: Priority?
  var maybeAddress: Address?
  var maybeContents: Contents?
  var numbers: [Int]
  var texts: [String]
  var dates: [Date]
  var addresses: [Address]
  var nested: [[String]]
  var optionals: [Int?]
  var datas: [Data]
  var words: Set<String>
  var homes: Set<Address>
  var counts: [String: Int]
  var byNumber: [Int: Address]
  var byPriority: [Priority: [String]]
  var maybeList: [String]?
  var count = 3
  var title = "new title"
  var ratio = -0.5
  var level: Priority = .middle
  @Ignored var draft = 7
}

@Persistable(version: 1, table: "seats", shape: "id:Place guest:S")
struct Seat: Identifiable, Hashable, Sendable {
  let id: Place
  @Indexed var guest: String
}
