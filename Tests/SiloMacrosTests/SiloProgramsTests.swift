// Runs the compiler on programs that must not compile, or not without a warning.

import DflatTestSupport
import Testing

struct SiloProgramsTests {
  private let programs = MacroPrograms(module: "Silo", macros: "SiloMacros")

  @Test(
    "Every message is on its line, and no other line has one",
    arguments: [
      ("Wrong.swift", "error", 66), ("Shapes.swift", "error", 47),
      ("Shapeless.swift", "warning", 4),
      ("Unstorable.swift", "error", 13), ("HiddenRelations.swift", "error", 13),
      ("Relations.swift", "error", 3), ("Aliases.swift", "error", 21),
    ])
  func wrongPrograms(name: String, kind: String, count: Int) throws {
    try programs.expectMarkedMessages(name, kind, count: count)
  }

  @Test(
    "Where the macro reports an error, the generated code adds none",
    arguments: ["Wrong.swift", "Shapes.swift", "Relations.swift"])
  func generatedCode(name: String) throws {
    let messages = try programs.compile(name).split(separator: "\n").filter {
      $0.contains("/@__swiftmacro_") && $0.contains(": error: ")
    }
    #expect(messages.isEmpty, "\(messages)")
  }

  @Test("Differences that leave stored values readable have a fix-it with the new shape")
  func fixIts() throws {
    let output = try programs.compile("Shapes.swift")
    #expect(output.contains("take the new shape"))
    let shapeless = try programs.compile("Shapeless.swift")
    #expect(shapeless.contains("add the shape"))
    #expect(shapeless.contains(#"add shape: "id:U title:S done:B=false""#))
  }

  @Test("The generated code has this form")
  func expansion() throws {
    let output = try programs.compile("Expansion.swift", ["-Xfrontend", "-dump-macro-expansions"])
    for part in [
      "nonisolated extension Note: Persistable {\n  init(_reading _reader: CanonicalReader) throws {",
      #""notes", version: 2, type: "Note", id: Self.ID.self,"#,
      #"CanonicalProperty("title", (String).self, default: "new", index: .indexed)"#,
      #"CanonicalProperty("tags", (RelatedItems<Note>).self)"#,
      "  nonisolated static let title = SiloQueryNames<Canonical<Self>>.name((String).self, 1)",
      "    _writer.write(id: self.id)\n    _writer.write(self.title)\n    _writer.write(self.tags)",
      "nonisolated static let _relations: [any ValueRelation] = [",
      #"CanonicalRelation<Self, RelatedItem<Note>?>("parent", 3, retains: true, onDeletion: .nullify,"#,
      "get: { $0.parent }, set: { $0.parent = $1 }),",
      #"CanonicalRelation<Self, RelatedItem<Note>>("first", 4, onDeletion: .deny, get: { $0.first })"#,
      #"self.title = try _reader.read(1, default: "new")"#,
      "_visitor.visit(self.tags)",
      "extension Kind: PersistableTextEnum {\n}", "static var unreadable: Self {\n    .a\n  }",
      #"  _writer.write(case: "b", 1, of: 1, _Cases._1) { _writer in"#,
      #"self = .b(count: try _values.read(0))"#,
      #"case let _name: throw _reader.unknownCase(_name)"#,
    ] {
      let wanted = part.filter { !$0.isWhitespace }
      #expect(output.filter { !$0.isWhitespace }.contains(wanted), "\(part) is not in \(output)")
    }
    #expect(!output.contains("cache"), "an ignored property is not mentioned")
  }

  @Test("Raw values may be the least and the greatest ones, in any notation")
  func rawValues() throws {
    let output = try programs.compile(
      sources: [
        "Values.swift": """
        import Silo

        @PersistableValue(shape: "low:I=-0x10 next:I=-15 high:I=9223372036854775807")
        enum Signed: Int { case low = -0x10, next, high = 9223372036854775807 }

        @PersistableValue(shape: "two:W64=0b1_0 three:W64=3 high:W64=0xFFFF_FFFF_FFFF_FFFE top:W64=18446744073709551615")
        enum Unsigned: UInt64 {
          case two = 0b1_0, three, high = 0xFFFF_FFFF_FFFF_FFFE, top
        }

        @PersistableValue(shape: "a:I8=0o17 b:I8=16 c:I8=1_00 d:I8=101")
        enum Small: Int8 { case a = 0o17, b, c = 1_00, d }
        """
      ],
      ["-warnings-as-errors"])
    #expect(output.isEmpty, "\(output)")
  }

  @Test("A program that imports Silo alone compiles without a message")
  func contract() throws {
    #expect(try programs.compile("Contract.swift", ["-warnings-as-errors"]).isEmpty)
  }

  @Test("Deprecated properties, cases and types give no warning in the generated code")
  func deprecated() throws {
    let output = try programs.compile("Deprecated.swift", ["-warnings-as-errors"])
    #expect(output.isEmpty, "\(output)")
  }

  @Test("Values compile without a warning in a module that belongs to the main actor")
  func mainActorModule() throws {
    let features = [
      "ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility",
      "ImmutableWeakCaptures", "InferIsolatedConformances", "NonisolatedNonsendingByDefault",
    ]
    let output = try programs.compile(
      "MainActorModule.swift",
      ["-default-isolation", "MainActor", "-warnings-as-errors"]
        + features.flatMap { ["-enable-upcoming-feature", $0] })
    #expect(output.isEmpty)
  }
}
