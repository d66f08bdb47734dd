// FlatBuffers for C++ and ours, over the same buffers: some seconds of what `make fuzz` does for
// longer.

import DflatTestSupport
import Testing

@testable import Dflat

@Suite("Differences from C++", .enabled(if: CxxJudge.isAvailable))
struct DifferenceTests {
  @Test("What C++ accepts is accepted and read alike; the reverse has a known reason")
  func random() throws {
    try withSeed { random in
      var differences = Differences(try CxxJudge())
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
  /// A root without anything but fields at these offsets, and what lies behind it.
  private static func shell(_ vtable: [UInt8], _ table: [UInt8]) -> [UInt8] {
    [8 + UInt8(vtable.count), 0, 0, 0, 0, 0, 0, 0] + vtable + [UInt8(vtable.count), 0, 0, 0] + table
  }

  @Test(
    "Each reason, by hand",
    arguments: [
      // A vtable at an odd place.
      (Differences.Reason.alignment, [12, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0]),
      (.shortBuffer, [4, 0, 0, 0, 0xFC, 0xFF, 0xFF, 0xFF, 2, 0]),
      // No tag, and the offset of the value is null; a tag that nobody knows, likewise.
      (.unreadValue, shell([10, 0, 8, 0, 0, 0, 0, 0, 4, 0], [0, 0, 0, 0])),
      (.unreadValue, shell([10, 0, 12, 0, 0, 0, 8, 0, 4, 0], [0, 0, 0, 0, 200, 0, 0, 0])),
      // A tag outside of the buffer, and no value.
      (.unreadTag, shell([8, 0, 4, 0, 0, 0, 200, 0], [])),
      // The tag of a struct, and no value.
      (.missingStruct, shell([8, 0, 8, 0, 0, 0, 4, 0], [3, 0, 0, 0])),
    ] as [(Differences.Reason, [UInt8])])
  func reasons(_ reason: Differences.Reason, _ bytes: [UInt8]) throws {
    var differences = Differences(try CxxJudge())
    try differences.compare(bytes, Self.shell)
    #expect(differences.reasons == [reason: 1])
  }

  @Test(
    "Vtables of 2 bytes, and of 0, are read in C++, too",
    arguments: [
      [8, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0], [8, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0],
      [4, 0, 0, 0, 0xFC, 0xFF, 0xFF, 0xFF, 2, 0, 0, 0],
    ] as [[UInt8]])
  func smallVTables(_ bytes: [UInt8]) throws {
    var differences = Differences(try CxxJudge())
    try differences.compare(bytes, Self.shell)
    #expect(differences.accepted == 1 && differences.copied == 1)
  }
}
