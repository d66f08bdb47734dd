// The files under Golden. They are changed by hand only.

import Foundation

/// The folder of a fixture.
let golden = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden")

/// The text of a fixture.
func fixture(_ path: String) throws -> String {
  try String(contentsOf: golden.appending(path: path), encoding: .utf8)
}
