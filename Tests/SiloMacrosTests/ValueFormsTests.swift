// Compiles what Silo's macros make of types in every combination of what a declaration can be.

import DflatTestSupport
import Testing

struct ValueFormsTests {
  private let programs = MacroPrograms(module: "Silo", macros: "SiloMacros")

  /// What a module that belongs to the main actor is compiled with.
  static let mainActor =
    ["-default-isolation", "MainActor"]
    + ["InferIsolatedConformances", "NonisolatedNonsendingByDefault"].flatMap {
      ["-enable-upcoming-feature", $0]
    }

  @Test(
    "A value or part may be declared anywhere, with any access, isolation and conformances",
    arguments: [[], mainActor])
  func forms(arguments: [String]) throws {
    let all =
      isLongRun
      ? combinations(ValueForm.counts, full: 5) : pairwiseCombinations(ValueForm.counts)
    let forms = all.enumerated().map { ValueForm($0, $1) }.filter {
      // There a type that is declared to belong to the main actor has no other conformances.
      arguments.isEmpty || $0.isolation != "@MainActor "
    }
    for start in stride(from: 0, to: forms.count, by: 150) {
      let part = forms[start..<min(start + 150, forms.count)]
      let values = """
        import Foundation
        import Silo

        infix operator +++
        nonisolated protocol Combining {
          static func + (left: Self, right: Self) -> Self
          static func +++ (left: Self, right: Self) -> Bool
          static prefix func - (value: Self) -> Self
        }

        @Persistable(version: 1000, table: "newest", shape: "id:I")
        public struct Newest: Identifiable { public var id: Int }

        """ + part.map(\.source).joined()
      let output = try programs.compile(
        sources: [
          "Values.swift": values,
          "A.swift": "import Foundation\nimport Silo\n\n" + part.map(\.useElsewhere).joined(),
        ],
        ["-warnings-as-errors", "-package-name", "forms"] + arguments)
      #expect(output.isEmpty, "\(output.prefix(20_000))")
    }
  }

  @Test("Other modules make values of public types, and of retained versions and parts")
  func publicInitializers() throws {
    let output = try programs.compile(
      library: """
        import Foundation
        import Silo

        @PersistableValue(shape: "plain:S other:S")
        public enum Kind: String { case plain, other }
        let standard = Kind.other

        @PersistableValue(shape: "street:S number:I")
        public struct Address: Hashable { public var street: String; public var number: Int }

        @Persistable(
          version: 2, table: "records",
          shape: "id:U name:S kind:Kind note:S? made:D tags:[S] count:I=0 address:Address")
        public struct Record: Identifiable {
          public var id: UUID = UUID()
          public let name: String
          public var kind: Kind = standard
          public var note: String?
          public var made: Date = Date()
          public private(set) var tags: [String] = ["a"]
          var count = 0
          public var address: Address
          @Ignored public var memo: [Int] = []
        }

        extension Record {
          @EntityVersion(1, of: Record.self, shape: "id:U name:S")
          public struct V1: Identifiable {
            public var id: UUID
            public var name: String
          }
        }
        """,
      program: """
        import Foundation
        import Library
        import Silo

        func use() -> [Any] {
          let address = Address(street: "a", number: 1)
          return [
            Record(name: "a", address: address),
            Record(
              id: UUID(), name: "a", kind: .plain, note: nil, made: .now, tags: [], count: 5,
              address: address, memo: [1]),
            Record.V1(id: UUID(), name: "b"), Record.name == "a", Record.address.number == 1,
          ]
        }
        """)
    #expect(output.isEmpty, "\(output)")
  }
}
