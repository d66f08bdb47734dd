// What an import did, and what is wrong with its input.

/// Something that is wrong with a line of an import.
public struct ImportProblem: Error, Sendable, Encodable, CustomStringConvertible {
  /// The number of the line, from 1 up.
  public let line: Int
  /// The field, with the fields around it: `author.name`; nil if it is the line as a whole.
  public let field: String?
  /// What is wrong, in words.
  public let message: String

  /// The line, the field and the message: `line 7: likes: 'many' is no Int32`.
  public var description: String {
    "line \(line): " + (field.map { "\($0): " } ?? "") + message
  }
}

/// How far an import is.
public struct ImportProgress: Sendable {
  /// How many bytes of the input were read.
  public let bytes: Int
  /// How many objects were stored, or looked at.
  public let objects: Int
}

/// What an import did.
///
/// It is encoded with the names of its properties. These do not change; more may be added.
public struct ImportReport: Sendable, Encodable {
  /// The name of the type.
  public let type: String
  /// Whether nothing was to be stored.
  public let isDryRun: Bool
  /// How many objects were stored that the file did not have.
  public internal(set) var inserted = 0
  /// How many objects of the file got other values.
  public internal(set) var updated = 0
  /// How many objects the file had already, with the same values.
  public internal(set) var unchanged = 0
  /// What is wrong with the input. The import ends at the first bad line, if it stores anything.
  public internal(set) var problems: [ImportProblem] = []
  /// The first line whose object is not stored, where the next import goes on; nil if all are.
  public internal(set) var nextLine: Int?

  init(type: String, isDryRun: Bool) {
    self.type = type
    self.isDryRun = isDryRun
  }

  /// The number of objects in the lines that were read.
  public var objects: Int { inserted + updated + unchanged }
}
