// Writes the seed corpus of the GraphQL front end: the cases of its tests, each with the byte
// before it that chooses what is read.
//
//   write-graphql TESTS-CORPUS DIRECTORY

import Foundation

@main
enum WriteGraphQL {
  static func main() throws {
    let source = URL(fileURLWithPath: CommandLine.arguments[1])
    let directory = URL(fileURLWithPath: CommandLine.arguments[2])
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    for name in try FileManager.default.contentsOfDirectory(atPath: source.path).sorted() {
      let text = try String(contentsOf: source.appendingPathComponent(name), encoding: .utf8)
      let isSchema = !name.hasSuffix(".operations")
      for (number, part) in text.components(separatedBy: "#### ").enumerated() {
        let isWhole = name.hasSuffix(".schema")
        let body = isWhole ? Substring(part) : part.drop { $0 != "\n" }
        try Data([isSchema ? 1 : 0] + Array(body.utf8))
          .write(to: directory.appendingPathComponent("\(name)-\(number)"))
        if isWhole {
          try Data([2] + Array(body.utf8) + [0] + Array("{ __typename }".utf8))
            .write(to: directory.appendingPathComponent("\(name)-\(number)-both"))
        }
      }
    }
  }
}
