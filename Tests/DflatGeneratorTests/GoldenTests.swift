// Golden tests: what comes out for two ordinary schemas, letter by letter.

import DflatGenerator
import DflatSchema
import Testing

@Suite("The text of generated files")
struct GoldenTests {
  @Test("is what the fixtures show", arguments: ["blog", "benchdoc"])
  func matchesFixtures(name: String) throws {
    let schema: Schema = name == "blog" ? .blog : .benchDoc
    for file in Generator(schema).generate() {
      #expect(file.text == (try fixture("\(name)/\(file.name)")))
    }
  }
}
