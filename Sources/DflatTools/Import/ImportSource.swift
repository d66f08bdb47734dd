// ImportSource: the rows of an input, in batches. While one is stored, the next one is decoded.

import Dflat
import Dispatch
import Foundation
import Platform

/// Reads lines and makes rows of them.
struct ImportSource {
  /// More lines, or bytes, are no batch.
  private static let most = (lines: 5000, bytes: 1 << 23)

  /// Rows, and what is wrong with the lines among them that have none.
  struct Batch: Sendable {
    var rows: [ImportedRow] = []
    var problems: [ImportProblem] = []
  }

  fileprivate struct Line: Sendable {
    let number: Int
    let bytes: [UInt8]

    /// Whether it has no object. A record of CSV with one column may be a text of spaces.
    func isBlank(isCSV: Bool) -> Bool {
      bytes.allSatisfy { $0 == 0x0A || $0 == 0x0D || !isCSV && ($0 == 0x09 || $0 == 0x20) }
    }
  }

  private var lines: InputLines
  private var reading: RowReading
  private let isCSV: Bool
  private let firstLine: Int
  private let skipsBadLines: Bool
  private var hasHeader = false
  /// The batch that is being decoded.
  private var pending: PendingBatch?
  /// Why the batch behind the last one could not be read.
  private var failure: (any Error)?
  /// The first line of the batch that was read last.
  private(set) var firstOfBatch: Int

  /// - Parameters:
  ///   - read: Returns the next bytes of the input.
  ///   - reading: Makes the rows.
  ///   - isCSV: Whether they are records of CSV, and not JSON.
  ///   - firstLine: Earlier lines are left out.
  ///   - skipsBadLines: Whether a batch has the rows behind a bad line, too.
  init(
    _ read: @escaping () throws -> Data?, _ reading: RowReading, isCSV: Bool, from firstLine: Int,
    skipsBadLines: Bool
  ) {
    lines = InputLines(read)
    self.reading = reading
    self.isCSV = isCSV
    self.firstLine = firstLine
    self.skipsBadLines = skipsBadLines
    firstOfBatch = firstLine
  }

  /// How many bytes were read.
  var bytes: Int { lines.bytes }

  /// The next batch; nil at the end.
  mutating func next() throws -> Batch? {
    if isCSV, !hasHeader {
      hasHeader = true
      guard let header = try record() else { return nil }
      do throws(ImportProblem) {
        try reading.readHeader(header.bytes, line: header.number)
      } catch {
        return Batch(problems: [error])
      }
    }
    if let failure { throw failure }
    guard let current = try pending ?? begin() else { return nil }
    firstOfBatch = current.firstLine
    do { pending = try begin() } catch { failure = error }
    return current.wait()
  }

  /// Reads the lines of a batch, and begins to decode them; nil at the end.
  private mutating func begin() throws -> PendingBatch? {
    var batch: [Line] = []
    var bytes = 0
    while batch.count < Self.most.lines, bytes < Self.most.bytes, let line = try record() {
      if line.number < firstLine || line.isBlank(isCSV: isCSV) { continue }
      bytes += line.bytes.count
      batch.append(line)
    }
    if batch.isEmpty { return nil }
    return PendingBatch(
      batch, LineDecoding(reading: reading, isCSV: isCSV, skipsBadLines: skipsBadLines))
  }

  /// The next line, or the next lines that are one record of CSV.
  private mutating func record() throws -> Line? {
    guard var bytes = try lines.next() else { return nil }
    let number = lines.number
    if isCSV {
      var isOpen = CSVRecord.isOpen(bytes)
      while isOpen, let next = try lines.next() {
        bytes += next
        if CSVRecord.isOpen(next) { isOpen = false }
      }
    }
    return Line(number: number, bytes: bytes)
  }
}

/// A batch that other threads decode.
private final class PendingBatch: Sendable {
  /// How many lines a thread decodes at a time.
  private static let portion = 125

  let firstLine: Int
  private let skipsBadLines: Bool
  private let group = DispatchGroup()
  private let parts: Mutex<[ImportSource.Batch]>

  /// - Parameter lines: At least one line.
  init(_ lines: [ImportSource.Line], _ decoding: LineDecoding) {
    firstLine = lines[0].number
    skipsBadLines = decoding.skipsBadLines
    let starts = Array(stride(from: 0, to: lines.count, by: Self.portion))
    parts = Mutex([ImportSource.Batch](repeating: ImportSource.Batch(), count: starts.count))
    DispatchQueue.global().async(group: group) { [self] in
      DispatchQueue.concurrentPerform(iterations: starts.count) { place in
        let start = starts[place]
        let part = decoding.decode(lines[start..<min(start + Self.portion, lines.count)])
        parts.withLock { $0[place] = part }
      }
    }
  }

  /// Waits for the rows.
  func wait() -> ImportSource.Batch {
    group.wait()
    var result = ImportSource.Batch()
    for part in parts.withLock({ $0 }) {
      result.rows += part.rows
      result.problems += part.problems
      if !skipsBadLines, !result.problems.isEmpty { break }
    }
    return result
  }
}

/// Decodes lines on one thread.
private struct LineDecoding: Sendable {
  let reading: RowReading
  let isCSV: Bool
  let skipsBadLines: Bool

  func decode(_ lines: ArraySlice<ImportSource.Line>) -> ImportSource.Batch {
    let decoder = RowReading.makeDecoder()
    var batch = ImportSource.Batch()
    batch.rows.reserveCapacity(lines.count)
    for line in lines {
      do throws(ImportProblem) {
        let row =
          try isCSV
          ? reading.row(ofCSV: line.bytes, line: line.number, decoder)
          : reading.row(ofJSON: line.bytes, line: line.number, decoder)
        batch.rows.append(ImportedRow(line: line.number, row: row))
      } catch {
        batch.problems.append(error)
        if !skipsBadLines { break }
      }
    }
    return batch
  }
}
