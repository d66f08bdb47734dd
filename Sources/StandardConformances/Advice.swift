// How errors say what is wrong and what to do.

/// The description of an error: what is wrong and, where that is known, what to do about it.
package func sentence(_ problem: String, advice: String?) -> String {
  advice.map { "\(problem); \($0)" } ?? problem
}
