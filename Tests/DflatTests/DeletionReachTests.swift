// Which types the rules of a deletion can reach.

@testable import Dflat
import DflatTestSupport
import Testing

@Suite("Reach of deletions")
struct DeletionReachTests {
  @Test("Only types whose objects are deleted lead on to other types")
  func reach() {
    func names(_ schema: EntitySchema) -> [String] {
      schema.typesOfDeletion.map(\.layout.swiftName).sorted()
    }
    // A story loses a label; it is not deleted, so its own rules do not matter.
    #expect(names(Guild.Label._schema) == ["Label", "Stamp", "Story"])
    #expect(names(Guild.Writer._schema) == ["Stamp", "Story", "Writer"])
    #expect(names(Guild.Stamp._schema) == ["Stamp"])
  }
}
