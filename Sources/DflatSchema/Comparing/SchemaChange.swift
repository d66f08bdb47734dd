// One difference between two versions of a schema, as data.
//
// A change always has two places, so that a tool can show both sides: what is only in one version has the place of what
// it belongs to in the other one (a removed field: the table). Kinds and severities are part of the format of
// `dflatc check --json`; their raw values do not change.

/// A difference between an older and a newer version of a schema, and what it does to what is stored.
public struct SchemaChange: Sendable, Hashable {
  /// What has changed. Raw values are stable.
  public enum Kind: String, CaseIterable, Sendable {
    case fieldAdded = "field-added"
    /// In front of others, whose slots it shifts, or in the slot of one that is gone.
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
    /// A table that has become a struct, and the like.
    case typeKindChanged = "type-kind-changed"
    case versionChanged = "version-changed"
    case rootAdded = "root-added"
    case rootRemoved = "root-removed"
    /// The root has another name, and so another database table.
    case rootRenamed = "root-renamed"
    /// `root_type` names another table of the schema.
    case rootReplaced = "root-replaced"
    case fileIdentifierChanged = "file-identifier-changed"
    case fileExtensionChanged = "file-extension-changed"
  }

  /// What a change means for those who have stored something. Raw values are stable.
  public enum Severity: String, Comparable, Sendable {
    /// Nothing that is stored is read differently.
    case compatible
    /// Allowed, and somebody will notice: something reads, or is refused, otherwise than before.
    case caution
    /// Something stored is lost or misread, by programs of the new version or by those of the old one.
    case incompatible

    /// By harm, the least first.
    public static func < (left: Severity, right: Severity) -> Bool { left.rank < right.rank }

    private var rank: Int {
      switch self {
      case .compatible: 0
      case .caution: 1
      case .incompatible: 2
      }
    }
  }

  /// What has changed.
  public var kind: Kind
  /// Whether it does harm.
  public var severity: Severity
  /// The full name of what has changed, `Blog.Post.likes`: the new name, or the old one of what is gone.
  public var subject: String
  /// What has changed, in one line without a full stop.
  public var message: String
  /// What that does to stored objects, to the database and to programs, in one line without a full stop.
  public var effect: String
  /// Where it is in the old version. For what is new: where that is which it belongs to.
  public var old: SourcePosition
  /// Where it is in the new version. For what is gone: where that is which it belonged to.
  public var new: SourcePosition

  /// Makes a change from its parts.
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
