// Values as CloudKit records. Compiled only where CloudKit can be imported; on Linux the tests
// compile it against a stub.

#if canImport(CloudKit)
  public import CloudKit
  internal import Foundation
  #if os(Linux)
    public import Empire
  #endif

  /// Makes a type with stored properties a `CloudKitRecord`: every stored property becomes a field
  /// of the record with the same name.
  ///
  /// The types of the properties must be types that CloudKit accepts.
  @attached(
    extension, conformances: CloudKitRecord, names: named(ckRecord(with:)), named(init(ckRecord:)))
  public macro CloudKitRecord() =
    #externalMacro(module: "EmpireMacros", type: "CloudKitRecordMacro")

  /// A value that can be converted to and from a CloudKit record.
  public protocol CloudKitRecord: SendableMetatype {
    /// The record type. By default the name of this type.
    static var ckRecordType: String { get }

    /// Creates a record with the values of the properties.
    ///
    /// - Parameter recordId: The identity of the record.
    /// - Returns: A new record.
    func ckRecord(with recordId: CKRecord.ID) -> CKRecord

    /// Reads the properties from a record.
    ///
    /// - Parameter ckRecord: A record of the type `ckRecordType`.
    /// - Throws: An error that names the field that is missing or has a different type, or the
    ///   record's type.
    init(ckRecord: CKRecord) throws
  }

  extension CloudKitRecord {
    /// The name of this type.
    public static var ckRecordType: String { String(describing: Self.self) }
  }

  extension CloudKitRecord where Self: IndexKeyRecord, IndexKey: CloudKitRecordNameRepresentable {
    /// Creates a record that is named after the key.
    ///
    /// - Parameter zoneId: The zone of the record.
    /// - Returns: A new record.
    public func ckRecord(in zoneId: CKRecordZone.ID) -> CKRecord {
      ckRecord(with: CKRecord.ID(recordName: indexKey.ckRecordName, zoneID: zoneId))
    }
  }

  /// An error of reading a record.
  enum CloudKitRecordError: Error, Hashable {
    /// A field is missing or has a different type.
    case missingField(String)
    /// The record has a different type: the one that was found, the one that was expected.
    case recordTypeMismatch(String, String)
  }

  extension CloudKitRecordError: LocalizedError, CustomStringConvertible {
    var description: String { sentence(problem, advice: recoverySuggestion) }

    private var problem: String {
      switch self {
      case .missingField(let field): "the record has no field '\(field)' of the property's type"
      case .recordTypeMismatch(let found, let expected):
        "the record is of the type \(found), where \(expected) is expected"
      }
    }

    var errorDescription: String? { description }

    var recoverySuggestion: String? {
      switch self {
      case .missingField: "fetch the record with the field, and give the property the field's type"
      case .recordTypeMismatch: "read the record with the type that it was made from"
      }
    }
  }

  extension CKRecord {
    /// The value of a field.
    ///
    /// - Parameter key: The name of the field.
    /// - Returns: The value.
    /// - Throws: An error that names the field if it is missing or has a different type.
    public func getTypedValue<T>(for key: String) throws -> T {
      let stored: (any CKRecordValueProtocol)? = self[key]
      guard let value = stored as? T else { throw CloudKitRecordError.missingField(key) }
      return value
    }

    /// Checks the type of the record.
    ///
    /// - Parameter expectedType: The expected type.
    /// - Throws: An error with both types if they differ.
    public func validateRecordType(_ expectedType: String) throws {
      if recordType != expectedType {
        throw CloudKitRecordError.recordTypeMismatch(recordType, expectedType)
      }
    }
  }
#endif
