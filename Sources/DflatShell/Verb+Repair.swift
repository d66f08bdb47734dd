// The description of the verb repair.

extension Verb {
  static let repair = Verb(
    name: "repair", operands: "BROKEN -o NEW", count: 1...1,
    summary: "a new file with what a damaged one still has",
    text: """
      Looks at every page of BROKEN and of the log beside it, and changes neither. A row is whole
      if it stood where it belongs, recovered if it was found elsewhere, doubtful if its bytes
      contradict themselves or were guessed in parts: then it is in the table dflat_doubtful of
      NEW. It is lost if only an index still knows it; "≥ 5" if no whole index tells. The exit
      status is 1 if anything is doubtful or lost. With --json one object is printed: "source",
      "target", "pageBytes", "pages", "damagedFrames", "hasDamagedJournal", "unreadableSectors",
      "damage", "notCreated" and "tables", each with "name", "table", "hasSchema", "whole", "recovered",
      "doubtful", "lost", "lostKeys", "mayLackMore".
      """,
    options: [Option("--output", "NEW", "the new file; nothing is there yet")],
    examples: [
      ("repair blog.db -o saved.db", "saves what the file has")
    ])
}
