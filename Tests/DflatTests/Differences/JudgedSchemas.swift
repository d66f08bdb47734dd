// The schemas whose buffers are read both here and in C++. Together they have every kind of
// property.
//
// The `.fbs` file and the C++ program are generated from these layouts (CxxSource.swift), so all
// three agree.

@testable import Dflat

enum JudgedSchemas {
  /// The roots, in the order of the C++ program's numbers.
  static let roots = [numbers, node, shell]

  /// Every scalar with and without a default, optional ones, fixed structs.
  static let numbers = TableLayout(
    "Numbers", slots: 22,
    [
      Property("a_bool", 4, .scalar(.bool, default: .bool(true))),
      Property("a_byte", 6, .scalar(.int8, default: .integer(-7))),
      Property("a_ubyte", 8, .scalar(.uint8, default: .integer(0))),
      Property("a_short", 10, .scalar(.int16, default: .integer(300))),
      Property("a_ushort", 12, .scalar(.uint16, default: .integer(0))),
      Property("an_int", 14, .scalar(.int32, default: .integer(-1))),
      Property("a_uint", 16, .scalar(.uint32, default: .integer(9))),
      Property("a_long", 18, .scalar(.int64, default: .integer(5))),
      Property("a_ulong", 20, .scalar(.uint64, default: .unsigned(0))),
      Property("a_float", 22, .scalar(.float, default: .real(1.5))),
      Property("a_double", 24, .scalar(.double, default: .real(0))),
      // The slots of two removed fields.
      Property("maybe_bool", 30, .scalar(.bool, default: nil)),
      Property("maybe_int", 32, .scalar(.int32, default: nil)),
      Property("maybe_double", 34, .scalar(.double, default: nil)),
      Property("a_color", 36, .enumeration({ color }, default: 1)),
      Property("a_point", 38, .structure { point }),
      Property("a_box", 40, .structure { box }),
      Property("a_dot", 42, .structure { dot }),
      Property("needed", 44, .structure { point }, required: true),
      Property("a_text", 46, .string(default: nil)),
    ])

  /// Every type with an offset, in cycles.
  static let node: TableLayout = TableLayout(
    "Node", slots: 18,
    [
      Property("name", 4, .string(default: nil), required: true),
      Property("flag", 6, .scalar(.bool, default: .bool(false))),
      Property("leaf", 8, .table { leaf }),
      Property("pet", 12, .union { pet }),
      Property("next", 14, .table { node }),
      Property("shell", 16, .table { shell }),
      Property("bytes", 18, .vector(.scalar(.uint8, default: nil))),
      Property("bools", 20, .vector(.scalar(.bool, default: nil))),
      Property("longs", 22, .vector(.scalar(.int64, default: nil))),
      Property("points", 24, .vector(.structure { point })),
      Property("texts", 26, .vector(.string(default: nil))),
      Property("leaves", 28, .vector(.table { leaf })),
      Property("nodes", 30, .vector(.table { node })),
      Property("pets", 34, .vector(.union { pet })),
      Property("rank", 36, .scalar(.int16, default: .integer(3))),
      Property("late", 38, .string(default: nil)),
    ])

  /// Tables without fields, or with such tables only.
  static let shell: TableLayout = TableLayout(
    "Shell", slots: 6,
    [
      Property("nothing", 4, .table { nothing }),
      Property("pet", 8, .union { pet }),
      Property("nothings", 10, .vector(.table { nothing })),
      Property("shells", 12, .vector(.table { shell })),
      Property("rank", 14, .scalar(.uint8, default: .integer(0))),
    ])

  static let nothing = TableLayout("Nothing", slots: 0, [])
  static let leaf = TableLayout(
    "Leaf", slots: 3,
    [
      Property("label", 4, .string(default: nil)),
      Property("weight", 8, .scalar(.int64, default: .integer(1))),
    ])
  static let pet: UnionLayout = UnionLayout(
    "Pet",
    [
      .init("Leaf", 1, .table { leaf }), .init("Nothing", 2, .table { nothing }),
      .init("Point", 3, .structure { point }), .init("Word", 4, .string(default: nil)),
      .init("Node", 9, .table { node }), .init("Dot", 10, .structure { dot }),
    ])

  static let color = EnumLayout(
    "Color", .int8, [(name: "Red", value: 0), (name: "Green", value: 1), (name: "Blue", value: 2)])
  static let point = StructLayout(
    "Point", size: 8, alignment: 4,
    [
      Property("x", 0, .scalar(.int32, default: nil)),
      Property("y", 4, .scalar(.float, default: nil)),
    ])
  static let dot = StructLayout(
    "Dot", size: 1, alignment: 1, [Property("shade", 0, .scalar(.uint8, default: nil))])
  static let box = StructLayout(
    "Box", size: 32, alignment: 8,
    [
      Property("depth", 0, .scalar(.int16, default: nil)),
      Property("area", 8, .scalar(.double, default: nil)),
      Property("corner", 16, .structure { point }),
      Property("sides", 24, .array(.scalar(.int16, default: nil), count: 3)),
    ])

  static let tables = [nothing, leaf, shell, node, numbers]
  static let structs = [dot, point, box]
}
