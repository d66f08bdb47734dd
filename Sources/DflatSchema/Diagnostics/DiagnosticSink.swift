// Where the phases of one compilation put their findings.
//
// Findings are kept in the order they were made and sorted by place at the end, file by file in order of loading.
// One place has at most one error: the first one said there is the reason, the others are its echo.

/// Collects the diagnostics of one compilation; used by one thread.
final class DiagnosticSink {
  /// Beyond this many errors nobody reads on, and a hostile input should not fill the memory.
  static let errorLimit = 100

  private(set) var errorCount = 0
  private var found: [(range: SourceRange, diagnostic: Diagnostic)] = []
  private var placesWithErrors: Set<SourceRange> = []

  /// Reports an error at `range`, unless that very place has one already.
  func error(_ message: String, at range: SourceRange, notes: [Diagnostic] = []) {
    guard placesWithErrors.insert(range).inserted else { return }
    errorCount += 1
    guard errorCount <= Self.errorLimit else { return }
    found.append((range, range.diagnostic(.error, message, notes: notes)))
  }

  /// Reports a warning at `range`.
  func warning(_ message: String, at range: SourceRange, notes: [Diagnostic] = []) {
    guard found.count < 2 * Self.errorLimit else { return }
    found.append((range, range.diagnostic(.warning, message, notes: notes)))
  }

  /// All findings, by file in order of loading, then by place.
  func sorted() -> [Diagnostic] {
    var result = found.enumerated().sorted { left, right in
      let (a, b) = (left.element.range, right.element.range)
      return (a.file.index, a.start, left.offset) < (b.file.index, b.start, right.offset)
    }.map(\.element.diagnostic)
    if errorCount > Self.errorLimit {
      result.append(.hint("\(errorCount - Self.errorLimit) more errors are not shown"))
    }
    return result
  }
}

extension Diagnostic {
  /// A note about no particular place.
  static func hint(_ message: String) -> Diagnostic {
    Diagnostic(severity: .note, message: message, position: nil)
  }
}

extension SourceRange {
  /// A diagnostic about this range.
  func diagnostic(
    _ severity: Diagnostic.Severity, _ message: String, notes: [Diagnostic] = []
  ) -> Diagnostic {
    Diagnostic(
      severity: severity, message: printable(message), position: position,
      length: max(1, end - start),
      sourceLine: file.lineText(at: start), notes: notes)
  }

  /// A note that points here.
  func note(_ message: String) -> Diagnostic { diagnostic(.note, message) }
}

/// `text` in one line of reasonable length: messages quote what the user wrote, and that can be anything.
private func printable(_ text: String) -> String {
  let limit = 400
  var result = ""
  for (count, scalar) in text.unicodeScalars.enumerated() {
    if count == limit { return result + "…" }
    if scalar.value < 0x20 || scalar.value == 0x7F {
      result += scalar.escaped(asASCII: true)
    } else {
      result.unicodeScalars.append(scalar)
    }
  }
  return result
}
