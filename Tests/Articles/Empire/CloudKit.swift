// Sources/Empire/Empire.docc/CloudKit.md
import CloudKit
import Empire
import EmpireCloudKit
import Foundation

/// What the article uses of CloudKit's zones.
struct Zone {
  var zoneID: CKRecordZone.ID
}

enum WithCloudKit {
  // block 1.1

  static func records(person: Person, zone: Zone) throws {
    // block 1.2
  }
}

enum WithoutCloudKit {
  // block 2.1

  static func json(house: House) throws {
    // block 2.2
  }
}
