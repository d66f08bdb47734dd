// Writes the seed corpus of packed values: of each kind a few, always the same, two in a row for
// those that are compared.
//
//   write-packed DIRECTORY

import Foundation
import PackedSerialize

@main
enum WritePacked {
  static func main() throws {
    let directory = URL(fileURLWithPath: CommandLine.arguments[1])
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for (number, kind) in Kind.all.enumerated() {
      let seeds = kind.seeds()
      for (index, seed) in seeds.enumerated() {
        try Data([UInt8(number)] + seed + seeds[(index + 1) % seeds.count])
          .write(to: directory.appendingPathComponent("\(number)-\(index)"))
      }
    }
  }
}
