// Sources/Empire/Empire.docc/Conforming.md
import Empire
import Foundation

// block 1

extension Measurement {
  // block 2
  // block 3
  // block 4
}
