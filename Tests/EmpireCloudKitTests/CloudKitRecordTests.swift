// CloudKit records, tested against a stub of CloudKit.

import CloudKit
import Empire
import Testing

@testable import EmpireCloudKit

@CloudKitRecord
@IndexKeyRecord("city", "number")
private struct House: Equatable {
  static let shared = 1
  let city: String
  let number: Int
  var open: Bool
  var double: Int { number * 2 }
}

@CloudKitRecord
private struct Loose: Equatable {
  var name = "x"
  var values: [Int]
  static var ckRecordType: String { "Other" }
}

struct CloudKitRecordTests {
  private let zone = CKRecordZone.ID(zoneName: "zone", ownerName: "me")

  @Test("Every stored property is written as a field and read back")
  func roundTrip() throws {
    let house = House(city: "Lima", number: 7, open: true)
    let record = house.ckRecord(in: zone)
    #expect(record.recordType == "House")
    #expect(record.recordID.recordName == "Lima7")
    #expect(record["city"] as? String == "Lima")
    #expect(record["double"] == nil)
    #expect(record["shared"] == nil)
    #expect(try House(ckRecord: record) == house)

    let loose = Loose(name: "y", values: [1, 2])
    let other = loose.ckRecord(with: CKRecord.ID(recordName: "n", zoneID: zone))
    #expect(other.recordType == "Other")
    #expect(try Loose(ckRecord: other) == loose)
  }

  @Test("A missing field, a value of a wrong type and a wrong record type are errors")
  func errors() {
    let record = House(city: "Lima", number: 7, open: true).ckRecord(in: zone)
    #expect(throws: CloudKitRecordError.recordTypeMismatch("House", "Other")) {
      try Loose(ckRecord: record)
    }
    record["open"] = "yes"
    #expect(throws: CloudKitRecordError.missingField("open")) { try House(ckRecord: record) }
    record["open"] = nil
    #expect(throws: CloudKitRecordError.missingField("open")) { try House(ckRecord: record) }
  }
}
