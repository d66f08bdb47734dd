// A stand-in for the module ApolloAPI of Apollo iOS 1.x: as much of it as generated operations and
// the initialisers of `dflatc graphql --client apollo` use.

/// What a response has under a key.
public protocol DataValue {
  /// The value of a part of the response.
  static func value(of data: Any?) -> Self
}

extension String: DataValue {
  /// The value of a part of the response.
  public static func value(of data: Any?) -> String { data as! String }
}
extension Int: DataValue {
  /// The value of a part of the response.
  public static func value(of data: Any?) -> Int { data as! Int }
}
extension Double: DataValue {
  /// The value of a part of the response.
  public static func value(of data: Any?) -> Double { data as! Double }
}
extension Bool: DataValue {
  /// The value of a part of the response.
  public static func value(of data: Any?) -> Bool { data as! Bool }
}
extension Optional: DataValue where Wrapped: DataValue {
  /// The value of a part of the response.
  public static func value(of data: Any?) -> Wrapped? { data.map { Wrapped.value(of: $0) } }
}
extension Array: DataValue where Element: DataValue {
  /// The value of a part of the response.
  public static func value(of data: Any?) -> [Element] {
    (data as! [Any?]).map { Element.value(of: $0) }
  }
}

/// The values of an enum.
public protocol EnumType: RawRepresentable where RawValue == String {}

/// A value of an enum that the schema has, or one that it does not have yet.
public enum GraphQLEnum<T: EnumType>: RawRepresentable, DataValue {
  /// One that the schema has.
  case `case`(T)
  /// Another one.
  case unknown(String)

  /// The value with a name.
  public init(rawValue: String) {
    self = T(rawValue: rawValue).map { .case($0) } ?? .unknown(rawValue)
  }

  /// The name in the schema.
  public var rawValue: String {
    switch self {
    case .case(let value): value.rawValue
    case .unknown(let name): name
    }
  }

  /// The value of a part of the response.
  public static func value(of data: Any?) -> Self { Self(rawValue: data as! String) }
}

/// The data of one object.
public struct DataDict {
  let content: [String: Any?]

  /// Data of a response.
  public init(_ content: [String: Any?]) { self.content = content }

  /// The value under a key.
  public subscript<T: DataValue>(key: String) -> T { T.value(of: content[key] ?? nil) }
}

/// A type of the schema.
public struct ParentType: Sendable {
  let objects: [String]

  /// A type with its object types.
  public init(objects: [String]) { self.objects = objects }
}

/// What is selected of an object.
public protocol SelectionSet: DataValue {
  /// The type of which it is selected.
  static var __parentType: ParentType { get }
  /// The data.
  var __data: DataDict { get }
  /// The selection of an object's data.
  init(_dataDict: DataDict)
}

extension SelectionSet {
  /// The name of the object's type.
  public var __typename: String? { __data["__typename"] }

  /// The value of a part of the response.
  public static func value(of data: Any?) -> Self {
    Self(_dataDict: DataDict(data as! [String: Any?]))
  }

  /// The narrower form; nil if the object is of another type.
  public func _asInlineFragment<T: InlineFragment>() -> T? {
    T.__parentType.objects.contains(__typename ?? "") ? T(_dataDict: __data) : nil
  }
}

/// The narrower form of a selection.
public protocol InlineFragment: SelectionSet {}

/// The named fragments of a selection.
public protocol FragmentContainer {
  /// The data.
  var __data: DataDict { get }
  /// The fragments of an object's data.
  init(_dataDict: DataDict)
}

extension FragmentContainer {
  /// A fragment that every object satisfies.
  public func _toFragment<T: SelectionSet>() -> T { T(_dataDict: __data) }
}
