// What the reader of dpkg's format accepts, and how it tells what it does not.

import DpkgStatus
import Testing

@Suite struct StanzaTests {
  @Test func stanzasAreSeparatedByEmptyLines() throws {
    let stanzas = try Stanza.parse("\n\nPackage: a\nVersion: 1\n\n \nPackage: b\n".utf8)
    #expect(stanzas.map { $0["Package"]?.value } == ["a", "b"])
    #expect(stanzas.map(\.line) == [3, 7])
    #expect(stanzas[0]["Version"]?.line == 4)
  }

  @Test func aBlankAtTheBeginningContinuesTheField() throws {
    let text = "Package: a\nDescription: short\n long text\n .\n\tmore\nVersion:\n 2\n"
    let stanza = try #require(try Stanza.parse(text.utf8).first)
    #expect(stanza["Description"]?.value == "short\nlong text\n\nmore")
    #expect(stanza["Version"]?.value == "\n2")
  }

  @Test func fieldsThatNobodyKnowsAreKeptAndNamesIgnoreCase() throws {
    let stanza = try #require(try Stanza.parse("PACKAGE: a\nX-Odd: b: c".utf8).first)
    #expect(stanza["package"]?.value == "a")
    #expect(stanza["x-odd"]?.value == "b: c")
    #expect(stanza["Missing"] == nil)
  }

  @Test func nothingIsNoStanza() throws {
    #expect(try Stanza.parse("".utf8) == [])
    #expect(try Stanza.parse("\n \n".utf8) == [])
  }

  @Test func linesMayEndAsOnWindows() throws {
    let stanzas = try Stanza.parse("Package: a\r\n\r\nPackage: b\r\n".utf8)
    #expect(stanzas.map { $0["Package"]?.value } == ["a", "b"])
  }

  @Test(arguments: [
    ("Package: a\nnonsense\n", 2, "'Field: value' is expected, not 'nonsense'"),
    (" lost\n", 1, "a line that begins with a blank continues nothing"),
    ("Package: a\n\n lost\n", 3, "a line that begins with a blank continues nothing"),
    ("Package: a\n: b\n", 2, "'' is not the name of a field"),
    ("Package: a\nTwo words: b\n", 2, "'Two words' is not the name of a field"),
    ("Package: a\nB: 1\npackage: b\n", 3, "package is given twice, first in line 1"),
  ])
  func whatIsWrongIsToldWithItsLine(text: String, line: Int, message: String) {
    #expect(throws: DpkgStatusError(line: line, message)) { try Stanza.parse(text.utf8) }
  }

  @Test func bytesThatAreNoTextAreTold() {
    #expect(throws: DpkgStatusError(line: 2, "this is not UTF-8")) {
      try Stanza.parse(Array("Package: a\nB: ".utf8) + [0xFF, 0x0A])
    }
  }
}
