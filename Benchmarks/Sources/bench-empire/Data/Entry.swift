// The records that every case stores. They depend only on their number, so every run stores the
// same bytes.
//
//  - six groups, or enough groups for 1,000 records in each;
//  - titles of 8 to 40 bytes, all different, in no particular order; texts of 20 to 200 bytes;
//    every tenth record without a tag.

import Empire
import Foundation

@IndexKeyRecord("group", "title")
struct Entry: Sendable {
  let group: Int
  let title: String
  var text: String
  var priority: Int
  var tag: String?
  var created: Date

  static func make(_ count: Int, groups: Int = 6) -> [Entry] {
    var random = Random(seed: 0x5EED)
    return (0..<count).map { number in
      let name = String(String(number + 10_000_000).reversed())
      return Entry(
        group: number % groups, title: name + " " + random.text(0...31),
        text: random.text(20...200), priority: random.number(1...100),
        tag: number % 10 == 9 ? nil : random.text(20...40),
        created: Date(timeIntervalSince1970: Double(1_700_000_000 + number)))
    }
  }
}

extension Checksum {
  mutating func add(_ entry: Entry) {
    add(entry.group)
    add(entry.title)
    add(entry.text)
    add(entry.priority)
    add(entry.tag)
    add(Int(entry.created.timeIntervalSince1970 * 1000))
  }

  init(_ entries: [Entry]) {
    self.init()
    for entry in entries { add(entry) }
    add(entries.count)
  }
}
