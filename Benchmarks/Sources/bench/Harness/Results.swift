// Where results are saved, and their JSON form.
//
// `latest.json` is a list of objects: `id`, `milliseconds`, `floorMilliseconds`, `ratio`, `goal`
// (null if there is none), `runs`, `spread`. A result that is not the time of many operations, and
// whose goal is not a ratio, has `value`, `unit` and `floorValue` instead of the milliseconds and
// the ratio; `goal` is then in that unit. A case whose last checkpoint matters has a second object,
// whose id ends with `-settled`. `bench instructions` adds `instructions`, `floorInstructions` and
// `instructionRatio`.

import Foundation

struct Results {
  private let folder: URL

  /// The requested folder, or the package's own, found from the working directory.
  init(_ options: Options) throws {
    let files = FileManager.default
    let path =
      options.output
      ?? ["Benchmarks/results", "results"].first { files.fileExists(atPath: $0) } ?? "results"
    folder = URL(fileURLWithPath: path)
    try files.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  func file(_ name: String) -> URL { folder.appendingPathComponent(name) }

  func write(_ text: String, to name: String) throws {
    try Data(text.utf8).write(to: folder.appendingPathComponent(name))
    print("wrote \(folder.appendingPathComponent(name).relativePath)")
  }
}

extension JSON {
  static func object(_ m: MemoryMeasurement) -> String {
    "{\"id\": \"\(m.id)\", \"value\": \(decimals(m.bytes, 0)), \"unit\": \"bytes\", "
      + "\"goal\": \(decimals(m.goal, 0)), \"floorValue\": \(decimals(m.floorBytes, 0)), "
      + "\"rowBytes\": \(decimals(m.rowBytes, 0)), \"runs\": \(m.runs), "
      + "\"spread\": \(decimals(m.spread, 4))}"
  }
}
