// The layout of the rows that are fuzzed: every kind of property, also in circles, a gap in the
// slots and in a union's tags.

@testable import Dflat

private let point = StructLayout(
  "Point", size: 8, alignment: 4,
  [
    Property("x", 0, .scalar(.int32, default: nil)),
    Property("y", 4, .scalar(.float, default: nil)),
  ])
private let leaf = TableLayout(
  "Leaf", slots: 2,
  [
    Property("label", 4, .string(default: nil)),
    Property("rank", 6, .scalar(.int64, default: .integer(1))),
  ])
private let pet = UnionLayout(
  "Pet",
  [
    .init("Leaf", 1, .table { leaf }), .init("Point", 2, .structure { point }),
    .init("Name", 3, .string(default: nil)), .init("Item", 7, .table { item }),
  ])
let item: TableLayout = TableLayout(
  "Item", slots: 18,
  [
    Property("name", 4, .string(default: "")),
    Property("flag", 6, .scalar(.bool, default: .bool(true))),
    Property("short", 8, .scalar(.int16, default: nil)),
    Property("point", 10, .structure { point }),
    Property("leaf", 12, .table { leaf }),
    Property("pet", 16, .union { pet }),
    Property("next", 18, .table { item }),
    Property("bytes", 20, .vector(.scalar(.uint8, default: nil))),
    Property("longs", 22, .vector(.scalar(.int64, default: nil))),
    Property("points", 24, .vector(.structure { point })),
    Property("tags", 26, .vector(.string(default: nil))),
    Property("leaves", 28, .vector(.table { leaf })),
    Property("items", 30, .vector(.table { item })),
    Property("pets", 34, .vector(.union { pet })),
    Property("real", 36, .scalar(.double, default: .real(0.5))),
    Property("late", 38, .string(default: nil)),
  ])
