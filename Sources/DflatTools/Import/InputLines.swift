// InputLines: the lines of an input that is read in portions.
//
//  - A line has its end, "\n" or "\r\n", except possibly the last one.
//  - Memory is needed for one portion and one line.

import Foundation

/// Divides an input into lines.
struct InputLines {
  private let read: () throws -> Data?
  private var buffer: [UInt8] = []
  private var start = 0
  private var isAtEnd = false
  /// The number of the line that was read last.
  private(set) var number = 0
  /// How many bytes were read.
  private(set) var bytes = 0

  /// - Parameter read: Returns the next bytes; nil or none at the end.
  init(_ read: @escaping () throws -> Data?) { self.read = read }

  /// The next line; nil at the end.
  mutating func next() throws -> [UInt8]? {
    var searched = start
    while true {
      if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
        return take(upTo: end + 1)
      }
      if isAtEnd { return start < buffer.count ? take(upTo: buffer.count) : nil }
      buffer.removeFirst(start)
      start = 0
      searched = buffer.count
      try fill()
    }
  }

  private mutating func take(upTo end: Int) -> [UInt8] {
    defer { start = end }
    number += 1
    // A mark of the byte order is no part of the first line.
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let isMarked = number == 1 && buffer[start..<end].starts(with: mark)
    return Array(buffer[(isMarked ? start + mark.count : start)..<end])
  }

  private mutating func fill() throws {
    guard let data = try read(), !data.isEmpty else {
      isAtEnd = true
      return
    }
    buffer.append(contentsOf: data)
    bytes += data.count
  }
}
