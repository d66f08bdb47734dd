// The stories that ways to store them are compared with. They depend only on their number.
//
//  - A hundred feeds in turn, so each has a thousand of 100,000 stories. Two of three are unread.
//  - No two have the same date, so that an order by dates is the same everywhere.
//  - Titles of 20 to 60 bytes and texts of 100 to 600, of words that are searched; ASCII only.

import Dflat
import Foundation

struct StorySample: Sendable {
  let id: Int64
  let feed: Int32
  let title: String
  let text: String
  let isRead: Bool
  let date: Int64

  private static let words = (0..<Words.count).map { Words.common($0) }

  init(_ number: Int64) {
    var random = Random(seed: UInt64(bitPattern: number) &* 0x2545_F491_4F6C_DD1D)
    id = number
    feed = Int32(number % 100)
    title = Words.text(20...60, Self.words, &random)
    text = Words.text(100...600, Self.words, &random) + " " + Words.rare(random.number(0...999))
    isRead = number % 3 == 0
    date = 1_600_000_000 + number * 7_368_787 % 99_999_989
  }

  static func make(_ numbers: Range<Int64>) -> [StorySample] { numbers.map { .init($0) } }

  var object: Story {
    Story(id: id, feed: feed, title: title, text: text, isRead: isRead, date: date)
  }

  /// The story as a line for Python.
  var line: String { "\(id)\t\(feed)\t\(title)\t\(text)\t\(isRead ? 1 : 0)\t\(date)\n" }
}
