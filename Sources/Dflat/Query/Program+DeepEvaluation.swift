// Evaluation of connectives that are nested too deeply for recursion.

import FlatBuffersRuntime

extension Program {
  /// A connective whose evaluation has begun.
  fileprivate struct Begun {
    let instruction: Instruction
    /// The number of its parts that are evaluated.
    var done = 0
    /// Whether one of them is unknown.
    var hasUnknown = false
  }

  /// The value of a connective, as `condition`, in a loop.
  @inline(never)
  func deepConnective(
    _ index: Int, _ table: TableReader, _ scratch: ScratchMemory
  ) -> Ternary {
    var begun = [Begun(instruction: instructions[index])]
    while true {
      // Down to the next condition that is none.
      let top = begun[begun.count - 1]
      let part =
        top.instruction.operation == .not
        ? Int(top.instruction.left) : Int(parts[Int(top.instruction.left) + top.done])
      let inner = instructions[part]
      if inner.isDeep {
        begun.append(Begun(instruction: inner))
        continue
      }
      // Up to the next connective that has more parts.
      var value = condition(part, table, scratch)
      while let result = begun[begun.count - 1].result(after: value) {
        value = result
        begun.removeLast()
        if begun.isEmpty { return value }
      }
    }
  }
}

extension Program.Begun {
  /// Notes the value of the next part.
  /// - Returns: The value of the connective; nil as long as it depends on further parts.
  fileprivate mutating func result(after part: Ternary) -> Ternary? {
    if instruction.operation == .not { return !part }
    let isAnd = instruction.operation == .and
    if part == Ternary(!isAnd) { return part }
    hasUnknown = hasUnknown || part == .unknown
    done += 1
    if done < Int(instruction.right) { return nil }
    return hasUnknown ? .unknown : Ternary(isAnd)
  }
}
