// ImportSource: the rows of an input, in batches.

import Dflat
import Dispatch
import Foundation
import Platform

/// Reads lines and makes rows of them.
struct ImportSource {
  /// More lines, or bytes, are no batch.
  private static let most = (lines: 1000, bytes: 1 << 21)
  /// How many lines a thread decodes at a time.
  private static let portion = 125

  /// Rows, and what is wrong with the lines among them that have none.
  struct Batch: Sendable {
    var rows: [ImportedRow] = []
    var problems: [ImportProblem] = []
  }

  fileprivate struct Line: Sendable {
    let number: Int
    let bytes: [UInt8]

    var isBlank: Bool { bytes.allSatisfy { [0x09, 0x0A, 0x0D, 0x20].contains($0) } }
  }

  private var lines: InputLines
  private var reading: RowReading
  private let isCSV: Bool
  private let firstLine: Int
  private let skipsBadLines: Bool
  private var hasHeader = false
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
    var batch: [Line] = []
    var bytes = 0
    while batch.count < Self.most.lines, bytes < Self.most.bytes, let line = try record() {
      if line.number < firstLine || line.isBlank { continue }
      bytes += line.bytes.count
      batch.append(line)
    }
    if batch.isEmpty { return nil }
    firstOfBatch = batch[0].number
    return decoded(batch)
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

  private func decoded(_ lines: [Line]) -> Batch {
    let portion = Self.portion
    let count = (lines.count + portion - 1) / portion
    let parts = Mutex([Batch](repeating: Batch(), count: count))
    let decoding = LineDecoding(reading: reading, isCSV: isCSV, skipsBadLines: skipsBadLines)
    DispatchQueue.concurrentPerform(iterations: count) { part in
      let start = part * portion
      let batch = decoding.decode(lines[start..<min(start + portion, lines.count)])
      parts.withLock { $0[part] = batch }
    }
    var result = Batch()
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
