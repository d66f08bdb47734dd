// A stand-in for Apple's CloudKit: as much of it as Empire uses, for tests on systems that have
// none.

public import Foundation

/// A value that a record may hold.
public protocol CKRecordValueProtocol {}
extension String: CKRecordValueProtocol {}
extension Int: CKRecordValueProtocol {}
extension Double: CKRecordValueProtocol {}
extension Bool: CKRecordValueProtocol {}
extension Date: CKRecordValueProtocol {}
extension Data: CKRecordValueProtocol {}
extension Array: CKRecordValueProtocol where Element: CKRecordValueProtocol {}

/// A zone of records.
public class CKRecordZone {
  /// The identity of a zone.
  public class ID {
    /// The name.
    public let zoneName: String
    /// Whose it is.
    public let ownerName: String

    /// An identity.
    public init(zoneName: String, ownerName: String) {
      self.zoneName = zoneName
      self.ownerName = ownerName
    }
  }
}

/// A record.
public class CKRecord {
  /// The identity of a record.
  public class ID {
    /// The name.
    public let recordName: String
    /// The zone.
    public let zoneID: CKRecordZone.ID

    /// An identity.
    public init(recordName: String, zoneID: CKRecordZone.ID) {
      self.recordName = recordName
      self.zoneID = zoneID
    }
  }

  /// The type.
  public let recordType: String
  /// The identity.
  public let recordID: ID
  private var values: [String: any CKRecordValueProtocol] = [:]

  /// A record without values.
  public init(recordType: String, recordID: ID) {
    self.recordType = recordType
    self.recordID = recordID
  }

  /// The value of a field.
  public subscript(key: String) -> (any CKRecordValueProtocol)? {
    get { values[key] }
    set { values[key] = newValue }
  }
}
