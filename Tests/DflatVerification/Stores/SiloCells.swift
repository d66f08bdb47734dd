// The values that store the keys of a space in a silo: one type for each space, and one for the
// operations of the families.

import Silo

/// A value that stores a key.
protocol SiloCell: Persistable where ID == Int64 {
  var values: [Int64] { get set }
  init(_ key: Key, _ values: CellValue)
  /// The condition that a value is in a group.
  static func isIn(group: Int64) -> Condition<Canonical<Self>>
}

@Persistable(version: 1, table: "silo_red", shape: "id:I64 group:I64 values:[I64]")
struct SiloRed: SiloCell {
  var id: Int64
  @Indexed var group: Int64
  var values: [Int64]
  init(_ key: Key, _ values: CellValue) {
    (id, group, self.values) = (key.number, key.group, values)
  }
  static func isIn(group: Int64) -> Condition<Canonical<Self>> { Self.group == group }
}

@Persistable(version: 1, table: "silo_green", shape: "id:I64 group:I64 values:[I64]")
struct SiloGreen: SiloCell {
  var id: Int64
  @Indexed var group: Int64
  var values: [Int64]
  init(_ key: Key, _ values: CellValue) {
    (id, group, self.values) = (key.number, key.group, values)
  }
  static func isIn(group: Int64) -> Condition<Canonical<Self>> { Self.group == group }
}

@Persistable(version: 1, table: "silo_blue", shape: "id:I64 group:I64 values:[I64]")
struct SiloBlue: SiloCell {
  var id: Int64
  var group: Int64
  var values: [Int64]
  init(_ key: Key, _ values: CellValue) {
    (id, group, self.values) = (key.number, key.group, values)
  }
  static func isIn(group: Int64) -> Condition<Canonical<Self>> { Self.group == group }
}

@Persistable(version: 1, table: "silo_white", shape: "id:I64 group:I64 values:[I64]")
struct SiloWhite: SiloCell {
  var id: Int64
  var group: Int64
  var values: [Int64]
  init(_ key: Key, _ values: CellValue) {
    (id, group, self.values) = (key.number, key.group, values)
  }
  static func isIn(group: Int64) -> Condition<Canonical<Self>> { Self.group == group }
}

/// The operations of a family, in order.
@Persistable(version: 1, table: "silo_families", shape: "id:I64 values:[I64]")
struct SiloFamily: SiloCell {
  var id: Int64
  var values: [Int64]
  init(_ key: Key, _ values: CellValue) { (id, self.values) = (key.number, values) }
  static func isIn(group: Int64) -> Condition<Canonical<Self>> { Self.id == group }
}

/// The type of each space, and that of the families behind them.
let siloTypes: [any SiloCell.Type] = [
  SiloRed.self, SiloGreen.self, SiloBlue.self, SiloWhite.self, SiloFamily.self,
]
