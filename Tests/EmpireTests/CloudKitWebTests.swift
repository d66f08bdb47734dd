// Records of CloudKit Web Services, without CloudKit.

import Empire
import Foundation
import Testing

private enum Grade: Int, CloudKitJSONField { case low = 1, high }

@CloudKitWebRecord
@IndexKeyRecord("city", "number")
private struct House: Equatable {
  static let shared = 1
  let city: String
  let number: Int
  var open: Bool
  var height: Double
  var built: Date?
  var plan: Data
  var double: Int { number * 2 }
}

@CloudKitWebRecord
private struct Loose: Equatable {
  var grade = Grade.low
  var tags: [String]
  var heights: [Double]
  var owner: CloudKitJSONReference
  var place: CloudKitJSONLocation?
  var small: UInt8
  var id: UUID
  static var cloudKitRecordType: String { "Other" }
}

@CloudKitWebRecord
private struct Narrow: Equatable {
  var number: UInt64
  var lists: [[Int]]
}

struct CloudKitWebTests {
  private let house = House(
    city: "Lima", number: 7, open: true, height: 3,
    built: Date(timeIntervalSince1970: 1_700_000_000.25), plan: Data([0, 255]))
  private let loose = Loose(
    grade: .high, tags: ["a", "b"], heights: [],
    owner: CloudKitJSONReference(
      recordName: "me", action: .deleteSelf, zoneID: CloudKitJSONZone(zoneName: "z")),
    place: CloudKitJSONLocation(latitude: -12.5, longitude: 77), small: 255, id: UUID())

  private func text(_ record: CloudKitJSONRecord) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(record), as: UTF8.self)
  }

  private func parse(_ fields: String, type: String = "House") throws -> CloudKitJSONRecord {
    let text = #"{"recordType": "\#(type)", "recordName": "n", "fields": {\#(fields)}}"#
    return try JSONDecoder().decode(CloudKitJSONRecord.self, from: Data(text.utf8))
  }

  @Test("Fields have types: numbers, dates in milliseconds, bytes in base64; nil is left out")
  func json() throws {
    #expect(
      try text(house.cloudKitJSON())
        == #"{"fields":{"built":{"type":"TIMESTAMP","value":1700000000250},"#
        + #""city":{"type":"STRING","value":"Lima"},"height":{"type":"DOUBLE","value":3},"#
        + #""number":{"type":"INT64","value":7},"open":{"type":"INT64","value":1},"#
        + #""plan":{"type":"BYTES","value":"AP8="}},"recordName":"Lima7","recordType":"House"}"#)
    var unbuilt = house
    unbuilt.built = nil
    #expect(try unbuilt.cloudKitJSON().fields["built"] == nil)
    #expect(
      try text(loose.cloudKitJSON(name: "x")) == #"{"fields":{"grade":{"type":"INT64","value":2},"#
        + #""heights":{"type":"DOUBLE_LIST","value":[]},"id":{"type":"STRING","value":"\#(loose.id)"},"#
        + #""owner":{"type":"REFERENCE","value":{"action":"DELETE_SELF","recordName":"me","zoneID":{"zoneName":"z"}}},"#
        + #""place":{"type":"LOCATION","value":{"latitude":-12.5,"longitude":77}},"#
        + #""small":{"type":"INT64","value":255},"tags":{"type":"STRING_LIST","value":["a","b"]}},"#
        + #""recordName":"x","recordType":"Other"}"#)
  }

  @Test("Written records are read back, including fields that the services add")
  func roundTrip() throws {
    func copy(_ record: CloudKitJSONRecord) throws -> CloudKitJSONRecord {
      try JSONDecoder().decode(CloudKitJSONRecord.self, from: Data(try text(record).utf8))
    }
    #expect(try House(cloudKitJSON: copy(house.cloudKitJSON())) == house)
    #expect(try Loose(cloudKitJSON: copy(loose.cloudKitJSON(name: "x"))) == loose)
    let sent = try JSONDecoder().decode(
      CloudKitJSONRecord.self,
      from: Data(
        #"""
        {"recordName": "Lima7", "recordType": "House", "recordChangeTag": "k1", "deleted": false,
         "created": {"timestamp": 1, "userRecordName": "u"}, "pluginFields": {},
         "zoneID": {"zoneName": "_defaultZone", "ownerRecordName": "o"},
         "fields": {"city": {"value": "Lima"}, "number": {"value": 7}, "open": {"value": 0, "type": "INT64"},
          "height": {"value": 4}, "plan": {"value": "", "type": "BYTES"}, "more": {"value": [1, 2.5]}}}
        """#.utf8))
    #expect(sent.recordChangeTag == "k1" && sent.zoneID?.ownerRecordName == "o")
    #expect(sent.fields["more"] == .list(.double, [.double(1), .double(2.5)]))
    let read = try House(cloudKitJSON: sent)
    #expect(read.height == 4 && read.built == nil && !read.open && read.plan.isEmpty)
  }

  @Test("Assets, missing fields, wrong types and values are errors that name the field")
  func errors() throws {
    for type in ["ASSETID", "ASSET", "ASSETID_LIST"] {
      #expect(throws: CloudKitJSONError.asset("photo")) {
        try parse(#""photo": {"value": {"size": 1, "downloadURL": "u"}, "type": "\#(type)"}"#)
      }
    }
    #expect(throws: CloudKitJSONError.unknownType("a", "SPHERE")) {
      try parse(#""a": {"value": 1, "type": "SPHERE"}"#)
    }
    for (type, value, found) in [
      ("STRING", "1", "a number"), ("INT64", "1.5", "a number"), ("BYTES", #""?""#, "text"),
      ("TIMESTAMP", #""x""#, "text"), ("REFERENCE", "[]", "an array"), ("INT64", "[1]", "an array"),
    ] {
      #expect(throws: CloudKitJSONError.wrongType("a", expected: type, found: found)) {
        try parse(#""a": {"value": \#(value), "type": "\#(type)"}"#)
      }
    }
    #expect(throws: CloudKitJSONError.wrongType("a", expected: "INT64_LIST", found: "a number")) {
      try parse(#""a": {"value": 1, "type": "INT64_LIST"}"#)
    }
    #expect(throws: DecodingError.self) {
      try parse(#""a": {"value": {"x": 1}, "type": "STRING"}"#)
    }
    #expect(throws: CloudKitJSONError.recordTypeMismatch(expected: "Other", found: "House")) {
      try Loose(cloudKitJSON: house.cloudKitJSON())
    }
    var record = try house.cloudKitJSON()
    record.fields["open"] = .int64(2)
    #expect(throws: CloudKitJSONError.wrongType("open", expected: "Bool", found: "INT64")) {
      try House(cloudKitJSON: record)
    }
    record.fields["open"] = nil
    #expect(throws: CloudKitJSONError.missingField("open")) { try House(cloudKitJSON: record) }
    var other = try loose.cloudKitJSON(name: "x")
    other.fields["small"] = .int64(256)
    #expect(throws: CloudKitJSONError.wrongType("small", expected: "UInt8", found: "INT64")) {
      try Loose(cloudKitJSON: other)
    }
    other = try loose.cloudKitJSON(name: "x")
    other.fields["grade"] = .int64(3)
    #expect(throws: CloudKitJSONError.self) { try Loose(cloudKitJSON: other) }
  }

  @Test("A number that is too large for its property is none")
  func largeNumbers() {
    #expect(Float(cloudKitValue: .double(1e300)) == nil)
    #expect(Float(cloudKitValue: .double(-1e39)) == nil)
    #expect(
      Float(cloudKitValue: .double(1e38)) == 1e38 && Float(cloudKitValue: .int64(.max)) != nil)
    #expect(Double(cloudKitValue: .double(1e300)) == 1e300)
  }

  @Test("Values that CloudKit cannot represent are rejected")
  func unrepresentable() {
    #expect(throws: CloudKitJSONError.unrepresentable("number", "UInt64")) {
      try Narrow(number: .max, lists: []).cloudKitJSON(name: "x")
    }
    #expect(throws: CloudKitJSONError.unrepresentable("lists", "Array<Array<Int>>")) {
      try Narrow(number: 1, lists: [[1]]).cloudKitJSON(name: "x")
    }
    var tall = house
    tall.height = .infinity
    #expect(throws: CloudKitJSONError.unrepresentable("height", "Double")) {
      try tall.cloudKitJSON()
    }
    tall = house
    tall.built = Date(timeIntervalSince1970: .nan)
    #expect(throws: CloudKitJSONError.unrepresentable("built", "Date")) { try tall.cloudKitJSON() }
    let record = CloudKitJSONRecord(recordType: "a", recordName: "b", fields: ["c": .double(.nan)])
    #expect(throws: CloudKitJSONError.notANumber("c")) { try text(record) }
  }
}
