// Compiles what @IndexKeyRecord makes of records in every combination of what a declaration can be.

import DflatTestSupport
import Testing

struct RecordFormsTests {
  private let programs = MacroPrograms(
    module: "Empire", macros: "EmpireMacros", moduleMaps: ["Sources/CLMDB/module.modulemap"])

  /// What a module that belongs to the main actor is compiled with.
  static let mainActor =
    ["-default-isolation", "MainActor"]
    + ["InferIsolatedConformances", "NonisolatedNonsendingByDefault"].flatMap {
      ["-enable-upcoming-feature", $0]
    }

  @Test(
    "A record may be declared anywhere, with any access, isolation and conformances",
    arguments: [[], mainActor])
  func forms(arguments: [String]) throws {
    let all =
      isLongRun
      ? combinations(RecordForm.counts, full: 4) : pairwiseCombinations(RecordForm.counts)
    let forms = all.enumerated().map { RecordForm($0, $1) }
    for start in stride(from: 0, to: forms.count, by: 150) {
      let part = forms[start..<min(start + 150, forms.count)]
      let records = """
        import Empire
        import Foundation

        infix operator +++
        nonisolated protocol Combining {
          static func + (left: Self, right: Self) -> Self
          static func +++ (left: Self, right: Self) -> Bool
          static prefix func - (value: Self) -> Self
        }

        """ + part.map(\.source).joined()
      let output = try programs.compile(
        sources: [
          "Records.swift": records,
          "A.swift": "import Empire\nimport Foundation\n\n" + part.map(\.useElsewhere).joined(),
        ],
        ["-warnings-as-errors", "-package-name", "forms"] + arguments)
      #expect(output.isEmpty, "\(output.prefix(20_000))")
    }
  }

  /// Names of types and modules that generated code uses, or that the properties themselves have.
  private static let typeNames = [
    "String", "Int", "Bool", "Date", "Data", "UUID", "Decimal", "Double", "UInt32", "Void", "Never",
    "Optional", "Array", "Set", "Dictionary", "Any", "Swift", "Foundation", "PackedSerialize",
    "UnsafeMutableRawBufferPointer", "Tuple", "EmptyValue", "Query", "RecordSet", "RecordIndex",
    "Store", "TransactionContext", "ComparisonOperator", "StoredKey", "StoredField", "StoredTypes",
    "IndexKeyRecord", "IndexKeyRecordHash", "IndexEntry", "KeyWriter", "FieldsSize",
    "SerializationBuffer", "SerializeError", "RecordDeserializer", "DeserializeError", "Grade",
    "Record", "CloudKitJSONRecord", "CloudKitWebRecord",
  ]

  @Test(
    "Properties may have the names of types", arguments: [[], mainActor])
  func typeNames(arguments: [String]) throws {
    let names = Self.typeNames
    let properties = names.map { "  public var `\($0)`: Swift.Int\n" }.joined()
    let output = try programs.compile(
      sources: [
        "Records.swift": """
        import Empire
        import Foundation

        public enum Grade: UInt8, Serializable, Deserializable, IndexKeyComparable, Sendable {
          case low, high
          public static func < (left: Grade, right: Grade) -> Bool {
            left.rawValue < right.rawValue
          }
        }

        @IndexKeyRecord("Key", "Grade", "String", "Date")
        @Index("Int", "Tuple")
        struct Record {
          let Key: Grade
          let Grade: String
          let String: Int
          let Date: Date
          var Int: Bool
          var Bool: [String: Data]
          var Data: UUID?
          var Tuple: Tuple<Int, Grade>
          var kind: Grade
          var UUID: Set<Decimal>
          var Optional: Optional<URL> = nil
          var URL: Array<Double>
        }

        @IndexKeyRecord(\(names.prefix(9).map { "\"\($0)\"" }.joined(separator: ", ")))
        @Index("\(names[9])", "\(names[10])")
        @CloudKitWebRecord
        public struct All {
        \(properties)}

        @CloudKitWebRecord
        struct Web {
          var Empire: String
          var String: String?
        }

        func use(_ store: Store, _ all: All) throws {
          try store.insert(all)
          _ = try All.select(in: store, String: 1)
          _ = try store.count(Record.query(Int: true, Tuple: .lessThan(.init(1, .low))))
        }
        """
      ], ["-warnings-as-errors"] + arguments)
    #expect(output.isEmpty, "\(output.prefix(8_000))")
  }

  @Test("Other modules make records of public types, with the defaults of the properties")
  func publicInitializers() throws {
    let output = try programs.compile(
      library: """
        import Empire
        import Foundation

        public enum Kind: String, Serializable, Deserializable, Sendable { case plain, other }
        let standard = Kind.other

        @IndexKeyRecord("id")
        public struct Record {
          public let id: Int
          public var name: String
          public var kind: Kind = standard
          public var note: String?
          public var made: Date = Date()
          public private(set) var tags: [String] = ["a"]
          var count: Int = 0
        }

        public enum Outer {
          @IndexKeyRecord("id")
          public struct Inner { public let id: Int }
        }

        @IndexKeyRecord("id")
        public struct WithOwn {
          public let id: Int
          public init(id: Int) { self.id = id }
        }

        func inside() -> Record { Record(id: 1, name: "a", kind: .plain, count: 2) }
        """,
      program: """
        import Empire
        import Foundation
        import Library

        func use() -> [Any] {
          [
            Record(id: 1, name: "a"),
            Record(id: 1, name: "a", kind: .plain, note: nil, made: .now, tags: [], count: 5),
            Outer.Inner(id: 5), WithOwn(id: 1),
          ]
        }
        """, ["-warnings-as-errors"])
    #expect(output.isEmpty, "\(output)")
  }
}
