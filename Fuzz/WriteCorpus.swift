// Writes the seed corpus: for each schema a few small sound buffers, always the same ones.
//
//   write-corpus DIRECTORY

import FlatBuffersRuntime
import Foundation

@main
enum WriteCorpus {
  static func main() throws {
    let directory = URL(fileURLWithPath: CommandLine.arguments[1])
    for (index, schema) in Schema.all.enumerated() {
      let item = schema.makeItem()
      let batch = Schema.batch(of: item)
      var generator = SeededGenerator(seed: 1)
      for count in 0..<4 {
        let items = (0..<count).map { _ in generator.table(item, depth: count / 2) }
        let isPrefixed = count == 2
        let builder = FlatBufferBuilder()
        builder.finish(
          builder.encode(.record([.vector(items)]), batch),
          fileIdentifier: count == 1 ? "SCAL" : nil,
          sizePrefixed: isPrefixed)
        let choice = UInt8(isPrefixed ? index | 0x80 : index)
        try Data([choice] + builder.bytes)
          .write(to: directory.appendingPathComponent("\(schema.name)-\(count)"))
      }
    }
  }
}
