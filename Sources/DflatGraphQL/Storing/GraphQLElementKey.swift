// GraphQLElementKey: what tells the elements of a list apart.

/// The key of an object in a list that pages. Generated code makes it.
public struct GraphQLElementKey: Hashable {
  private let parts: [AnyHashable]
  private let type: UInt8?

  /// Creates a key; nil if a field of it is missing.
  ///
  /// - Parameters:
  ///   - parts: The fields of the key.
  ///   - type: The number of the object's type. Two objects of different types are different, since
  ///     ids may be those of one type only.
  public init?(_ parts: AnyHashable?..., type: UInt8? = nil) {
    self.parts = parts.compactMap { $0 }.map { part in
      (part.base as? String).map { AnyHashable(ByteText($0)) } ?? part
    }
    self.type = type
    if self.parts.count < parts.count { return nil }
  }
}
