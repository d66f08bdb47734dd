// SHA-256, on the vectors of FIPS 180-4 and around the length of a block.

import Foundation
import Platform
import Testing

@Suite("SHA-256")
struct DigestTests {
  @Test(
    "agrees with FIPS 180-4",
    arguments: [
      ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
      ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
      (
        "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
      ),
    ])
  func vectors(text: String, digest: String) {
    #expect(SHA256.hexadecimal(text) == digest)
  }

  @Test("agrees with sha256sum at every length of two blocks")
  func lengths() throws {
    try withTemporaryDirectory { directory in
      let names = (0...130).map { "text-\($0)" }
      for (length, name) in names.enumerated() {
        try GraphQL.write(
          String(repeating: "aé", count: length / 3) + String(repeating: "b", count: length % 3),
          to: directory.appending(path: name))
      }
      let output = try Judge.run(
        ["sh", "-c", "cd \"$0\" && sha256sum \"$@\"", directory.path()] + names
      ).output
      for (length, line) in output.split(separator: "\n").enumerated() {
        let text = try text(of: directory.appending(path: names[length]))
        #expect(line.prefix(64) == SHA256.hexadecimal(text), "\(length)")
      }
    }
  }
}
