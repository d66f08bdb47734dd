// The verbs that put something into files, as data.

extension Verb {
  private static let yes = Option(
    "--yes", nil, "changes without asking; needed where there is no terminal")
  private static let dryRun = Option(
    "--dry-run", nil, "says what would be changed, and changes nothing")

  /// Objects into files.
  static let storing = [
    Verb(
      name: "import", operands: "FILE TYPE INPUT", count: 3...3,
      summary: "stores objects of JSON lines or CSV, as export writes them",
      text: """
        INPUT is a file, or - for standard input. An object replaces the one with its key, or is
        new; fields that its line lacks get their defaults. Each 5000 objects are a transaction,
        which running programs see. The first bad line ends the import, with status 65, and the
        message says with which line to go on. A type that the file does not have yet, and a new
        file, need --schema.

        With --json one object is printed: "type", "isDryRun", "inserted", "updated",
        "unchanged", and "problems", each with "line", "field" and "message". There is "nextLine",
        too, if an import that stores objects has ended at a bad line.
        """,
      options: [
        Option(
          "--format", "FORMAT", "jsonl or csv; by default what INPUT ends with, or else jsonl",
          choices: ["jsonl", "csv"]),
        Option("--from-line", "N", "leaves out the lines before this one"),
        Option("--one-transaction", nil, "stores all objects, or none"),
        yes, Option("--dry-run", nil, "reads all lines, compares, and stores nothing"),
      ],
      examples: [
        ("import blog.db Post posts.jsonl --dry-run", "what would be stored, and what is wrong"),
        ("import blog.db Post posts.jsonl --yes", "JSON lines"),
        ("import new.db Post posts.csv --schema post.fbs --yes", "CSV, into a new file"),
      ]),
    Verb(
      name: "copy", operands: "FILE OTHER [TYPE...]", count: 2...64,
      summary: "stores the objects of a file in another one",
      text: """
        Objects replace those with their keys; others stay. Without TYPE all types are copied,
        and the dictionary. OTHER is created if it is not there. One state of FILE is copied,
        beside running programs. With --json: an array of objects with "type", "inserted",
        "updated" and "unchanged", or with --dry-run with "type" and "objects". FILE, OTHER or
        both can be databases on servers.
        """,
      options: [yes, dryRun],
      examples: [
        ("copy blog.db other.db --yes", "everything"),
        ("copy blog.db other.db Post --yes", "one type"),
      ]),
    Verb(
      name: "prepare", operands: "ADDRESS", count: 1...1,
      summary: "creates what programs need in a database on a server",
      text: """
        Creates the tables, columns and indexes of types that are missing, and returns when the
        indexes are complete. Programs whose roles may not create anything can start then. The
        types are those of --schema and --from, or else those that the database has. Objects stay
        as they are. With --print nothing is changed: the statements that create what is missing
        now are printed for psql, and with --role all those that give a role what a program needs.
        Columns that are new in a table with objects are filled by programs then. Everything else
        that it says goes to the standard error stream. With --json: an object with "types" and
        "grants", or with --print an array of statements.
        """,
      options: [
        Option("--from", "FILE", "prepares for the types of this file or database"),
        Option("--print", nil, "prints the statements, and changes nothing"),
        Option("--role", "ROLE", "prints the GRANT statements for this role"),
        Option("--read-only", nil, "the role only reads"), yes,
      ],
      examples: [
        (
          "prepare postgresql://owner@db.example/app --schema post.fbs --yes",
          "a type that programs will use"
        ),
        (
          "prepare postgresql://owner@db.example/app --from blog.db --print --role app",
          "the statements for the types of a file"
        ),
      ]),
  ]

  /// Care for whole files.
  static let caring = [
    Verb(
      name: "restore", operands: "BACKUP FILE", count: 2...2,
      summary: "puts a checked copy of a backup where it is used",
      text: """
        BACKUP is a file, or a folder of backups, of which the newest is taken. Nothing is changed
        if the backup is damaged. With --replace a file that is there is
        replaced, which no program may have open; it is kept beside the new one, with
        ".replaced" behind its name. With --json: an object with "path", "bytes" and "replaced".
        """,
      options: [Option("--replace", nil, "replaces FILE if it is there"), yes],
      examples: [
        ("restore backup.db restored.db", "to a new place"),
        ("restore backups/ newest.db", "the newest one of a folder"),
        ("restore backup.db blog.db --replace --yes", "in the place of a file"),
      ]),
    Verb(
      name: "vacuum", operands: "FILE", count: 1...1,
      summary: "makes a file smaller: without free pages, rows next to each other",
      text: """
        A new file is written and checked, and takes the place of the old one. No program may
        have that open; with --incremental programs may run, and free pages are given back in
        steps. With --json: an object with "path", "bytesBefore" and, unless --dry-run is given,
        "bytesAfter".
        """,
      options: [
        Option("--incremental", nil, "gives free pages back, and leaves the rows where they are"),
        yes, dryRun,
      ],
      examples: [
        ("vacuum blog.db --yes", "a new file"),
        ("vacuum blog.db --incremental --yes", "in steps, beside running programs"),
      ]),
  ]

  /// What goes on until it is ended.
  static let watching = [
    Verb(
      name: "watch", operands: "FILE [TYPE...]", count: 1...64,
      summary: "what programs commit, as it happens, until Ctrl-C",
      text: """
        "+" stands before new objects, "-" before deleted ones, and "~" before those that got
        other values. What several transactions change within a tenth of a second is shown as
        one change. The objects are kept in memory, and read again after each commit. With
        --json: one object in each line, with "type", "table", "row", "key", "kind" ("inserted",
        "updated" or "deleted") and "fields", each with "name", "old" and "new".
        """,
      options: [],
      examples: [("watch blog.db", "all types"), ("watch blog.db Post --json", "JSON lines")]),
    Verb(
      name: "serve", operands: "FILE", count: 1...1,
      summary: "shows a file in a browser, until Ctrl-C",
      text: """
        Prints an address. It opens the page once, in a browser on this machine; the page is worth
        one session of that browser. It shows types, objects, queries with their plans, what
        programs commit as it happens, and the file's health. With --allow-changes it can store
        objects, after it has shown what differs. FILE can be a database on a server. With --json:
        an object with "address".
        """,
      options: [Option("--allow-changes", nil, "objects can be changed in the page")],
      examples: [
        ("serve blog.db", "to look at"),
        ("serve blog.db --allow-changes", "to change objects, too"),
      ]),
  ]

  /// What needs no file.
  static let shells = [
    Verb(
      name: "completions", operands: "SHELL", count: 1...1,
      summary: "the completion of command lines for bash, zsh or fish",
      text: """
        For bash: dflat completions bash > ~/.local/share/bash-completion/completions/dflat
        For zsh, in a folder of $fpath: dflat completions zsh > ~/.zfunc/_dflat
        For fish: dflat completions fish > ~/.config/fish/completions/dflat.fish
        With --json: an object with "shell" and "script".
        """,
      options: [],
      examples: [("completions bash", "to be loaded by bash")])
  ]
}
