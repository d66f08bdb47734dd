// Sources/SQLiteDflat/SQLiteDflat.docc/SQLiteDflat.md
import Foundation
// block 1.1

func opened(url: URL) async throws {
  // block 1.2
}
