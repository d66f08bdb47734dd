// Values as records of CloudKit Web Services. Needs only JSON, not CloudKit, so it works on every
// platform.

public import Foundation
internal import StandardConformances

/// A record of CloudKit Web Services.
///
/// It is `Codable`: `JSONEncoder` writes the format that the services accept, and `JSONDecoder`
/// reads their responses.
///
///     {"recordType": "House", "recordName": "Lima7",
///      "fields": {"city": {"value": "Lima", "type": "STRING"}}}
public struct CloudKitJSONRecord: Sendable, Hashable, Codable {
  /// The type of the record.
  public var recordType: String
  /// The name that is unique in its zone.
  public var recordName: String
  /// The version of the record, by which the services detect conflicts; nil for a new record.
  public var recordChangeTag: String?
  /// The zone, if it is given.
  public var zoneID: CloudKitJSONZone?
  /// The values by name. A field without a value is left out.
  public var fields: [String: CloudKitJSONValue]

  /// Creates a record.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - recordName: The name that is unique in its zone.
  ///   - recordChangeTag: The version of the record; nil for a new record.
  ///   - zoneID: The zone; nil to leave it out.
  ///   - fields: The values by name.
  public init(
    recordType: String, recordName: String, recordChangeTag: String? = nil,
    zoneID: CloudKitJSONZone? = nil, fields: [String: CloudKitJSONValue] = [:]
  ) {
    self.recordType = recordType
    self.recordName = recordName
    self.recordChangeTag = recordChangeTag
    self.zoneID = zoneID
    self.fields = fields
  }

  /// Sets a field.
  ///
  /// - Parameters:
  ///   - field: The name.
  ///   - value: The value.
  /// - Throws: `CloudKitJSONError.unrepresentable` for a value that CloudKit cannot represent.
  public mutating func set<Value: CloudKitJSONField>(_ field: String, _ value: Value) throws {
    guard let stored = value.cloudKitValue else {
      throw CloudKitJSONError.unrepresentable(field, String(describing: Value.self))
    }
    fields[field] = stored
  }

  /// Sets or removes a field.
  ///
  /// - Parameters:
  ///   - field: The name.
  ///   - value: The value; nil for none.
  /// - Throws: `CloudKitJSONError.unrepresentable` for a value that CloudKit cannot represent.
  public mutating func set<Value: CloudKitJSONField>(_ field: String, _ value: Value?) throws {
    if let value { try set(field, value) } else { fields[field] = nil }
  }

  /// The value of a field.
  ///
  /// - Parameter field: The name.
  /// - Returns: The value.
  /// - Throws: `CloudKitJSONError.missingField`, or `wrongType` for a value that is not of the
  ///   type.
  public func get<Value: CloudKitJSONField>(_ field: String) throws -> Value {
    guard let value: Value = try get(field) else { throw CloudKitJSONError.missingField(field) }
    return value
  }

  /// The value of an optional field.
  ///
  /// - Parameter field: The name.
  /// - Returns: The value; nil if there is none.
  /// - Throws: `CloudKitJSONError.wrongType` for a value that is not of the type.
  public func get<Value: CloudKitJSONField>(_ field: String) throws -> Value? {
    guard let stored = fields[field] else { return nil }
    guard let value = Value(cloudKitValue: stored) else {
      throw CloudKitJSONError.wrongType(
        field, expected: String(describing: Value.self), found: stored.typeName)
    }
    return value
  }

  /// Checks the type of the record.
  ///
  /// - Parameter type: The expected type.
  /// - Throws: `CloudKitJSONError.recordTypeMismatch` if the record has a different type.
  public func check(_ type: String) throws {
    if recordType != type {
      throw CloudKitJSONError.recordTypeMismatch(expected: type, found: recordType)
    }
  }
}

/// An error of converting a record of CloudKit Web Services.
public enum CloudKitJSONError: Error, Hashable, Sendable {
  /// The record has no such field.
  case missingField(String)
  /// The value of a field is not of the expected type.
  case wrongType(String, expected: String, found: String)
  /// A field has an unknown type: the field, the type.
  case unknownType(String, String)
  /// A field is an asset: a file that is not in the record. Fetch it by its URL, and leave the
  /// field out of the type.
  case asset(String)
  /// CloudKit cannot represent a value: the field, the type. Examples are numbers and dates that do
  /// not fit `Int64`, and lists of lists.
  case unrepresentable(String, String)
  /// JSON cannot represent a number or date: the field.
  case notANumber(String)
  /// The record is of a different type.
  case recordTypeMismatch(expected: String, found: String)
}

extension CloudKitJSONError: LocalizedError, CustomStringConvertible {
  /// Which field, what is wrong with it, and what to do.
  public var description: String { sentence(problem, advice: recoverySuggestion) }

  private var problem: String {
    switch self {
    case .missingField(let field): "the record has no field '\(field)'"
    case .wrongType(let field, let expected, let found):
      "the field '\(field)' is \(found), where \(expected) is expected"
    case .unknownType(let field, let type): "the field '\(field)' has the unknown type \(type)"
    case .asset(let field): "the field '\(field)' is an asset, a file that is not in the record"
    case .unrepresentable(let field, let type):
      "the field '\(field)' has a value of \(type) that CloudKit does not have"
    case .notANumber(let field):
      "the field '\(field)' is a number or date without a finite value, which JSON does not have"
    case .recordTypeMismatch(let expected, let found):
      "the record is of the type \(found), where \(expected) is expected"
    }
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }

  /// What can be done about it.
  public var recoverySuggestion: String? {
    switch self {
    case .missingField: "make the property optional, or fetch the record with the field"
    case .wrongType: "give the property the type that the field has"
    case .unknownType: "leave the field out of the type"
    case .asset: "fetch the asset by its URL, and leave the field out of the type"
    case .unrepresentable: "use a value that CloudKit has, or keep it as Data"
    case .notANumber: "use a finite value, or an optional one where there is none"
    case .recordTypeMismatch: "read the record with the type that it was made from"
    }
  }
}

/// A value that can be converted to and from a record of CloudKit Web Services, on every platform.
///
/// `@CloudKitWebRecord` generates the conformance.
public protocol CloudKitWebRecord: SendableMetatype {
  /// The record type. By default the name of this type.
  static var cloudKitRecordType: String { get }

  /// Creates a record with the values of the properties.
  ///
  /// - Parameter name: The name of the record.
  /// - Returns: A new record.
  /// - Throws: `CloudKitJSONError.unrepresentable` for a value that CloudKit cannot represent.
  func cloudKitJSON(name: String) throws -> CloudKitJSONRecord

  /// Reads the properties from a record.
  ///
  /// - Parameter record: A record of the type `cloudKitRecordType`.
  /// - Throws: `CloudKitJSONError`, with the name of the field that is missing or wrong.
  init(cloudKitJSON record: CloudKitJSONRecord) throws
}

extension CloudKitWebRecord {
  /// The name of this type.
  public static var cloudKitRecordType: String { String(describing: Self.self) }
}

extension CloudKitWebRecord
where Self: IndexKeyRecord, IndexKey: CloudKitRecordNameRepresentable {
  /// Creates a record that is named after the key.
  ///
  /// - Returns: A new record.
  /// - Throws: `CloudKitJSONError.unrepresentable` for a value that CloudKit cannot represent.
  public func cloudKitJSON() throws -> CloudKitJSONRecord {
    try cloudKitJSON(name: indexKey.ckRecordName)
  }
}

/// Makes a type with stored properties a `CloudKitWebRecord`: every stored property becomes a field
/// of the record with the same name.
///
///     @CloudKitWebRecord
///     @IndexKeyRecord("city", "number")
///     struct House {
///       let city: String
///       let number: Int
///       var built: Date?
///     }
///
///     let json = try JSONEncoder().encode(house.cloudKitJSON())
///     let record = try JSONDecoder().decode(CloudKitJSONRecord.self, from: json)
///     let copy = try House(cloudKitJSON: record)
///
/// The types of the properties are `CloudKitJSONField`s, or optionals of them: text, numbers,
/// `Bool`, `Date`, `Data`, `UUID`, types with a raw value, references, locations, and arrays of
/// these.
@attached(
  extension, conformances: CloudKitWebRecord,
  names: named(cloudKitJSON(name:)), named(init(cloudKitJSON:)))
public macro CloudKitWebRecord() =
  #externalMacro(module: "EmpireMacros", type: "CloudKitWebRecordMacro")
