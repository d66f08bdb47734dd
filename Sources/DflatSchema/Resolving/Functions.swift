// The functions that a default can call. Angles are in radians, except for `deg`'s result and
// `rad`'s argument.

import Foundation

extension Resolver {
  static let functions: [String: @Sendable (Double) -> Double] = [
    "rad": { $0 / 180 * Double.pi },
    "deg": { $0 / Double.pi * 180 },
    "sin": { sin($0) },
    "cos": { cos($0) },
    "tan": { tan($0) },
    "asin": { asin($0) },
    "acos": { acos($0) },
    "atan": { atan($0) },
  ]
}
