// Writes the seed corpus of rows: a few small sound ones, always the same.
//
//   write-rows DIRECTORY

@testable import Dflat
import FlatBuffersRuntime
import Foundation

private struct Seed: Decodable {
  let bytes: [UInt8]

  init(from decoder: any Decoder) throws {
    let builder = FlatBufferBuilder()
    builder.finish(try item.decode(from: decoder, to: builder))
    bytes = [UInt8](builder.bytes)
  }
}

private let seeds = [
  "empty": "{}",
  "flat": """
  {"name": "n", "flag": false, "short": 7, "point": {"x": 1, "y": 2}, "real": 1.5, "late": "l"}
  """,
  "tables": """
  {"name": "a", "leaf": {"label": "b", "rank": 2}, "next": {"name": "c", "next": {"leaf": {}}}}
  """,
  "unions": """
  {"pet_type": "Item", "pet": {"pet_type": "Point", "pet": {"x": 1, "y": 2},
    "next": {"pet_type": "Leaf", "pet": {"label": "l"}}}}
  """,
  "vectors": """
  {"bytes": [1, 2, 3], "longs": [4], "points": [{"x": 1, "y": 2}], "tags": ["a", "", "bc"],
    "leaves": [{"label": "l"}, {}], "items": [{"name": "i"}, {"flag": false}]}
  """,
  "pets": """
  {"pets_type": ["Leaf", "Name", "Point", "Item"],
    "pets": [{"label": "l"}, "s", {"x": 1, "y": 2}, {"name": "i"}]}
  """,
]

@main
enum WriteRows {
  static func main() throws {
    let directory = URL(fileURLWithPath: CommandLine.arguments[1])
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for (name, text) in seeds {
      let seed = try JSONDecoder().decode(Seed.self, from: Data(text.utf8))
      try Data(seed.bytes).write(to: directory.appendingPathComponent(name))
    }
  }
}
