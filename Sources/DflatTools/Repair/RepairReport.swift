// What a repair has found, and what came of it.

/// What a repair has brought back of one table.
public struct RepairedTable: Sendable, Encodable {
  /// The name of the type; of its table, if nothing else is known.
  public let name: String
  /// The table.
  public let table: String
  /// Whether its rows are objects that were compared with a schema.
  public let hasSchema: Bool
  /// How many rows stood where they belong.
  public internal(set) var whole = 0
  /// How many rows were found elsewhere: in pages that nothing led to any more, in the log behind
  /// damage, or in what is left of a page.
  public internal(set) var recovered = 0
  /// How many rows are in the table `dflat_doubtful` of the new file, since their bytes contradict
  /// themselves, or parts of them are missing or guessed.
  public internal(set) var doubtful = 0
  /// How many rows are known to have been there, from the index of the primary key, and are gone.
  public internal(set) var lost = 0
  /// The keys of lost rows, as far as they are known: the first hundred. An element is a value of
  /// the key as text, in the order of its fields.
  public internal(set) var lostKeys: [[String]] = []

  /// Whether more rows may be lost than those counted: parts of the table could not be reached, and
  /// no whole index says which rows they had.
  public internal(set) var mayLackMore = false

  /// Whether nothing is lost or doubtful.
  public var isComplete: Bool { doubtful == 0 && lost == 0 && !mayLackMore }
}

/// What a repair has found, and what is in the new file.
public struct RepairReport: Sendable, Encodable {
  /// The path of the damaged file.
  public let source: String
  /// The path of the new file.
  public let target: String
  /// The size of the pages in bytes.
  public let pageBytes: Int
  /// How many pages there are, in the file and in its log.
  public let pages: Int
  /// How many frames of the log before its last commit are damaged.
  public let damagedFrames: Int
  /// How many sectors of 512 bytes the disk could not read.
  public let unreadableSectors: Int
  /// Whether a rollback journal is beside the file that cannot be read whole: a part of a
  /// transaction that was interrupted may be in the file.
  public let hasDamagedJournal: Bool
  /// The tables of the new file, the types first.
  public internal(set) var tables: [RepairedTable] = []
  /// What is wrong with the damaged file, in words; the first of it.
  public internal(set) var damage: [String] = []
  /// What the damaged file had and the new one lacks: indexes, triggers and views that could not be
  /// created, with the reason.
  public internal(set) var notCreated: [String] = []

  /// Whether nothing is lost or doubtful, and nothing could not be created.
  public var isComplete: Bool {
    tables.allSatisfy(\.isComplete) && notCreated.isEmpty && !hasDamagedJournal
  }

  /// The one thing to do next.
  public var nextStep: String {
    if isComplete { return "use \(target), and keep \(source) until the program has run with it" }
    if tables.contains(where: { $0.doubtful > 0 }) {
      return "look at the rows of dflat_doubtful in \(target), take the lost ones from a backup, "
        + "and keep \(source)"
    }
    return "take what is lost from a backup, and keep \(source)"
  }
}
