// The C++ library and ours on the same buffers: a few seconds of what `make fuzz` does for longer.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("Differences from C++", .enabled(if: CxxJudge.isAvailable))
struct DifferenceTests {
  @Test("Buffers that C++ accepts are read alike; all others have a known reason")
  func random() throws {
    try withSeed { random in
      var differences = Differences(try CxxJudge.shared())
      let count = isLongRun ? 400_000 : 10_000
      while differences.buffers < count { try differences.run(&random) }
      print(differences.summary)
      #expect(differences.accepted > count / 4 && differences.refused > count / 8)
      #expect(differences.copied > count / 8)
      for reason in Differences.Reason.allCases where isLongRun {
        #expect(differences.reasons[reason, default: 0] > 0, "\(reason)")
      }
    }
  }

  private static let shell = 2
  /// A root table with fields at these offsets only, followed by the table's bytes.
  private static func shell(_ vtable: [UInt8], _ table: [UInt8]) -> [UInt8] {
    [8 + UInt8(vtable.count), 0, 0, 0, 0, 0, 0, 0] + vtable + [UInt8(vtable.count), 0, 0, 0] + table
  }

  @Test(
    "Each known reason, with a hand-written buffer",
    arguments: [
      // A vtable at an odd position.
      (Differences.Reason.alignment, [12, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0]),
      (.shortBuffer, [4, 0, 0, 0, 0xFC, 0xFF, 0xFF, 0xFF, 2, 0]),
      // No tag, and the offset of the value is null; then an unknown tag.
      (.unreadValue, shell([10, 0, 8, 0, 0, 0, 0, 0, 4, 0], [0, 0, 0, 0])),
      (.unreadValue, shell([10, 0, 12, 0, 0, 0, 8, 0, 4, 0], [0, 0, 0, 0, 200, 0, 0, 0])),
      // The tag is outside of the buffer, and there is no value.
      (.unreadTag, shell([8, 0, 4, 0, 0, 0, 200, 0], [])),
      // The tag of a struct, without a value.
      (.missingStruct, shell([8, 0, 8, 0, 0, 0, 4, 0], [3, 0, 0, 0])),
    ] as [(Differences.Reason, [UInt8])])
  func reasons(_ reason: Differences.Reason, _ bytes: [UInt8]) throws {
    var differences = Differences(try CxxJudge.shared())
    try differences.compare(bytes, Self.shell)
    #expect(differences.reasons == [reason: 1])
  }

  @Test(
    "C++, too, reads vtables of 2 and 0 bytes",
    arguments: [
      [8, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0], [8, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0],
      [4, 0, 0, 0, 0xFC, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0],
    ] as [[UInt8]])
  func smallVTables(_ bytes: [UInt8]) throws {
    var differences = Differences(try CxxJudge.shared())
    try differences.compare(bytes, Self.shell)
    #expect(differences.accepted == 1 && differences.copied == 1)
  }
}
