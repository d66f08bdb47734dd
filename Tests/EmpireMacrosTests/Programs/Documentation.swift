// Declarations of the documentation, which compile as they stand there.

import Empire
import Foundation

enum Grade: UInt32, Serializable, Deserializable, IndexKeyComparable {
  case low, middle, high
  static func < (lhs: Grade, rhs: Grade) -> Bool { lhs.rawValue < rhs.rawValue }
}

struct Address: JSONSerializable {
  var street: String
  var location: [Double]
}

@IndexKeyRecord("email")
struct Customer {
  let email: String
  var grade: Grade
  var address: Address
  var site: URL?
  var balance: Decimal = 0
}

@IndexKeyRecord("first name", "grade")
struct Person {
  let `first name`: String
  let grade: Grade
}

@CloudKitWebRecord
@IndexKeyRecord("city", "number")
struct House {
  let city: String
  let number: Int
  var built: Date?
  var owner: CloudKitJSONReference
}

func copy(_ house: House) throws -> House {
  let json = try JSONEncoder().encode(house.cloudKitJSON())
  return try House(cloudKitJSON: JSONDecoder().decode(CloudKitJSONRecord.self, from: json))
}

// The old version of the type, with a name of its own and the tag of the new version.
@IndexKeyRecord(keyPrefix: 17, "name")
struct PersonWithoutNote {
  let name: String
  var age: Int
}

@IndexKeyRecord(keyPrefix: 17, "name")
struct PersonWithNote {
  let name: String
  var age: Int
  var note: String

  static func deserialize(
    with deserializer: consuming RecordDeserializer, version: IndexKeyRecordHash
  ) throws -> sending PersonWithNote {
    guard version == PersonWithoutNote.fieldsVersion else {
      throw unsupportedMigrationError(for: version)
    }
    let old = try PersonWithoutNote.deserialize(with: deserializer)
    return PersonWithNote(name: old.name, age: old.age, note: "")
  }
}
