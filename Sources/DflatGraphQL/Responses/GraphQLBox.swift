// GraphQLBox: objects of a response inside other ones.
//
// The compiler writes how a structure is copied and destroyed, with all structures that are stored
// inside of it, at each level again. In deep responses that is more code than everything else. A
// box never changes, so values share it.

/// An object of a response that is stored in another one behind a reference. Generated code uses
/// it; programs see the property as if it were stored directly.
public final class GraphQLBox<Value: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
  /// The object.
  public let value: Value

  /// Boxes an object.
  public init(_ value: Value) { self.value = value }

  /// Decodes the object.
  public init(from decoder: any Decoder) throws { value = try Value(from: decoder) }

  /// Encodes the object.
  public func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }

  /// Compares the objects.
  public static func == (left: GraphQLBox, right: GraphQLBox) -> Bool {
    left === right || left.value == right.value
  }

  /// Hashes the object.
  public func hash(into hasher: inout Hasher) { value.hash(into: &hasher) }
}
