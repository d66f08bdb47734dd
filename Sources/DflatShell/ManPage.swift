// ManPage: the help as a page for man, in the macros that all of its versions know.

/// The pages.
enum ManPage {
  /// The page of the program, with all verbs.
  static var general: String {
    head("dflat", "looks inside files that Dflat stores objects in")
      + section("SYNOPSIS", ".B dflat\n\\fIVERB\\fR \\fIFILE\\fR ...\n")
      + section(
        "DESCRIPTION",
        text(
          """
          Shows, checks and changes files that Dflat stores objects in. Verbs that only look leave
          no trace, and work beside running programs.

          FILE can also be a database on a server: postgresql://USER@HOST/DATABASE, with #NAME
          behind it if its PostgreSQL schema is not dflat. A verb that is for files only says so.

          \(Help.errorsAsJSON)
          """))
      + ".SH VERBS\n" + Verb.all.map { ".SS \(plain($0.name))\n" + body(of: $0) }.joined()
      + section("EXIT STATUS", exitStatus)
  }

  /// The page of a verb.
  static func page(of verb: Verb) -> String {
    head("dflat-\(verb.name)", verb.summary) + ".SH SYNOPSIS\n" + body(of: verb)
      + section("EXIT STATUS", exitStatus)
  }

  private static func head(_ name: String, _ summary: String) -> String {
    ".TH \(plain(name.uppercased())) 1\n.SH NAME\n\(plain(name)) \\- \(plain(summary))\n"
  }

  private static func section(_ title: String, _ body: String) -> String { ".SH \(title)\n\(body)" }

  private static func body(of verb: Verb) -> String {
    var page = ".B dflat \(plain(verb.name))\n\(plain(verb.operands)) [options]\n.PP\n"
    page += text(verb.text)
    for option in verb.allOptions {
      let value = option.value.map { " \\fI\(plain($0))\\fR" } ?? ""
      page += ".TP\n\\fB\(plain(option.name))\\fR\(value)\n\(plain(option.text))\n"
    }
    if !verb.examples.isEmpty { page += ".PP\nExamples:\n" }
    for (line, purpose) in verb.examples {
      page += ".TP\n\\fBdflat \(plain(line))\\fR\n\(plain(purpose))\n"
    }
    return page
  }

  /// Paragraphs are filled; what is indented stays as it is.
  private static func text(_ text: String) -> String {
    var page = ""
    var isTable = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      let isIndented = line.hasPrefix("  ")
      if isIndented != isTable { page += isIndented ? ".PP\n.nf\n" : ".fi\n.PP\n" }
      isTable = isIndented
      if !line.isEmpty { page += plain(String(line)) + "\n" } else if !isTable { page += ".PP\n" }
    }
    return page + (isTable ? ".fi\n" : "")
  }

  private static let exitStatus = Help.statuses.map { status, meaning in
    ".TP\n\(status)\n\(plain(meaning))\n"
  }.joined()

  /// A text without what has a meaning for man.
  private static func plain(_ text: String) -> String {
    let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
      .replacing("\"", with: "\\(dq").replacing("≤", with: "<=").replacing("'", with: "\\(aq")
    return escaped.hasPrefix(".") ? "\\&" + escaped : escaped
  }
}
