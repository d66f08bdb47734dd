// DictionaryScalar: the types for which the dictionary's table has columns.
//
// Reading and assigning a scalar runs no generic code in this module. The accessors are inlined
// into the program, which knows the type, and reach the store through two functions that are not
// generic. They are always inlined because the compiler does not specialise functions for a value
// of type `any WorkspaceDictionary`.
//
// The protocol does not refine `Codable` and the other protocols that a value needs: the accessors
// have to name them (WorkspaceDictionary+Values.swift).

/// A type whose values the dictionary stores directly: `Bool`, `Int`, `UInt`, `Float`, `Double` and
/// `String`.
///
/// Values of all other types are stored as encoded bytes. A type of your own needs no conformance
/// to this protocol: the dictionary takes it if it is `Codable`, `Equatable` and `Sendable`.
public protocol DictionaryScalar {
  /// The value in the form in which it is stored. For Dflat.
  var _dictionaryStored: DictionaryStored { get }
  /// The stored value; nil if there is none or it has another type. For Dflat.
  static func _dictionaryValue(_ stored: DictionaryStored) -> Self?
}

/// What is stored under a key. For Dflat.
public struct DictionaryStored: Sendable {
  let contents: DictionaryContents

  init(_ contents: DictionaryContents) { self.contents = contents }

  /// A key without a value. For Dflat.
  public static var _absent: DictionaryStored { DictionaryStored(.absent) }
}

extension Bool: DictionaryScalar {
  /// The value in the form in which it is stored. For Dflat.
  public var _dictionaryStored: DictionaryStored { DictionaryStored(.bool(self)) }
  /// The stored value; nil if there is none or it has another type. For Dflat.
  public static func _dictionaryValue(_ stored: DictionaryStored) -> Bool? {
    if case .bool(let value) = stored.contents { value } else { nil }
  }
}

extension Int: DictionaryScalar {
  /// The value in the form in which it is stored. For Dflat.
  public var _dictionaryStored: DictionaryStored { DictionaryStored(.int(self)) }
  /// The stored value; nil if there is none or it has another type. For Dflat.
  public static func _dictionaryValue(_ stored: DictionaryStored) -> Int? {
    if case .int(let value) = stored.contents { value } else { nil }
  }
}

extension UInt: DictionaryScalar {
  /// The value in the form in which it is stored. For Dflat.
  public var _dictionaryStored: DictionaryStored { DictionaryStored(.uint(self)) }
  /// The stored value; nil if there is none or it has another type. For Dflat.
  public static func _dictionaryValue(_ stored: DictionaryStored) -> UInt? {
    if case .uint(let value) = stored.contents { value } else { nil }
  }
}

extension Float: DictionaryScalar {
  /// The value in the form in which it is stored. For Dflat.
  public var _dictionaryStored: DictionaryStored { DictionaryStored(.float(self)) }
  /// The stored value; nil if there is none or it has another type. For Dflat.
  public static func _dictionaryValue(_ stored: DictionaryStored) -> Float? {
    if case .float(let value) = stored.contents { value } else { nil }
  }
}

extension Double: DictionaryScalar {
  /// The value in the form in which it is stored. For Dflat.
  public var _dictionaryStored: DictionaryStored { DictionaryStored(.double(self)) }
  /// The stored value; nil if there is none or it has another type. For Dflat.
  public static func _dictionaryValue(_ stored: DictionaryStored) -> Double? {
    if case .double(let value) = stored.contents { value } else { nil }
  }
}

extension String: DictionaryScalar {
  /// The value in the form in which it is stored. For Dflat.
  public var _dictionaryStored: DictionaryStored { DictionaryStored(.string(self)) }
  /// The stored value; nil if there is none or it has another type. For Dflat.
  public static func _dictionaryValue(_ stored: DictionaryStored) -> String? {
    if case .string(let value) = stored.contents { value } else { nil }
  }
}
