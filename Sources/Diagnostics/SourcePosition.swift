// Positions as diagnostics show them.

/// A position in a source file; lines and columns start at 1, columns count bytes.
public struct SourcePosition: Hashable, Sendable {
  /// The path as it was opened.
  public var file: String
  /// The line, from 1.
  public var line: Int
  /// The byte within the line, from 1.
  public var column: Int

  /// Creates a position from its parts.
  public init(file: String, line: Int, column: Int) {
    self.file = file
    self.line = line
    self.column = column
  }
}
