// Combinations of options, for tests of everything that a declaration can be.

/// Combinations of one option for each dimension, in which every pair of options of two dimensions
/// occurs.
///
/// There are few more of them than the product of the two largest counts. The result is always the
/// same.
/// - Parameter counts: The number of options of each dimension.
/// - Returns: For each combination, the option of each dimension.
public func pairwiseCombinations(_ counts: [Int]) -> [[Int]] {
  struct Pair: Hashable { var left, leftOption, right, rightOption: Int }
  var missing: Set<Pair> = []
  for left in counts.indices {
    for right in counts.indices where right > left {
      for leftOption in 0..<counts[left] {
        for rightOption in 0..<counts[right] {
          missing.insert(
            Pair(left: left, leftOption: leftOption, right: right, rightOption: rightOption))
        }
      }
    }
  }
  func pair(_ left: Int, _ leftOption: Int, _ right: Int, _ rightOption: Int) -> Pair {
    left < right
      ? Pair(left: left, leftOption: leftOption, right: right, rightOption: rightOption)
      : Pair(left: right, leftOption: rightOption, right: left, rightOption: leftOption)
  }
  var combinations: [[Int]] = []
  while let first = missing.min(by: {
    ($0.left, $0.right, $0.leftOption, $0.rightOption)
      < ($1.left, $1.right, $1.leftOption, $1.rightOption)
  }) {
    // Begins with a pair that is missing, and adds the options by which the most others are found.
    var chosen = [first.left: first.leftOption, first.right: first.rightOption]
    for dimension in counts.indices where chosen[dimension] == nil {
      let gains = (0..<counts[dimension]).map { option in
        chosen.filter { missing.contains(pair($0.key, $0.value, dimension, option)) }.count
      }
      // Options take turns where none is better.
      let best = gains.max() ?? 0
      let start = combinations.count % counts[dimension]
      let turns = (0..<counts[dimension]).map { ($0 + start) % counts[dimension] }
      chosen[dimension] = turns.first { gains[$0] == best }
    }
    let combination = counts.indices.map { chosen[$0] ?? 0 }
    for left in counts.indices {
      for right in counts.indices where right > left {
        missing.remove(pair(left, combination[left], right, combination[right]))
      }
    }
    combinations.append(combination)
  }
  return combinations
}

/// Combinations with every one of the first dimensions' options, and all pairs with those of the
/// others.
/// - Parameters:
///   - counts: The number of options of each dimension.
///   - full: The number of dimensions, from the first, whose product is complete.
public func combinations(_ counts: [Int], full: Int) -> [[Int]] {
  var products: [[Int]] = [[]]
  for count in counts.prefix(full) {
    products = products.flatMap { product in (0..<count).map { product + [$0] } }
  }
  let pairs = pairwiseCombinations(counts)
  let others = products.enumerated().map { position, product in
    product + pairs[position % pairs.count].dropFirst(full)
  }
  return pairs + others
}
