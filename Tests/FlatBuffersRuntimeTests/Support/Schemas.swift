// The schemas of the agreement tests: each as a text for flatc, and as a layout that is written by
// hand.
//
// The root is always a Batch, so that one run of flatc checks thousands of objects.

struct Schema: Sendable {
  let name: String
  let text: String
  let makeItem: @Sendable () -> TableLayout

  /// The layout of the root: one vector of items.
  static func batch(of item: TableLayout) -> TableLayout {
    TableLayout("Batch", [.init("items", 0, .vector(.table(item)))])
  }

  static let all = [scalars, structs, trees, unions]

  static let scalars = Schema(
    name: "scalars",
    text: """
      table Item {
        a: bool; b: byte; c: ubyte; d: short; e: ushort; f: int; g: uint; h: long; i: ulong;
        j: float; k: double;
        da: bool = true; db: byte = -3; dc: ubyte = 255; dd: short = -300; de: ushort = 65535;
        df: int = -70000; dg: uint = 4294967295; dh: long = -9223372036854775808;
        di: ulong = 18446744073709551615; dj: float = 0.25; dk: double = -2.5;
        oa: bool = null; ob: byte = null; oc: ubyte = null; od: short = null; oe: ushort = null;
        of: int = null; og: uint = null; oh: long = null; oi: ulong = null; oj: float = null;
        ok: double = null;
      }
      table Batch { items: [Item]; }
      root_type Batch;
      file_identifier "SCAL";
      """,
    makeItem: {
      let zeros: [Value] = [
        .bool(false), .int(0), .uint(0), .int(0), .uint(0), .int(0), .uint(0), .int(0), .uint(0),
        .float(0), .float(0),
      ]
      let defaults: [Value] = [
        .bool(true), .int(-3), .uint(255), .int(-300), .uint(65535), .int(-70000),
        .uint(4_294_967_295), .int(.min), .uint(.max), .float(0.25), .float(-2.5),
      ]
      var fields: [TableLayout.Field] = []
      for (index, kind) in ScalarKind.allCases.enumerated() {
        let letter = "abcdefghijk".map(String.init)[index]
        fields.append(.init(letter, index, .scalar(kind), default: zeros[index]))
        fields.append(.init("d" + letter, 11 + index, .scalar(kind), default: defaults[index]))
        fields.append(.init("o" + letter, 22 + index, .scalar(kind)))
      }
      return TableLayout("Item", fields.sorted { $0.slot < $1.slot })
    })

  static let structs = Schema(
    name: "structs",
    text: """
      struct Tiny { a: ubyte; }
      struct Small { a: ubyte; b: int; }
      struct Wide { a: byte; b: double; c: bool; s: Small; d: short; }
      struct Arrays { n: [short:3]; w: [Small:2]; f: [float:2]; l: long; }
      struct Forced (force_align: 16) { a: int; }
      table Item {
        tiny: Tiny; small: Small; n: int; wide: Wide; arrays: Arrays; forced: Forced;
        tinies: [Tiny]; smalls: [Small]; wides: [Wide]; all: [Arrays]; forces: [Forced];
      }
      table Batch { items: [Item]; }
      root_type Batch;
      """,
    makeItem: {
      let tiny = StructLayout("Tiny", size: 1, alignment: 1, [("a", 0, .scalar(.uint8))])
      let small = StructLayout(
        "Small", size: 8, alignment: 4, [("a", 0, .scalar(.uint8)), ("b", 4, .scalar(.int32))])
      let wide = StructLayout(
        "Wide", size: 32, alignment: 8,
        [
          ("a", 0, .scalar(.int8)), ("b", 8, .scalar(.double)), ("c", 16, .scalar(.bool)),
          ("s", 20, .structure(small)), ("d", 28, .scalar(.int16)),
        ])
      let arrays = StructLayout(
        "Arrays", size: 40, alignment: 8,
        [
          ("n", 0, .array(.scalar(.int16), count: 3)),
          ("w", 8, .array(.structure(small), count: 2)),
          ("f", 24, .array(.scalar(.float), count: 2)), ("l", 32, .scalar(.int64)),
        ])
      let forced = StructLayout("Forced", size: 16, alignment: 16, [("a", 0, .scalar(.int32))])
      return TableLayout(
        "Item",
        [
          .init("tiny", 0, .structure(tiny)), .init("small", 1, .structure(small)),
          .init("n", 2, .scalar(.int32), default: .int(0)), .init("wide", 3, .structure(wide)),
          .init("arrays", 4, .structure(arrays)), .init("forced", 5, .structure(forced)),
          .init("tinies", 6, .vector(.structure(tiny))),
          .init("smalls", 7, .vector(.structure(small))),
          .init("wides", 8, .vector(.structure(wide))),
          .init("all", 9, .vector(.structure(arrays))),
          .init("forces", 10, .vector(.structure(forced))),
        ])
    })

  static let trees = Schema(
    name: "trees",
    text: """
      table Leaf { weight: int = 5 (id: 1); name: string (id: 0); }
      table Item {
        name: string (required); tags: [string]; bytes: [ubyte]; shorts: [short]; longs: [long];
        doubles: [double]; flags: [bool]; old: int (deprecated); leaf: Leaf; leaves: [Leaf];
        child: Item; children: [Item]; floats: [float]; uints: [uint];
      }
      table Batch { items: [Item]; }
      root_type Batch;
      file_identifier "TREE";
      """,
    makeItem: {
      let item = TableLayout("Item")
      item.fields = [
        .init("name", 0, .string, required: true), .init("tags", 1, .vector(.string)),
        .init("bytes", 2, .vector(.scalar(.uint8))), .init("shorts", 3, .vector(.scalar(.int16))),
        .init("longs", 4, .vector(.scalar(.int64))),
        .init("doubles", 5, .vector(.scalar(.double))), .init("flags", 6, .vector(.scalar(.bool))),
        .init("leaf", 8, .table(leaf())), .init("leaves", 9, .vector(.table(leaf()))),
        .init("child", 10, .table(item)), .init("children", 11, .vector(.table(item))),
        .init("floats", 12, .vector(.scalar(.float))),
        .init("uints", 13, .vector(.scalar(.uint32))),
      ]
      return item
    })

  static let unions = Schema(
    name: "unions",
    text: """
      table Leaf { weight: int = 5 (id: 1); name: string (id: 0); }
      struct Pair { x: int; y: double; }
      table Empty {}
      union Any { Leaf, Pair, Text: string, Item, Other: Leaf, Empty }
      table Item { before: int; any: Any; anys: [Any]; after: string; }
      table Batch { items: [Item]; }
      root_type Batch;
      """,
    makeItem: {
      let pair = StructLayout(
        "Pair", size: 16, alignment: 8, [("x", 0, .scalar(.int32)), ("y", 8, .scalar(.double))])
      let item = TableLayout("Item")
      let any = UnionLayout(members: [
        ("Leaf", .table(leaf())), ("Pair", .structure(pair)), ("Text", .string),
        ("Item", .table(item)), ("Other", .table(leaf())), ("Empty", .table(TableLayout("Empty"))),
      ])
      item.fields = [
        .init("before", 0, .scalar(.int32), default: .int(0)), .init("any", 2, .union(any)),
        .init("anys", 4, .unionVector(any)), .init("after", 5, .string),
      ]
      return item
    })

  private static func leaf() -> TableLayout {
    TableLayout(
      "Leaf", [.init("name", 0, .string), .init("weight", 1, .scalar(.int32), default: .int(5))])
  }
}
