// Sources/Dflat/Dflat.docc/Conditions.md
import SQLiteDflat

/// Stands for Apple's.
struct UTType {
  init?(_ identifier: String) {}
  func conforms(to other: UTType) -> Bool { false }
}

/// Takes each condition of a block.
@resultBuilder enum Each {
  static func buildBlock(_ conditions: Condition<Post>...) -> [Condition<Post>] { conditions }
}

func conditions(dflat: SQLiteWorkspace, onlyOpen: Bool, tag: String?) {
  // block 1
  @Each func vectors() -> [Condition<Post>] {
    // block 3
  }
  @Each func vectorsOfUnions() -> [Condition<Post>] {
    // block 4
  }
  // block 5
}
