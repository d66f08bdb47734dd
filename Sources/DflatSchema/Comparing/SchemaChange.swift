// One difference between two versions of a schema, as data.
//
// A change always has two positions, so that a tool can show both sides. What exists in only one
// version has the position of its container in the other one (for a removed field: the table).
// Kinds and severities are part of the format of `dflatc check --json`; their raw values do not
// change.

/// A difference between an older and a newer version of a schema, and its effect on stored data.
public struct SchemaChange: Sendable, Hashable {
  /// The kind of change. Raw values are stable.
  public enum Kind: String, CaseIterable, Sendable {
    case fieldAdded = "field-added"
    /// Added before other fields, whose slots it shifts, or in the slot of a removed one.
    case fieldInserted = "field-inserted"
    case fieldRemoved = "field-removed"
    case fieldMoved = "field-moved"
    case fieldRenamed = "field-renamed"
    case fieldDeprecated = "field-deprecated"
    /// No longer deprecated.
    case fieldRestored = "field-restored"
    case fieldTypeChanged = "field-type-changed"
    case arrayLengthChanged = "array-length-changed"
    case defaultChanged = "default-changed"
    case requiredAdded = "required-added"
    case requiredRemoved = "required-removed"
    case primaryAdded = "primary-added"
    case primaryRemoved = "primary-removed"
    case primaryReordered = "primary-reordered"
    case indexAdded = "index-added"
    case indexRemoved = "index-removed"
    case uniqueAdded = "unique-added"
    case uniqueRemoved = "unique-removed"
    case fullTextAdded = "fulltext-added"
    case fullTextRemoved = "fulltext-removed"
    /// The full-text fields have another tokenizer.
    case tokenizerChanged = "tokenizer-changed"
    /// Any other attribute.
    case attributeChanged = "attribute-changed"
    case structLayoutChanged = "struct-layout-changed"
    case enumValueAdded = "enum-value-added"
    case enumValueRemoved = "enum-value-removed"
    case enumValueRenamed = "enum-value-renamed"
    case enumValueRenumbered = "enum-value-renumbered"
    case enumTypeChanged = "enum-type-changed"
    case bitFlagsAdded = "bit-flags-added"
    case bitFlagsRemoved = "bit-flags-removed"
    case unionMemberAdded = "union-member-added"
    case unionMemberRemoved = "union-member-removed"
    case unionMemberRenamed = "union-member-renamed"
    case unionMemberRenumbered = "union-member-renumbered"
    case unionMemberTypeChanged = "union-member-type-changed"
    case typeAdded = "type-added"
    case typeRemoved = "type-removed"
    case typeRenamed = "type-renamed"
    /// A table that has become a struct, or similar.
    case typeKindChanged = "type-kind-changed"
    case versionChanged = "version-changed"
    case rootAdded = "root-added"
    case rootRemoved = "root-removed"
    /// The root has another name, and therefore another database table.
    case rootRenamed = "root-renamed"
    /// `root_type` names another table of the schema.
    case rootReplaced = "root-replaced"
    case fileIdentifierChanged = "file-identifier-changed"
    case fileExtensionChanged = "file-extension-changed"
  }

  /// What a change means for stored data. Raw values are stable.
  public enum Severity: String, Comparable, Sendable {
    /// Nothing that is stored is read differently.
    case compatible
    /// Allowed, but noticeable: some values are read differently, or some operations are newly
    /// refused or allowed.
    case caution
    /// Some stored data is lost or misread, by programs of the new version or of the old one.
    case incompatible

    /// In order of severity, the least severe first.
    public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int {
      switch self {
      case .compatible: 0
      case .caution: 1
      case .incompatible: 2
      }
    }
  }

  /// The kind of change.
  public var kind: Kind
  /// Whether the change is harmful.
  public var severity: Severity
  /// The full name of the changed part, such as `Blog.Post.likes`: the new name, or the old one of
  /// a removed part.
  public var subject: String
  /// The change, in one line without a full stop.
  public var message: String
  /// Its effect on stored objects, the database and programs, in one line without a full stop.
  public var effect: String
  /// The position in the old version. For an added part: the position of its container.
  public var old: SourcePosition
  /// The position in the new version. For a removed part: the position of its container.
  public var new: SourcePosition

  /// Creates a change from its parts.
  public init(
    kind: Kind, severity: Severity, subject: String, message: String, effect: String,
    old: SourcePosition, new: SourcePosition
  ) {
    self.kind = kind
    self.severity = severity
    self.subject = subject
    self.message = message
    self.effect = effect
    self.old = old
    self.new = new
  }
}
