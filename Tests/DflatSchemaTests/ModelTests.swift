// The model of a schema, as the generator reads it.

import DflatSchema
import Testing

@Suite("The model")
struct ModelTests {
  @Test("Slots follow declaration order; a union and a vector of unions take two")
  func slots() throws {
    let table = try schema(
      """
      table A {}
      union U { A }
      table T { a: int; u: U; b: string (deprecated); us: [U]; c: bool; }
      """
    ).table("T")
    #expect(table.offsets == ["a": 4, "u": 8, "b": 10, "us": 14, "c": 16])
    #expect(table.slotCount == 7)
    #expect(table.fields.map(\.name) == ["a", "u", "b", "us", "c"])
    #expect(table.fields[2].isDeprecated)
  }

  @Test("Ids determine the slots; declaration order stays")
  func ids() throws {
    let table = try schema(
      """
      table A {}
      union U { A }
      table T { z: int (id: 5); u: U (id: 2); a: int (id: 0); us: [U] (id: 4); }
      """
    ).table("T")
    #expect(table.offsets == ["z": 14, "u": 8, "a": 4, "us": 12])
    #expect(table.fields.map(\.name) == ["z", "u", "a", "us"])
    #expect(table.slotCount == 6)
  }

  @Test("Struct fields are at multiples of their alignment")
  func structLayout() throws {
    let schema = try schema(
      """
      enum E: short { A }
      struct Inner { a: byte; b: int; c: byte; }
      struct Outer { x: byte; inner: Inner; d: double; e: E; many: [Inner:2]; bits: [bool:3]; }
      struct Forced (force_align: 16) { a: byte; }
      struct Holder { a: byte; f: Forced; }
      """)
    let inner = try schema.structure("Inner")
    #expect(inner.fields.map(\.offset) == [0, 4, 8])
    #expect((inner.size, inner.alignment) == (12, 4))
    let outer = try schema.structure("Outer")
    #expect(outer.fields.map(\.offset) == [0, 4, 16, 24, 28, 52])
    #expect((outer.size, outer.alignment) == (56, 8))
    #expect(outer.fields[4].type == .array(.structure(QualifiedName("Inner")), count: 2))
    let holder = try schema.structure("Holder")
    #expect(holder.fields.map(\.offset) == [0, 16])
    #expect((holder.size, holder.alignment) == (32, 16))
  }

  @Test("Enum values are patterns; flags are shifted")
  func enums() throws {
    let schema = try schema(
      """
      enum E: int { Five = 5, Three = 3, Four }
      enum Max: ulong { M = 18446744073709551615 }
      enum F: ulong (bit_flags) { A, B = 5, C, Last = 63 }
      """)
    #expect(try schema.enumeration("E").values.map(\.value) == [5, 3, 4])
    #expect(try schema.enumeration("Max").values.map(\.value) == [-1])
    let flags = try schema.enumeration("F")
    #expect(flags.isBitFlags)
    #expect(flags.values.map(\.value) == [1, 32, 64, .min])
  }

  @Test("Union members have their alias or their own name, and tags from 1")
  func unions() throws {
    let union = try schema(
      """
      union U { N.A, Other: N.A = 7, Point, text: string }
      struct Point { x: int; }
      namespace N;
      table A {}
      """
    ).union("U")
    #expect(union.members.map(\.name) == ["A", "Other", "Point", "text"])
    #expect(union.members.map(\.tag) == [1, 7, 8, 9])
    let table = FieldType.table(QualifiedName("N.A"))
    #expect(
      union.members.map(\.type) == [table, table, .structure(QualifiedName("Point")), .string])
  }

  @Test("Every form of default becomes a literal of the field's type")
  func defaults() throws {
    let table = try schema(
      """
      enum Color: byte { Red, Green, Blue = 7 }
      enum Flags: ubyte (bit_flags) { A, B, C }
      table T {
        none: int; none_bool: bool; none_real: float; none_string: string; none_unsigned: ulong;
        decimal: int = -5; hexadecimal: uint = 0xFF; largest: ulong = 18446744073709551615;
        exponent: double = 1.5e3; point: float = .5; tenth: float = 0.1; hexadecimal_real: double = 0x1.8p1;
        infinite: float = -inf; not_a_number: double = nan; overflow: float = 1e39;
        truth: bool = true; number_bool: bool = 2; quoted: int = " 0x10 ";
        name: Color = Green; number: Color = 7; zero: Color; nothing: Color = null;
        flags: Flags = "A C"; flag: Flags = B; no_flags: Flags;
        sum: int = "Color.Green Color.Blue"; optional: long = null; optional_real: float = null;
        nearest: float = 1.00000005960464477539062500001;
        text: string = "a\\nb"; empty: string = ""; vector: [int] = []; half_turn: double = rad(180);
      }
      """
    ).table("T")
    let expected: [(String, DefaultValue?)] = [
      ("none", .integer(0)), ("none_bool", .bool(false)), ("none_real", .real(0)),
      ("none_string", nil), ("none_unsigned", .unsigned(0)), ("decimal", .integer(-5)),
      ("hexadecimal", .unsigned(255)), ("largest", .unsigned(.max)), ("exponent", .real(1500)),
      ("point", .real(0.5)), ("tenth", .real(Double(Float(0.1)))), ("hexadecimal_real", .real(3)),
      ("infinite", .real(-.infinity)),
      ("overflow", .real(.infinity)), ("truth", .bool(true)), ("number_bool", .bool(true)),
      ("quoted", .integer(16)), ("name", .integer(1)), ("number", .integer(7)),
      ("zero", .integer(0)), ("nothing", .null), ("flags", .unsigned(5)), ("flag", .unsigned(2)),
      ("no_flags", .unsigned(0)), ("sum", .integer(7)), ("optional", .null),
      ("nearest", .real(Double(Float(1).nextUp))),
      ("optional_real", .null), ("text", .string("a\nb")), ("empty", .string("")),
      ("vector", nil), ("half_turn", .real(.pi)),
    ]
    for (name, value) in expected {
      #expect(table.defaultValue(name) == value, "\(name)")
    }
    guard case .real(let number) = table.defaultValue("not_a_number") else {
      Issue.record("nan is no real")
      return
    }
    #expect(number.isNaN)
  }

  @Test("An enum without the value 0 has its smallest value as the default of its fields")
  func enumsWithoutZero() throws {
    let schema = try schema(
      """
      enum Gap: ubyte { Two = 2, One = 1 }
      enum Wide: ulong { Most = 18446744073709551615, More = 9223372036854775808 }
      enum Below: byte { Least = -3, Less = -2 }
      enum Zero: byte { Below = -1, None = 0 }
      enum Flags: ubyte (bit_flags) { A, B }
      struct S { gap: Gap; }
      table T {
        gap: Gap; wide: Wide; below: Below; zero: Zero; flags: Flags; other: Gap = Two;
        maybe: Gap = null;
      }
      """)
    let fields = try schema.table("T").fields
    #expect(
      fields.map(\.defaultValue) == [
        .unsigned(1), .unsigned(1 << 63), .integer(-3), .integer(0), .unsigned(0), .unsigned(2),
        .null,
      ])
    #expect(try schema.structure("S").fields[0].defaultValue == nil)
    #expect(try schema.enumeration("Gap").impliedDefault == 1)
  }

  @Test(
    "Names are found from the inside out, enums before tables, forward ones in outer namespaces")
  func lookup() throws {
    let schema = try schema(
      """
      namespace A;
      enum T: byte { X }
      table Only {}
      namespace A.B;
      table T {}
      table Only {}
      table S { t: T; only: Only; outer: A.Only; later: Later; }
      namespace A;
      table Later {}
      namespace;
      table Later {}
      """)
    let fields = try schema.table("A.B.S").fields
    #expect(fields[0].type == .enumeration(QualifiedName("A.T")))
    #expect(fields[1].type == .table(QualifiedName("A.B.Only")))
    #expect(fields[2].type == .table(QualifiedName("A.Only")))
    #expect(fields[3].type == .table(QualifiedName("A.Later")))
  }

  @Test("Documentation comments belong to the declaration below them")
  func documentation() throws {
    let schema = try schema(
      """
      /// A table.
      ///   Indented.
      // not this
      table T {
        /// A field.
        a: int; // nor this
        b: int;
      }
      /// An enum.
      enum E: byte {
        /// Red.
        Red,
        Green
      }
      /// A union.
      union U {
        /// The table.
        T
      }
      """)
    let table = try schema.table("T")
    #expect(table.documentation == ["A table.", "  Indented."])
    #expect(table.fields.map(\.documentation) == [["A field."], []])
    let color = try schema.enumeration("E")
    #expect(color.documentation == ["An enum."])
    #expect(color.values.map(\.documentation) == [["Red."], []])
    #expect(try schema.union("U").members[0].documentation == ["The table."])
  }

  @Test("Attributes are kept as written, and interpreted where they have a meaning")
  func attributes() throws {
    let table = try schema(
      """
      attribute "mine";
      table T (v: "1.2", mine: 5) {
        a: string (primary, required, mine: "x y");
        b: int (unique);
        c: int (indexed);
      }
      """
    ).table("T")
    #expect(table.version == "1.2")
    #expect(
      table.attributes == [Attribute(name: "v", value: "1.2"), Attribute(name: "mine", value: "5")])
    let (a, b, c) = (table.fields[0], table.fields[1], table.fields[2])
    #expect(a.isPrimary && a.isRequired && !a.isIndexed)
    #expect(a.attributes.last == Attribute(name: "mine", value: "x y"))
    #expect(b.isUnique && b.isIndexed)
    #expect(c.isIndexed && !c.isUnique)
  }

  @Test("Positions are those of the names")
  func positions() throws {
    let schema = try schema("table A {}\ntable  Post {\n  title: string;\n}")
    let table = try schema.table("Post")
    #expect(table.position == SourcePosition(file: "test.fbs", line: 2, column: 8))
    #expect(table.fields[0].position == SourcePosition(file: "test.fbs", line: 3, column: 3))
  }

  @Test("A file knows its own types, root, identifier and extension")
  func file() throws {
    let schema = try schema(
      """
      table B { id: int (primary); }
      enum E: byte { X }
      table A {}
      root_type B;
      file_identifier "ABCD";
      file_extension "bin";
      """)
    let file = try #require(schema.files.first)
    #expect(schema.files.count == 1)
    #expect(file.types.map(\.description) == ["B", "E", "A"])
    #expect(file.root == QualifiedName("B"))
    #expect(file.fileIdentifier == "ABCD")
    #expect(file.fileExtension == "bin")
  }

  @Test(
    "A comment ends where a line ends, however that is written", arguments: ["\n", "\r", "\r\n"])
  func lineEnds(end: String) throws {
    let text = ["table R { a: int (primary); // one", " /// c", "c: int;", "}", "root_type R;"]
      .joined(separator: end)
    let result = SchemaCompiler().compile(source: Array(text.utf8), path: "r.fbs")
    let schema = try #require(result.schema, "\(result.diagnostics)")
    guard case .table(let table)? = schema.types[QualifiedName(name: "R")] else {
      Issue.record("\(schema.types)")
      return
    }
    #expect(table.fields.map(\.name) == ["a", "c"])
    #expect(table.fields[1].documentation == ["c"])
  }
}
