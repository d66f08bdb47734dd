// Values as records of CloudKit Web Services, on every system: no CloudKit is needed, only JSON.

public import Foundation
internal import StandardConformances

/// A record of CloudKit Web Services.
///
/// It is `Codable`: `JSONEncoder` writes what the services take, and `JSONDecoder` reads what they send.
///
///     {"recordType": "House", "recordName": "Lima7", "fields": {"city": {"value": "Lima", "type": "STRING"}}}
public struct CloudKitJSONRecord: Sendable, Hashable, Codable {
  /// The type of the record.
  public var recordType: String
  /// The name that is unique in its zone.
  public var recordName: String
  /// Which state of the record this is, for the services to find conflicts; nil for a new record.
  public var recordChangeTag: String?
  /// The zone, if it is told.
  public var zoneID: CloudKitJSONZone?
  /// The values by name. A field without a value is left out.
  public var fields: [String: CloudKitJSONValue]

  /// A record.
  ///
  /// - Parameters:
  ///   - recordType: The type of the record.
  ///   - recordName: The name that is unique in its zone.
  ///   - recordChangeTag: Which state of the record this is; nil for a new record.
  ///   - zoneID: The zone, if it has to be told.
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
  /// - Throws: `CloudKitJSONError.unrepresentable` for a value that CloudKit does not have.
  public mutating func set<Value: CloudKitJSONField>(_ field: String, _ value: Value) throws {
    guard let stored = value.cloudKitValue else {
      throw CloudKitJSONError.unrepresentable(field, String(describing: Value.self))
    }
    fields[field] = stored
  }

  /// Sets a field, or leaves it out.
  ///
  /// - Parameters:
  ///   - field: The name.
  ///   - value: The value; nil for none.
  /// - Throws: `CloudKitJSONError.unrepresentable` for a value that CloudKit does not have.
  public mutating func set<Value: CloudKitJSONField>(_ field: String, _ value: Value?) throws {
    if let value { try set(field, value) } else { fields[field] = nil }
  }

  /// The value of a field.
  ///
  /// - Parameter field: The name.
  /// - Returns: The value.
  /// - Throws: `CloudKitJSONError.missingField`, or `wrongType` for a value that is none of the type.
  public func get<Value: CloudKitJSONField>(_ field: String) throws -> Value {
    guard let value: Value = try get(field) else { throw CloudKitJSONError.missingField(field) }
    return value
  }

  /// The value of a field that may be left out.
  ///
  /// - Parameter field: The name.
  /// - Returns: The value; nil if there is none.
  /// - Throws: `CloudKitJSONError.wrongType` for a value that is none of the type.
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
  /// - Parameter type: The type that it should have.
  /// - Throws: `CloudKitJSONError.recordTypeMismatch` if it has another one.
  public func check(_ type: String) throws {
    if recordType != type {
      throw CloudKitJSONError.recordTypeMismatch(expected: type, found: recordType)
    }
  }
}

/// What can be wrong with a record of CloudKit Web Services.
public enum CloudKitJSONError: Error, Hashable, Sendable {
  /// The record has no such field.
  case missingField(String)
  /// The value of a field is not of the type that it should have.
  case wrongType(String, expected: String, found: String)
  /// A field has a type that is not known: the field, the type.
  case unknownType(String, String)
  /// A field is an asset: a file that is not in the record. Fetch it by its URL, and leave the field out of the type.
  case asset(String)
  /// A value that CloudKit does not have: the field, the type. Numbers beyond `Int64`, dates beyond its milliseconds, lists of lists.
  case unrepresentable(String, String)
  /// A number or date that JSON does not have: the field.
  case notANumber(String)
  /// The record is of another type.
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

/// A value that can be made from a record of CloudKit Web Services, and a record from it, on every system.
///
/// `@CloudKitWebRecord` makes a type one.
public protocol CloudKitWebRecord: SendableMetatype {
  /// The type of the records. By default the name of this type.
  static var cloudKitRecordType: String { get }

  /// A record with the values of the properties.
  ///
  /// - Parameter name: The name of the record.
  /// - Returns: A new record.
  /// - Throws: `CloudKitJSONError.unrepresentable` for a value that CloudKit does not have.
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
  /// A record whose name is made of the key.
  ///
  /// - Returns: A new record.
  /// - Throws: `CloudKitJSONError.unrepresentable` for a value that CloudKit does not have.
  public func cloudKitJSON() throws -> CloudKitJSONRecord {
    try cloudKitJSON(name: indexKey.ckRecordName)
  }
}

/// Makes a type with stored properties a `CloudKitWebRecord`: every stored property is a field of the record, under its own name.
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
///     let copy = try House(cloudKitJSON: JSONDecoder().decode(CloudKitJSONRecord.self, from: json))
///
/// The types of the properties are `CloudKitJSONField`s, or optionals of such: text, numbers, `Bool`, `Date`, `Data`, `UUID`, types with a raw
/// value, references, locations, and arrays of these.
@attached(
  extension, conformances: CloudKitWebRecord,
  names: named(cloudKitJSON(name:)), named(init(cloudKitJSON:)))
public macro CloudKitWebRecord() =
  #externalMacro(module: "EmpireMacros", type: "CloudKitWebRecordMacro")
