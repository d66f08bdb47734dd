// A source file's bytes, and positions in them.
//
// All code that reads a text works on byte offsets; lines and columns are computed only for
// messages. Offsets are always within 0...bytes.count.

/// One loaded file.
public final class SourceFile: Sendable {
  /// The path as it was opened; what diagnostics show.
  public let path: String
  /// The index in the order of loading; 0 is the compiled file.
  package let index: Int
  package let bytes: [UInt8]
  /// The offset of each line's first byte.
  private let lineStarts: [Int]

  /// Longer lines are machine-generated; showing them does not help.
  private static let longestShownLine = 400

  package init(path: String, index: Int, bytes: [UInt8]) {
    self.path = path
    self.index = index
    self.bytes = bytes
    var starts = [0]
    // Unoptimised, an iterator would take ten times as long for each byte.
    var offset = 0
    let count = bytes.count
    while offset < count {
      if bytes[offset] == 10 { starts.append(offset + 1) }
      offset += 1
    }
    lineStarts = starts
  }

  /// The index in `lineStarts` of the line that contains `offset`.
  package func lineIndex(at offset: Int) -> Int {
    var low = 0
    var high = lineStarts.count
    while high - low > 1 {
      let middle = (low + high) / 2
      if lineStarts[middle] <= offset { low = middle } else { high = middle }
    }
    return low
  }

  package func position(at offset: Int) -> SourcePosition {
    let line = lineIndex(at: offset)
    return SourcePosition(file: path, line: line + 1, column: offset - lineStarts[line] + 1)
  }

  /// The offset of a position in this file.
  package func offset(of position: SourcePosition) -> Int {
    guard lineStarts.indices.contains(position.line - 1) else { return bytes.count }
    return min(lineStarts[position.line - 1] + position.column - 1, bytes.count)
  }

  /// The length of the name, dotted path or quoted string that begins at `offset`; at least 1.
  package func wordLength(at offset: Int) -> Int {
    guard offset < bytes.count else { return 1 }
    let rest = bytes[offset...]
    if rest.first == UInt8(ascii: "\"") || rest.first == UInt8(ascii: "'") {
      let end = rest.dropFirst().firstIndex { $0 == rest.first || $0 == UInt8(ascii: "\n") }
      return (end ?? bytes.count - 1) - offset + 1
    }
    return max(
      1,
      rest.prefix { isIdentifierStart($0) || isDigit($0) || $0 == UInt8(ascii: ".") }.count)
  }

  /// The text of the line that contains `offset`, without control characters except tabs; empty if
  /// it is too long to show.
  package func lineText(at offset: Int) -> String {
    let line = lineIndex(at: offset)
    let start = lineStarts[line]
    var end = line + 1 < lineStarts.count ? lineStarts[line + 1] - 1 : bytes.count
    if end > start, bytes[end - 1] == UInt8(ascii: "\r") { end -= 1 }
    guard end - start <= Self.longestShownLine else { return "" }
    let shown = bytes[start..<end].map { byte in
      (byte < 0x20 && byte != UInt8(ascii: "\t")) || byte == 0x7F ? UInt8(ascii: "?") : byte
    }
    // A replacement character is wider than the byte it replaces, and underlines count bytes.
    return String(validating: shown, as: UTF8.self)
      ?? String(decoding: shown.map { $0 < 0x80 ? $0 : UInt8(ascii: "?") }, as: UTF8.self)
  }
}

/// A range in a source file.
public struct SourceRange: Hashable, Sendable {
  /// The file.
  public var file: SourceFile
  /// The offset of the first byte.
  public var start: Int
  /// The offset behind the last byte.
  public var end: Int

  /// Creates a range; the offsets must be in the file.
  package init(file: SourceFile, start: Int, end: Int) {
    self.file = file
    self.start = start
    self.end = end
  }

  /// The text of the range; bytes that are not UTF-8 are replaced.
  public var text: String { String(decoding: file.bytes[start..<end], as: UTF8.self) }

  /// The position of the first byte.
  public var position: SourcePosition { file.position(at: start) }

  /// From the beginning of this range to the end of `other`, which is in the same file.
  package func through(_ other: SourceRange) -> SourceRange {
    SourceRange(file: file, start: start, end: max(end, other.end))
  }

  /// The position directly after this range.
  package var justBehind: SourceRange { SourceRange(file: file, start: end, end: end) }

  /// Whether both are the same bytes of the same file.
  public static func == (left: SourceRange, right: SourceRange) -> Bool {
    left.file === right.file && left.start == right.start && left.end == right.end
  }

  /// Hashes the file's index and the offsets.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(file.index)
    hasher.combine(start)
    hasher.combine(end)
  }
}
