// Sources/Dflat/Dflat.docc/Dictionary.md
import Foundation
import SQLiteDflat

struct Window: Codable, Equatable {
  var width: Int
  var height: Int
}

func apply(_ theme: String?) {}

func dictionary(dflat: SQLiteWorkspace, post: Post) {
  // block 1
  // block 2
  // block 3
  // block 4
}
