// Collects the diagnostics from all phases of one compilation.
//
// Diagnostics are kept in the order in which they were reported, and sorted at the end: file by
// file in order of loading, then by position. Each position has at most one error, the first one;
// later ones at the same position are usually its consequences.

/// Collects the diagnostics of one compilation; used by one thread.
final class DiagnosticSink {
  /// Caps the number of reported errors so that hostile input cannot exhaust memory.
  static let errorLimit = 100

  private(set) var errorCount = 0
  private var found: [(range: SourceRange, diagnostic: Diagnostic)] = []
  private var placesWithErrors: Set<SourceRange> = []

  /// Reports an error at `range`, unless that exact position already has one.
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

  /// All diagnostics, by file in order of loading, then by position.
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
  /// A note without a particular position.
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

  /// A note at this range.
  func note(_ message: String) -> Diagnostic { diagnostic(.note, message) }
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
