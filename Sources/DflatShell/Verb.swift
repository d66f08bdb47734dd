// The verbs of the command, as data: their help is printed from it, and their arguments are read
// by it.

/// What a verb does, and how it is called.
struct Verb {
  /// An option.
  struct Option {
    let name: String
    /// What its value is; nil if it has none.
    let value: String?
    let text: String
    /// The values that it can have; none if there are others.
    let choices: [String]

    init(_ name: String, _ value: String? = nil, _ text: String, choices: [String] = []) {
      self.name = name
      self.value = value
      self.text = text
      self.choices = choices
    }

    /// Whether its value is the path of a file.
    var isFile: Bool { value.map(Verb.isStore) ?? false }
  }

  let name: String
  /// The operands: `FILE TYPE KEY...`.
  let operands: String
  /// How many operands there are.
  let count: ClosedRange<Int>
  /// One line.
  let summary: String
  /// Some lines.
  let text: String
  let options: [Option]
  /// Command lines, without the name of the program, and what they are for.
  let examples: [(line: String, purpose: String)]

  /// The options of every verb.
  static let common = [
    Option("--json", nil, "prints JSON instead of text"),
    Option("--schema", "FILE.fbs", "shows a type by this schema; may be given several times"),
    Option("--help", nil, "prints this text"),
  ]

  /// All options, those of every verb last.
  var allOptions: [Option] { options + Self.common }

  /// All verbs.
  static let all = looking + storing + [dictionary] + checking + caring + watching + shells

  /// What shows objects.
  private static let looking = [
    Verb(
      name: "info", operands: "FILE", count: 1...1,
      summary: "what is in a file: types, rows, indexes, pages, hazards",
      text: """
        Objects of files of more than 64 MiB are not counted: the greatest row id is shown then,
        as "≤ 1000". With --json one object is printed: "path", "bytes", "logBytes", "pageBytes",
        "pages", "freePages", "journalMode", "autoVacuum", "sqliteVersion", "libraryVersion",
        "types", "dictionaryEntries", "otherTables", "hazards". A type has "name", "fullName",
        "table", "rows", "rowsAreCounted", "names" ("kept" in the file, from a "file", or
        "unknown"), "shapes" and "indexes". On a server "path", "schema", "bytes",
        "serverVersion", "libraryVersion", "types" and "dictionaryEntries" are printed, and the
        objects of large tables are estimated, as "~ 1000".
        """,
      options: [Option("--count", nil, "counts the objects of large files, too")],
      examples: [("info blog.db", "what is in the file")]),
    Verb(
      name: "schema", operands: "FILE [TYPE]", count: 1...2,
      summary: "the types as text that dflatc compiles to the same layout",
      text: """
        Namespaces are in lower case, and deprecated fields have made-up names and the type ubyte,
        if the schema is the one that the file keeps. With --json: one object with the text of
        each type by the name of its table.
        """,
      options: [],
      examples: [
        ("schema blog.db", "all types"), ("schema blog.db Post", "one type"),
      ]),
    Verb(
      name: "get", operands: "FILE TYPE KEY...", count: 3...64,
      summary: "one object as JSON",
      text: """
        A key of several fields has several operands, in the order of the fields. The exit
        status is 1 if there is no such object; then null is printed with --json.
        """,
      options: [], examples: [("get blog.db Post notes 1", "the post with this key")]),
    Verb(
      name: "query", operands: "FILE QUERY", count: 2...2,
      summary: "the objects that a query finds; see 'dflat help query'",
      text: QueryHelp.text,
      options: [
        Option("--count", nil, "prints the number of objects only"),
        Option("--select", "EXPRESSIONS", "prints the values of these, between commas"),
        Option("--explain", nil, "prints how the query is answered, and does not answer it"),
        Option("--watch", nil, "prints the answer again when it has changed, until Ctrl-C"),
      ],
      examples: [
        (
          "query blog.db \"Post where likes > 10 and attachment is Photo order by likes desc\"",
          "objects"
        ),
        ("query blog.db --count \"Post where status = Draft\"", "their number"),
        ("query blog.db --select \"site, likes * 2\" \"Post limit 5\"", "some values"),
        ("query blog.db --explain \"Post where likes > 10\"", "which indexes are used"),
      ]),
    Verb(
      name: "export", operands: "FILE TYPE", count: 2...2,
      summary: "all objects of a type as JSON lines or CSV",
      text: """
        The objects are those of one state, in the order in which they were stored. The file of
        --output appears when it is whole. One that is there is replaced only with --yes, or if a
        person at a terminal agrees; the file that is read, and what belongs to it, never is.
        With --json the objects are printed as JSON lines, or with --output an object with "path"
        and "objects"; it cannot be given with --format csv.
        """,
      options: [
        Option(
          "--format", "FORMAT", "jsonl (default): one JSON object in each line; or csv",
          choices: ["jsonl", "csv"]),
        Option("--output", "FILE", "writes into this file instead of standard output"),
        Option("--yes", nil, "replaces the file of --output without asking"),
      ],
      examples: [
        ("export blog.db Post", "JSON lines"), ("export blog.db Post --format csv", "a table"),
      ]),
  ]

  private static let dictionary = Verb(
    name: "dictionary", operands: "FILE [get KEY | set KEY VALUE | remove KEY]", count: 1...4,
    summary: "the values under names: list, get, set, remove",
    text: """
      Setting and removing are transactions that running programs see. On a terminal they ask
      first. The exit status is 1 if there is no value under the key. With --json: an array
      of objects with "key", "namespace", "kind" and "value"; for get, set and remove one such
      object, that which is there, is stored or is removed, or null if there is none.
      """,
    options: [
      Option(
        "--type", "TYPE", "what VALUE is: string (default), int, double or bool",
        choices: ["string", "int", "double", "bool"]),
      Option("--yes", nil, "changes without asking; needed where there is no terminal"),
      Option("--dry-run", nil, "says what would be changed, and changes nothing"),
    ],
    examples: [
      ("dictionary blog.db", "all of them"),
      ("dictionary blog.db set theme dark --yes", "one value"),
      ("dictionary blog.db get theme", "one value"),
    ])

  /// What looks at whole files.
  private static let checking = [
    Verb(
      name: "check", operands: "FILE", count: 1...1,
      summary: "whether the file, its objects and its indexes are sound",
      text: """
        Reads the whole file, or the whole database on a server, and changes nothing. The last
        line says what to do next. The exit status is 1 if objects are damaged, an index is wrong,
        or programs cannot use the file. With --json one object is printed: "findings", each with
        "kind", "severity" ("damage", "repairable" or "note"), "table", "row", "message" and
        "advice"; "isCut", "checkedTypes", "uncheckedTables".
        """,
      options: [Option("--limit", "N", "reports at most N findings (100)")],
      examples: [("check blog.db", "everything")]),
    .repair,
    Verb(
      name: "stats", operands: "FILE", count: 1...1,
      summary: "how many pages each table and index takes",
      text: """
        Reads the whole file. With --json: an array of objects with "name", "type", "pages",
        "bytes", "payload" and "unused". Without it, the last lines say how large the log is, and
        which processes read it at this moment and so keep it from restarting. On a server an
        object has "name", "type" and "bytes".
        """,
      options: [], examples: [("stats blog.db", "all tables, the greatest first")]),
    Verb(
      name: "backup", operands: "FILE TARGET", count: 2...2,
      summary: "a copy of one state, made beside running programs, and checked",
      text: """
        TARGET is a new file, or a folder that holds the backups of one file, which is there or
        whose name ends in "/". In a folder the first backup is a database, and those after it
        have only the pages that have changed; 'dflat restore' makes a database of each. With
        --json: an object with "path" and "bytes".
        """,
      options: [
        Option("--keep", "N", "in a folder: keeps so many backups, and removes older ones")
      ],
      examples: [
        ("backup blog.db copy.db", "a copy"),
        ("backup blog.db backups/ --keep 7", "one more in a folder"),
      ]),
    Verb(
      name: "diff", operands: "FILE OTHER [TYPE...]", count: 2...64,
      summary: "in which objects two files differ, by key and field by field",
      text: """
        "-" stands before objects that only FILE has, "+" before those that only OTHER has, and
        "~" before those with different values. Without a TYPE also the dictionaries are compared,
        as objects of the type "dictionary". The exit status is 1 if there are any differences.
        With --json: one object in each line, with "type", "key", "kind" ("onlyInFirst",
        "onlyInSecond" or "changed") and "fields", each with "name", "first" and "second".
        """,
      options: [], examples: [("diff blog.db blog.db", "a file and itself: nothing differs")]),
  ]

  /// Whether a word of the help stands for a file or a database.
  private static func isStore(_ word: some StringProtocol) -> Bool {
    let words = [
      "ADDRESS", "BACKUP", "BROKEN", "FILE", "FILE.fbs", "INPUT", "NEW", "OTHER", "TARGET",
    ]
    return words.contains(String(word))
  }

  /// The operands and options that are files or databases.
  func stores(of arguments: Arguments) -> [String] {
    let operands = zip(self.operands.split(separator: " "), arguments.operands)
    return operands.filter { Self.isStore($0.0) }.map(\.1)
      + allOptions.filter(\.isFile).flatMap { arguments.all($0.name) }
  }

  /// The verb with a name; nil if there is none.
  static func named(_ name: String) -> Verb? { all.first { $0.name == name } }
}
