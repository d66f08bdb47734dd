// Collects the diagnostics from all phases of one compilation.
//
// Diagnostics are kept in the order in which they were reported, and sorted at the end: file by
// file in order of loading, then by position. Each position has at most one error, the first one;
// later ones at the same position are usually its consequences. Where rules have names, each
// position has one of each rule.

/// Collects the diagnostics of one compilation; used by one thread.
package final class DiagnosticSink {
  /// Caps the number of reported errors so that hostile input cannot exhaust memory.
  package static let errorLimit = 100

  package private(set) var errorCount = 0
  private var found: [(range: SourceRange, diagnostic: Diagnostic)] = []
  private var placesWithErrors: Set<Place> = []

  /// What has at most one error.
  private struct Place: Hashable {
    var range: SourceRange
    var rule: String?
  }

  package init() {}

  /// Reports an error at `range`, unless that exact position already has one of the same rule.
  package func error(
    _ message: String, at range: SourceRange, rule: String? = nil, notes: [Diagnostic] = []
  ) {
    guard placesWithErrors.insert(Place(range: range, rule: rule)).inserted else { return }
    errorCount += 1
    guard errorCount <= Self.errorLimit else { return }
    var diagnostic = range.diagnostic(.error, message, notes: notes)
    diagnostic.rule = rule
    found.append((range, diagnostic))
  }

  /// Reports a warning at `range`.
  package func warning(
    _ message: String, at range: SourceRange, rule: String? = nil, notes: [Diagnostic] = []
  ) {
    guard found.count < 2 * Self.errorLimit else { return }
    var diagnostic = range.diagnostic(.warning, message, notes: notes)
    diagnostic.rule = rule
    found.append((range, diagnostic))
  }

  /// All diagnostics, by file in order of loading, then by position.
  package func sorted() -> [Diagnostic] {
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
  /// A note without a particular position.
  package static func hint(_ message: String) -> Diagnostic {
    Diagnostic(severity: .note, message: message, position: nil)
  }
}

extension SourceRange {
  /// A diagnostic about this range.
  package func diagnostic(
    _ severity: Diagnostic.Severity, _ message: String, notes: [Diagnostic] = []
  ) -> Diagnostic {
    Diagnostic(
      severity: severity, message: printable(message), position: position,
      length: max(1, end - start),
      sourceLine: file.lineText(at: start), notes: notes)
  }

  /// A note at this range.
  package func note(_ message: String) -> Diagnostic { diagnostic(.note, message) }
}

/// `text` in one line of limited length: messages quote arbitrary user input.
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
