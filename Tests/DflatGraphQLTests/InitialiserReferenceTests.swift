// Initialisers of standard types that this library adds.

import Dflat
import DflatGraphQL
import Foundation
import Testing

@Suite("Initialisers of standard types")
struct InitialiserReferenceTests {
  private struct Item {
    var count: Int64?
    var text: String { "n/\(count.map(String.init) ?? "-")" }
  }

  @Test("References without labels mean those of the standard library and of Foundation")
  func references() throws {
    let count: Int64? = 5
    #expect([1, 2].map(String.init) == ["1", "2"] && count.map(String.init) == "5")
    #expect("\([1].map { "\(count.map(String.init) ?? "-")\($0)" }.joined(separator: ","))" == "51")
    #expect([true].map(String.init) == ["true"] && Item(count: 7).text == "n/7")
    let id = UUID()
    #expect([id.uuidString, "x"].compactMap(UUID.init) == [id])
    // Those with labels are there.
    #expect(String(graphQL: [1]) == "[1]" && UUID(stored: id.uuidString) == id)
  }
}
