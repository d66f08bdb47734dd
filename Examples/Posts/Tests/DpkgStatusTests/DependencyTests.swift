// What stands in Depends.

import DpkgStatus
import Testing

@Suite struct DependencyTests {
  private func references(_ text: String) throws -> [[PackageReference]] {
    let stanza = try #require(try Stanza.parse("Package: a\nDepends: \(text)".utf8).first)
    return try #require(stanza["Depends"]).references()
  }

  @Test func namesRelationsAndAlternatives() throws {
    #expect(
      try references("libc6 (>= 2.36), mawk | gawk:any, g++-12 (<<13) | c++-compiler") == [
        [PackageReference(name: "libc6", relation: ">=", version: "2.36")],
        [PackageReference(name: "mawk"), PackageReference(name: "gawk")],
        [
          PackageReference(name: "g++-12", relation: "<<", version: "13"),
          PackageReference(name: "c++-compiler"),
        ],
      ])
  }

  @Test func nothingIsAnEmptyList() throws {
    #expect(try references("") == [])
  }

  @Test func aListMayGoOnInTheNextLine() throws {
    #expect(try references("a,\n b (= 1:2-3)").map { $0[0].name } == ["a", "b"])
  }

  @Test(arguments: [
    "a,,b", "a |", "a b", "a b (= 1)", "a:", "a (", "a (>= )", "a (1)", "a (=> 1)", "a (>= 1 2)",
    "(>= 1)", "a_b",
    "a (>= 1) c",
  ])
  func whatIsNoDependencyIsToldWithItsLine(text: String) throws {
    let error = try #require(throws: DpkgStatusError.self) { try references(text) }
    #expect(error.line == 2)
    #expect(error.message.hasPrefix("Depends: "))
  }
}
