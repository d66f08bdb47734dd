// Compound indexes: several fields of a root, indexed together.

/// An index over several fields of a root table, or over the folded text of one.
public struct CompoundIndex: Hashable, Sendable {
  /// A field of the index.
  public struct Column: Hashable, Sendable {
    /// The field with the schema's names: `title`, `author.handle`.
    public var name: String
    /// The storage name of the field: `f10`, `f14__f4`.
    public var path: String
    /// Whether text is indexed without regard to case.
    public var isFolded: Bool
    /// Where the field is declared.
    public var field: SourcePosition

    /// Creates a column from its parts.
    public init(name: String, path: String, isFolded: Bool, field: SourcePosition) {
      self.name = name
      self.path = path
      self.isFolded = isFolded
      self.field = field
    }
  }

  /// The fields, the most significant one first.
  public var columns: [Column]
  /// Whether no two objects may have the same values in all fields; unknown values are exempt.
  public var isUnique: Bool
  /// The position of the first field in the attribute.
  public var position: SourcePosition

  /// Creates an index from its parts.
  public init(columns: [Column], isUnique: Bool, position: SourcePosition) {
    self.columns = columns
    self.isUnique = isUnique
    self.position = position
  }

  /// The storage name: `x__f6__x__f10__nocase`. It begins with `x`, which no path to a single field
  /// does, and depends on the fields alone.
  public var storageName: String {
    columns.map { "x__\($0.path)\($0.isFolded ? "__nocase" : "")" }.joined(separator: "__")
  }

  /// The fields with the schema's names, for messages: `author.handle, title nocase`.
  public var name: String {
    columns.map { $0.name + ($0.isFolded ? " nocase" : "") }.joined(separator: ", ")
  }
}
