// Declarations of every form, and properties whose names the generated code uses, too.

import DflatTestSupport
public import Foundation
@testable public import Silo
import Testing

@Persistable(
  version: 1, table: "names",
  shape: """
    id:S default:I=1 in:I list:[S] version:I table:S key:S value:S row:I schema:I first:I second:I \
    observed:I _reader:I
    """)
private struct Names: Identifiable, Equatable {
  static let shared = 5
  let id: String
  var `default` = 1
  var `in`: Int
  var list: [String]
  var version: Int
  var table: String
  var key: String
  var value: String
  var row: Int
  var schema: Int
  var first, second: Int
  var sum: Int { first + second }
  var halves: Int {
    get { first / 2 }
    set { first = newValue * 2 }
  }
  var observed: Int {
    didSet { row += 1 }
  }
  var _reader: Int
  @Ignored var cache: [Int]?
}

private enum Outer {
  @Persistable(version: 1, table: "inner", shape: "id:I kind:Kind self:@Self next:@Outer.Inner?")
  struct Inner: Identifiable {
    @PersistableValue(shape: "a:S b:S")
    enum Kind: String { case a, b }

    let id: Int
    var kind: Kind
    var `self`: RelatedItem<Self>
    var next: RelatedItem<Outer.Inner>?
  }
}

/// Names with any characters.
@Persistable(
  version: 1, table: "unusual_names",
  shape: "id:I my%20%22title%22:S other%20ones:@{UnusualNames} the%20kind:`The-kind`")
private struct UnusualNames: Identifiable, Equatable {
  @PersistableValue(shape: "a%20b:S=c%20d in:S")
  enum `The-kind`: String { case `a b` = "c d", `in` }

  var id: Int
  @Indexed var `my "title"`: String
  var `other ones`: RelatedItems<UnusualNames>
  var `the kind`: `The-kind`
}

/// A public value.
@Persistable(version: 1, table: "public_values", shape: "id:U title:S")
public struct PublicValue: Identifiable, Sendable {
  /// Its identity.
  public let id: UUID
  /// Its title.
  public var title: String
}

struct NameTests {
  @Test("Properties with names that the generated code also uses come back, and can be queried")
  func names() async throws {
    let value = Names(
      id: "a", default: 2, in: 3, list: ["m"], version: 4, table: "t", key: "k", value: "v",
      row: 5, schema: 6, first: 7, second: 8, observed: 9, _reader: 10, cache: [1])
    let names = Silos(.memory)[Names.self]
    try await names.save(value)
    var expected = value
    expected.cache = nil
    #expect(try await names.load("a") == expected)
    #expect(
      try await names.count(where: Names.default == 2 && Names.in == 3 && Names._reader == 10) == 1)
    #expect(try await names.count(where: Names.second > Names.first) == 1)
    #expect(try await names.count(where: Names.list.contains("m")) == 1)
  }

  @Test("Names in backticks may have any characters", arguments: TestEngine.embedded)
  func unusualNames(engine: TestEngine) async throws {
    try await withTemporaryWorkspace(engine) { temporary in
      let silo = Silos(in: temporary.workspace)[UnusualNames.self]
      let value = UnusualNames(
        id: 1, `my "title"`: "a", `other ones`: [.unresolved(id: 2)], `the kind`: .`a b`)
      try await silo.save(value)
      #expect(
        try await silo.values(
          where: UnusualNames.`my "title"` == "a" && UnusualNames.`the kind` == .`a b`) == [value])
      #expect(try await silo.count(where: UnusualNames.`other ones`.contains(id: 2)) == 1)
    }
  }

  @Test("Nested types that refer to themselves")
  func nested() async throws {
    let silo = Silos(.memory)[Outer.Inner.self]
    let last = Outer.Inner(id: 1, kind: .b, self: .unresolved(id: 1))
    try await silo.save(
      Outer.Inner(id: 2, kind: .a, self: .unresolved(id: 2), next: .resolved(last)),
      related: .deep)
    #expect(try await silo.values(where: Outer.Inner.kind == .b).map(\.id) == [1])
    #expect(try await silo.values(where: Outer.Inner.next == last).map(\.id) == [2])
    #expect(Canonical<Outer.Inner>._schema.table == "inner_v1")
  }
}
