// The help, made of the verbs.

/// The texts of `--help` and `help`.
enum Help {
  /// What the exit status of the program means.
  static let statuses = [
    (0, "all is well"), (1, "nothing is there, files differ, or something is damaged"),
    (64, "the call makes no sense"), (65, "bad data"), (66, "there is no such file"),
    (74, "a file cannot be read or written"),
  ]

  /// What --json makes of errors.
  static let errorsAsJSON = """
    With --json an error is a line of JSON on the standard error stream: an object with "error"
    and "status". That nothing was found is null, and beside it a text, as notes are.
    """

  static let general =
    """
    usage: dflat VERB FILE ...

    Looks inside files that Dflat stores objects in. Looking leaves no trace, and works beside
    running programs.

    FILE can also be a database on a server: postgresql://USER@HOST/DATABASE, with #NAME behind
    it if its PostgreSQL schema is not dflat. A verb that is for files only says so.


    """
    + Verb.all.map { "  \($0.name.padded(to: 13))\($0.summary)\n" }.joined() + """

      dflat help VERB shows how a verb is called, and dflat help --man [VERB] the same as a page
      for man.

      \(errorsAsJSON)

      exit status:

      """ + statuses.map { "  \("\($0)".padded(to: 4))\($1)\n" }.joined()

  static func text(of verb: Verb) -> String {
    var text = "usage: dflat \(verb.name) \(verb.operands) [options]\n\n\(verb.text)\n\noptions:\n"
    for option in verb.allOptions {
      let name = option.name + (option.value.map { " \($0)" } ?? "")
      text += "  \(name.padded(to: 22))\(option.text)\n"
    }
    text += "\nexamples:\n"
    for (line, purpose) in verb.examples { text += "  dflat \(line)\n      \(purpose)\n" }
    return text
  }
}

extension String {
  fileprivate func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(2, width - count))
  }
}

/// The text form of queries on one screen.
enum QueryHelp {
  static let text = """
    A query: TYPE [where CONDITION] [order by KEY [desc], ...] [limit N] [offset N]

      fields        likes   place.lat   author.name   (through a reference, too)
      constants     10   -2.5   'it''s'   "a\\n"   true   null
      enums         status = Draft   status in (Draft, Archived)
      unions        attachment is Photo   attachment is null   attachment.Photo.width > 640
      comparing     =  !=  <  <=  >  >=   between 1 and 5   in (1, 2)   like 'a%'
      logic         and   or   not   ( )
      numbers       + - * / %   abs(x)
      texts         title.hasPrefix('a')   .hasSuffix   .contains   .caseInsensitive
      vectors       'a' in tags   tags.count   tags.any { $0 like 'a%' }   tags.all { ... }
      search        search('hello wor*')   title.search('hello')

    What is missing is unknown, and an object is found only if the condition is exactly true.
    Texts are compared by their bytes. `name` in back-ticks is a field, whatever it is called.
    With --json: an array of objects; with --count a number; with --explain an object with
    "statement", "plan", "indexes", "indexedFields", "rowByRow" and "isSortedInMemory".
    --count, --select and --explain are different answers: one of them can be given.
    """
}
