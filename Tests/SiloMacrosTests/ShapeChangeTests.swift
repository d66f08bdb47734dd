// Changes of declarations with a frozen shape, alone and two at once: a shape for the same version
// is offered only if stored values stay readable under all of them.

import DflatTestSupport
import Testing

@Suite("Changes of a declaration with a frozen shape")
struct ShapeChangeTests {
  private let programs = MacroPrograms(module: "Silo", macros: "SiloMacros")

  /// A property or a case.
  struct Member: Equatable {
    var name: String
    /// Its declaration behind the name.
    var text: String
    /// Its entry in a shape behind the name.
    var entry: String

    init(_ name: String, _ text: String, _ entry: String) {
      self.name = name
      self.text = text
      self.entry = entry
    }
  }

  struct Change: Sendable, CustomStringConvertible {
    let description: String
    let isCompatible: Bool
    /// Which change of the same kind it cannot be combined with.
    let apply: @Sendable (inout [Member]) -> Void

    init(
      _ description: String, isCompatible: Bool,
      _ apply: @escaping @Sendable (inout [Member]) -> Void
    ) {
      self.description = description
      self.isCompatible = isCompatible
      self.apply = apply
    }
  }

  /// A kind of declaration: what it has, how it may change, and how it is spelled.
  struct Form: Sendable, CustomStringConvertible {
    let description: String
    let members: [Member]
    let changes: [Change]
    /// What every message about an incompatible change says.
    let advice: String
    let declare: @Sendable (_ name: String, _ shape: String, _ members: [Member]) -> String
    /// The members in the order of shapes.
    var order: @Sendable ([Member]) -> [Member] = { $0 }

    func shape(_ members: [Member]) -> String {
      order(members).map { "\($0.name):\($0.entry)" }.joined(separator: " ")
    }
  }

  static let structs = Form(
    description: "struct",
    members: [
      Member("id", ": Int", "I"), Member("a", ": String", "S"), Member("b", ": Int", "I"),
      Member("c", ": Date?", "D?"), Member("d", " = 3", "I=3"), Member("e", ": Bool", "B"),
      Member("f", ": Double", "R"), Member("g", ": Decimal = 1", "N=1"), Member("h", ": UUID", "U"),
    ],
    changes: [
      Change("appends an optional", isCompatible: true) {
        $0.append(Member("note", ": String?", "S?"))
      },
      Change("appends a constant default", isCompatible: true) {
        $0.append(Member("more", " = 5", "I=5"))
      },
      Change("appends a default that is always written", isCompatible: true) {
        $0.append(
          Member(
            "at", ": Date = Date(timeIntervalSince1970: 0)", "D=Date(timeIntervalSince1970:0)"))
      },
      Change("renames", isCompatible: true) { $0[2].name = "renamed" },
      Change("makes optional", isCompatible: true) { $0[1] = Member("a", ": String?", "S?") },
      Change("retypes", isCompatible: false) { $0[3] = Member("c", ": Int?", "I?") },
      Change("has another default", isCompatible: false) { $0[4] = Member("d", " = 4", "I=4") },
      Change("has no default any more", isCompatible: false) {
        $0[4] = Member("d", ": Int", "I")
      },
      Change("has another default that is always written", isCompatible: false) {
        $0[7] = Member("g", ": Decimal = 2", "N=2")
      },
      Change("has no default that is always written any more", isCompatible: false) {
        $0[7] = Member("g", ": Decimal", "N")
      },
      Change("makes a property with a default optional", isCompatible: false) {
        $0[4] = Member("d", ": Int?", "I?")
      },
      Change("removes the last one", isCompatible: false) { $0.removeAll { $0.name == "h" } },
      Change("removes one", isCompatible: false) { $0.removeAll { $0.name == "e" } },
      Change("exchanges two", isCompatible: false) { $0.swapAt(4, 5) },
      Change("inserts one", isCompatible: false) {
        $0.insert(Member("new", ": Int?", "I?"), at: 5)
      },
      Change("appends a required one", isCompatible: false) {
        $0.append(Member("must", ": Bool", "B"))
      },
      Change("appends a default that rows cannot read", isCompatible: false) {
        $0.append(Member("odd", ": Int? = 3", "I?"))
      },
    ],
    advice: "make version 2",
    declare: { name, shape, members in
      """
      @Persistable(version: 1, table: "\(name.lowercased())", shape: "\(shape)")
      struct \(name): Identifiable {
      \(members.map { "  var \($0.name)\($0.text)\n" }.joined())}
      """
    })

  private static func enumeration(
    _ description: String, _ raw: String, _ members: [Member], _ changes: [Change],
    order: @escaping @Sendable ([Member]) -> [Member] = { $0 }
  ) -> Form {
    Form(
      description: description, members: members, changes: changes, advice: "make a new type",
      declare: { name, shape, members in
        """
        @PersistableValue(shape: "\(shape)")
        enum \(name)\(raw) {
        \(members.map { "  case \($0.name)\($0.text)\n" }.joined())}
        """
      }, order: order)
  }

  static let texts = enumeration(
    "enum of strings", ": String",
    [Member("a", "", "S"), Member("b", "", "S"), Member("c", " = \"x\"", "S=x")],
    [
      Change("appends", isCompatible: true) { $0.append(Member("d", "", "S")) },
      Change("inserts", isCompatible: true) { $0.insert(Member("e", "", "S"), at: 0) },
      Change("renames", isCompatible: false) { $0[1] = Member("renamed", "", "S") },
      Change("renames with its raw value", isCompatible: true) {
        $0 = $0.map { $0.name == "b" ? Member("kept", " = \"b\"", "S=b") : $0 }
      },
      Change("removes", isCompatible: false) { $0.removeAll { $0.name == "a" } },
      Change("has another raw value", isCompatible: false) {
        $0 = $0.map { $0.name == "c" ? Member("c", " = \"y\"", "S=y") : $0 }
      },
    ])

  static let numbers = enumeration(
    "enum of integers", ": Int",
    [Member("a", "", "I=0"), Member("b", " = 7", "I=7")],
    [
      Change("appends", isCompatible: true) { $0.append(Member("d", " = 9", "I=9")) },
      Change("appends another", isCompatible: true) { $0.append(Member("e", " = 12", "I=12")) },
      Change("renames with its raw value", isCompatible: true) {
        $0 = $0.map { $0.name == "a" ? Member("kept", "", "I=0") : $0 }
      },
      Change("removes", isCompatible: false) { $0.removeAll { $0.name == "b" } },
      Change("has another raw value", isCompatible: false) {
        $0 = $0.map { $0.name == "b" ? Member("b", " = 8", "I=8") : $0 }
      },
    ])

  static let payloads = enumeration(
    "enum with values", "",
    [
      Member("a", "(Int)", "(I)"), Member("b", "", "()"),
      Member("c", "(String, at: Date)", "(S,at:D)"),
    ],
    [
      Change("appends", isCompatible: true) { $0.append(Member("d", "", "()")) },
      Change("appends one with values", isCompatible: true) {
        $0.append(Member("e", "(Int)", "(I)"))
      },
      Change("retypes a value", isCompatible: false) {
        $0 = $0.map { $0.name == "a" ? Member("a", "(String)", "(S)") : $0 }
      },
      Change("has a value more", isCompatible: false) {
        $0 = $0.map { $0.name == "b" ? Member("b", "(Int)", "(I)") : $0 }
      },
      Change("removes", isCompatible: false) { $0.removeAll { $0.name == "b" } },
      Change("moves", isCompatible: false) { $0.swapAt(0, 2) },
      Change("inserts one with values", isCompatible: false) {
        $0.insert(Member("new", "(Int)", "(I)"), at: 1)
      },
    ],
    order: { members in members.filter { $0.text.isEmpty } + members.filter { !$0.text.isEmpty } })

  /// One declaration: a frozen shape, and members that differ from it.
  private struct Program {
    let changes: [Change]
    let members: [Member]
    let source: String
    var isCompatible: Bool { changes.allSatisfy(\.isCompatible) }
  }

  private func programs(of form: Form) -> [String: Program] {
    var all = form.changes.map { [$0] }
    // Of two changes the compatible ones come last, so that they append behind what is left.
    let sorted = form.changes.filter { !$0.isCompatible } + form.changes.filter(\.isCompatible)
    for (index, first) in sorted.enumerated() {
      all += sorted[(index + 1)...].filter(\.isCompatible).map { [first, $0] }
    }
    let frozen = form.shape(form.members)
    return Dictionary(
      uniqueKeysWithValues: all.enumerated().map { number, changes in
        var members = form.members
        // Changes name properties by their place, which the first one may move.
        for change in changes.sorted(by: { $0.isCompatible && !$1.isCompatible }) {
          change.apply(&members)
        }
        let source = form.declare("Value\(number)", frozen, members)
        return (
          "Value\(number).swift",
          Program(
            changes: changes, members: members,
            source: "import Foundation\nimport Silo\n\n\(source)\n")
        )
      })
  }

  @Test("Another spelling of a default or raw value is no change")
  func spellings() throws {
    let output = try programs.compile(sources: [
      "Same.swift": """
      import Foundation
      import Silo

      @PersistableValue(shape: "red:S blue:S=b")
      enum Color: String { case red = "red", blue = "b" }

      @PersistableValue(shape: "a:I=0 b:I=16 c:I=17")
      enum Number: Int { case a, b = 0x10, c }

      @Persistable(
        version: 1, table: "same",
        shape: \"""
          id:I a:I=1000 b:I=16 c:I8=-10 d:R=1 e:R=1000 f:R32=0.1 g:N=1 h:Color=.red i:Color=Color.blue \\
          j:W=255 k:D=Date.distantPast
          \""")
      struct Same: Identifiable {
        var id: Int
        var a = 1_000
        var b = 0x10
        var c: Int8 = -1_0
        var d: Double = 1.0
        var e: Double = 1e3
        var f: Float = 0.10
        var g: Decimal = 1.0
        var h: Color = Color.red
        var i: Color = .blue
        var j: UInt = 0b1111_1111
        var k: Date = .distantPast
      }

      """
    ])
    #expect(!output.contains(" error: "), "\(output)")
    let other = try programs.compile(sources: [
      "Other.swift": """
      import Foundation
      import Silo

      @PersistableValue(shape: "red:S blue:S")
      enum Color: String { case red, blue }

      @Persistable(
        version: 1, table: "other",
        shape: "id:I a:I=16 b:R=0.0 c:S=1.0 d:N=1 e:Color=Other.red f:Color=Color.blue")
      struct Other: Identifiable {
        var id: Int
        var a = 0x11
        var b: Double = -0.0
        var c = "1.00"
        var d: Decimal = 1.1
        var e: Color = .red
        var f: Color = .red
      }

      """
    ])
    let messages = other.split(separator: "\n").filter { $0.contains(" error: ") }
    #expect(messages.count == 6, "\(other)")
    #expect(messages.allSatisfy { $0.contains("stored values would be misread") }, "\(other)")
  }

  @Test(
    "A shape for the same version is offered only if stored values stay readable",
    arguments: [structs, texts, numbers, payloads])
  func offers(form: Form) throws {
    let all = programs(of: form)
    let output = try programs.compile(sources: all.mapValues(\.source))
    for (file, program) in all.sorted(by: { $0.key < $1.key }) {
      let lines = output.split(separator: "\n").filter { $0.contains("/\(file):") }
      let messages = lines.filter { $0.contains(" error: ") }
      let note: Comment = "\(program.changes): \(program.source)\n\(messages)"
      #expect(!messages.isEmpty, note)
      let hasFix = lines.contains { $0.contains("take the new shape") }
      if program.isCompatible {
        let shape = "take shape: \"\(form.shape(program.members))\""
        #expect(messages.allSatisfy { $0.contains(shape) } && hasFix, note)
      } else {
        #expect(!lines.contains { $0.contains("take shape") } && !hasFix, note)
        #expect(messages.allSatisfy { $0.contains(form.advice) }, note)
        #expect(messages.first?.contains("stored values would be misread") == true, note)
      }
    }
  }
}
