// IntegrityFinding: something in the stored data that contradicts the schema or itself.

/// Something that a check of the stored data has found; see ``Workspace/checkIntegrity(of:limit:)``.
public struct IntegrityFinding: Sendable, Equatable, CustomStringConvertible {
  /// What is wrong. Further kinds may be added.
  public struct Kind: RawRepresentable, Sendable, Hashable, CustomStringConvertible {
    /// The name of the kind.
    public let rawValue: String

    /// A kind with a name, for engines.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The name of the kind.
    public var description: String { rawValue }

    /// The storage itself is damaged. Save what can be read, and restore a backup.
    public static let damagedFile = Kind(rawValue: "damagedFile")
    /// A row's bytes are not an object of the schema. Results leave it out. Delete it by its row
    /// id, and store the object again.
    public static let damagedRow = Kind(rawValue: "damagedRow")
    /// A row is stored under another primary key than its object has. Update the object.
    public static let wrongKey = Kind(rawValue: "wrongKey")
    /// An index lacks an object that it should have. The next query that uses the index repairs it.
    public static let missingIndexRow = Kind(rawValue: "missingIndexRow")
    /// An index has another value than the object. The next query that uses the index repairs it.
    public static let wrongIndexRow = Kind(rawValue: "wrongIndexRow")
    /// An index has a row without an object. The next query that uses the index repairs it.
    public static let orphanIndexRow = Kind(rawValue: "orphanIndexRow")
    /// An index cannot be read. The next transaction of the type creates it anew.
    public static let damagedIndex = Kind(rawValue: "damagedIndex")
    /// A full-text index has other words than the object. Drop its table, and it is built anew.
    public static let wrongWords = Kind(rawValue: "wrongWords")
    /// A reference has a key that no object has. Nothing forbids that: whether it is a mistake is
    /// the program's business.
    public static let danglingReference = Kind(rawValue: "danglingReference")
  }

  /// What is wrong.
  public let kind: Kind
  /// The table concerned; nil if it is the whole storage.
  public let table: String?
  /// The row concerned.
  public let rowid: Int64?
  /// A description for people.
  public let message: String

  /// Creates a finding, for engines.
  package init(_ kind: Kind, table: String? = nil, rowid: Int64? = nil, message: String) {
    self.kind = kind
    self.table = table
    self.rowid = rowid
    self.message = message
  }

  /// One line: `wrongIndexRow: table post__f10, row 7: likes: 5 is not what the index has`.
  public var description: String {
    var place: [String] = []
    if let table { place.append("table \(table)") }
    if let rowid { place.append("row \(rowid)") }
    return "\(kind): " + (place.isEmpty ? "" : place.joined(separator: ", ") + ": ") + message
  }
}

/// An engine that can check what it has stored.
package protocol IntegrityCheckingStorageEngine: StorageEngine {
  /// Checks one state of what is stored, without changing anything.
  /// - Parameters:
  ///   - schemas: The types whose objects and indexes are checked.
  ///   - limit: The greatest number of findings.
  func checkIntegrity(of schemas: [EntitySchema], limit: Int) throws -> [IntegrityFinding]
}
