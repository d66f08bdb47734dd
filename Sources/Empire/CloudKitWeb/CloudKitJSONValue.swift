// The values of fields, as CloudKit Web Services write them in JSON: {"value": …, "type": "…"}.
//
//   STRING     text                        TIMESTAMP  milliseconds since 1970
//   INT64      a whole number              BYTES      base64
//   DOUBLE     a number                    REFERENCE  {"recordName", "action", "zoneID"}
//   …_LIST     an array of these           LOCATION   {"latitude", "longitude", …}
//
// Assets are separate files that are uploaded and downloaded on their own, so they are rejected. If
// the type is missing, it is inferred from the form of the value. The types of dates and bytes must
// not be missing, because these look like numbers and text.

public import Foundation

/// A value of a field.
public enum CloudKitJSONValue: Sendable, Hashable {
  /// The kind of a value.
  public enum Kind: String, Sendable, Hashable {
    case string = "STRING"
    case int64 = "INT64"
    case double = "DOUBLE"
    case timestamp = "TIMESTAMP"
    case bytes = "BYTES"
    case reference = "REFERENCE"
    case location = "LOCATION"
  }

  case string(String)
  case int64(Int64)
  case double(Double)
  /// Stored in milliseconds.
  case timestamp(Date)
  case bytes(Data)
  case reference(CloudKitJSONReference)
  case location(CloudKitJSONLocation)
  /// Values of one kind.
  case list(Kind, [CloudKitJSONValue])

  /// The name of the type in JSON.
  public var typeName: String {
    switch self {
    case .string: Kind.string.rawValue
    case .int64: Kind.int64.rawValue
    case .double: Kind.double.rawValue
    case .timestamp: Kind.timestamp.rawValue
    case .bytes: Kind.bytes.rawValue
    case .reference: Kind.reference.rawValue
    case .location: Kind.location.rawValue
    case .list(let kind, _): kind.rawValue + "_LIST"
    }
  }
}

/// A reference to another record.
public struct CloudKitJSONReference: Sendable, Hashable, JSONSerializable {
  /// What happens to the referring record when the other one is deleted.
  public enum Action: String, Sendable, Hashable, Codable {
    case none = "NONE"
    case deleteSelf = "DELETE_SELF"
    /// Like `none`, but the other record must exist.
    case validate = "VALIDATE"
  }

  /// The name of the other record.
  public var recordName: String
  /// What happens to the referring record when the other one is deleted.
  public var action: Action
  /// The zone of the other record; nil for the same one.
  public var zoneID: CloudKitJSONZone?

  /// Creates a reference.
  ///
  /// - Parameters:
  ///   - recordName: The name of the other record.
  ///   - action: What happens to the referring record when the other one is deleted.
  ///   - zoneID: The zone of the other record; nil for the same one.
  public init(recordName: String, action: Action = .none, zoneID: CloudKitJSONZone? = nil) {
    self.recordName = recordName
    self.action = action
    self.zoneID = zoneID
  }
}

/// A zone of records.
public struct CloudKitJSONZone: Sendable, Hashable, Codable {
  /// The name.
  public var zoneName: String
  /// The record name of the owner; nil for the user's own zone.
  public var ownerRecordName: String?

  /// Creates a zone.
  ///
  /// - Parameters:
  ///   - zoneName: The name.
  ///   - ownerRecordName: The record name of the owner; nil for the user's own zone.
  public init(zoneName: String, ownerRecordName: String? = nil) {
    self.zoneName = zoneName
    self.ownerRecordName = ownerRecordName
  }
}

/// A geographic location.
public struct CloudKitJSONLocation: Sendable, Hashable, Codable {
  /// In degrees, north is positive.
  public var latitude: Double
  /// In degrees, east is positive.
  public var longitude: Double
  /// In metres, if it is known.
  public var altitude: Double?

  /// Creates a location.
  ///
  /// - Parameters:
  ///   - latitude: In degrees, north is positive.
  ///   - longitude: In degrees, east is positive.
  ///   - altitude: In metres, if it is known.
  public init(latitude: Double, longitude: Double, altitude: Double? = nil) {
    self.latitude = latitude
    self.longitude = longitude
    self.altitude = altitude
  }
}
