// Evaluation of a program on the root table of a row.
//
// A value that is unknown (a missing field, an unknown union tag, a NaN, a result that does not fit
// its type) is nil. Malformed bytes read as unknown, too. So an engine verifies every row whose
// result is unknown, and damage is reported and not taken for absence.

import FlatBuffersRuntime

extension Program {
  /// The value of the condition for a row.
  @inline(__always)
  func evaluate(_ table: TableReader) -> Ternary {
    withScratch { condition(result, table, $0) }
  }

  func condition(_ index: Int, _ table: TableReader, _ scratch: ScratchMemory) -> Ternary {
    let instruction = instructions[index]
    let left = Int(instruction.left)
    switch instruction.operation {
    case .constant: return Ternary(instruction.bits != 0)
    case .compareRootInteger: return RootIntegerTest(instruction).evaluate(table)
    case .compare: return compare(instruction, table, scratch)
    case .and, .or, .not:
      return instruction.isDeep
        ? deepConnective(index, table, scratch) : connective(instruction, table, scratch)

    case .isNull: return Ternary(!isKnown(left, instruction.type, table, scratch))
    case .isNotNull: return Ternary(isKnown(left, instruction.type, table, scratch))
    case .isMember: return isMember(instruction, table, scratch)
    case .isNoMember: return !isMember(instruction, table, scratch)
    case .compareMixed:
      guard let l = integer(left, table, scratch),
        let r = integer(Int(instruction.right), table, scratch)
      else { return .unknown }
      // A negative number is less than every unsigned one.
      return Ternary(
        l < 0
          ? instruction.comparison.holds(-1, 0)
          : instruction.comparison.holds(UInt64(l), UInt64(bitPattern: r)))
    case .hasPrefix, .hasSuffix, .containsText, .like:
      guard let text = utf8(left, table, scratch) else { return .unknown }
      return Ternary(matches(text, instruction))
    case .any, .all: return quantified(instruction, table, scratch)
    case .search:
      return Ternary(
        searches[Int(instruction.bits)].condition.matches {
          searchedText($0, instruction, table, scratch)
        })
    case .containsBits, .intersectsBits:
      guard let value = integer(left, table, scratch) else { return .unknown }
      let common = UInt64(bitPattern: value) & instruction.bits
      return Ternary(
        instruction.operation == .containsBits ? common == instruction.bits : common != 0)
    default:
      guard let value = integer(index, table, scratch) else { return .unknown }
      return Ternary(value != 0)
    }
  }

  private func connective(
    _ instruction: Instruction, _ table: TableReader, _ scratch: ScratchMemory
  ) -> Ternary {
    let left = Int(instruction.left)
    if instruction.operation == .not { return !condition(left, table, scratch) }
    let isAnd = instruction.operation == .and
    let (decisive, neutral) = (Ternary(!isAnd), Ternary(isAnd))
    var result = neutral
    for part in left..<left + Int(instruction.right) {
      let value = condition(Int(parts[part]), table, scratch)
      if value == decisive { return decisive }
      if value == .unknown { result = .unknown }
    }
    return result
  }

  func isKnown(_ index: Int, _ type: ValueType, _ table: TableReader, _ scratch: ScratchMemory)
    -> Bool
  {
    switch type {
    case .bool: condition(index, table, scratch) != .unknown
    case .float, .double: real(index, table, scratch) != nil
    case .string: utf8(index, table, scratch) != nil
    default: integer(index, table, scratch) != nil
    }
  }

  private func compare(_ instruction: Instruction, _ table: TableReader, _ scratch: ScratchMemory)
    -> Ternary
  {
    let left = Int(instruction.left)
    let right = Int(instruction.right)
    switch instruction.type {
    case .bool:
      let l = condition(left, table, scratch)
      let r = condition(right, table, scratch)
      guard l != .unknown, r != .unknown else { return .unknown }
      return Ternary(instruction.comparison.holds(l.rawValue, r.rawValue))
    case .float, .double:
      guard let l = real(left, table, scratch), let r = real(right, table, scratch) else {
        return .unknown
      }
      return Ternary(instruction.comparison.holds(l, r))
    case .string:
      guard let l = utf8(left, table, scratch), let r = utf8(right, table, scratch) else {
        return .unknown
      }
      switch instruction.comparison {
      case .equal: return Ternary(equalBytes(l, r))
      case .notEqual: return Ternary(!equalBytes(l, r))
      default: return Ternary(instruction.comparison.holds(compareBytes(l, r), 0))
      }
    case .uint64:
      guard let l = integer(left, table, scratch), let r = integer(right, table, scratch) else {
        return .unknown
      }
      return Ternary(
        instruction.comparison.holds(UInt64(bitPattern: l), UInt64(bitPattern: r)))
    default:
      guard let l = integer(left, table, scratch), let r = integer(right, table, scratch) else {
        return .unknown
      }
      return Ternary(instruction.comparison.holds(l, r))
    }
  }

  private func isMember(_ instruction: Instruction, _ table: TableReader, _ scratch: ScratchMemory)
    -> Ternary
  {
    let left = Int(instruction.left)
    let set = sets[Int(instruction.right)]
    switch instruction.type {
    case .bool:
      let value = condition(left, table, scratch)
      return value == .unknown ? .unknown : set.test(UInt64(value.rawValue))
    case .float, .double:
      guard let value = real(left, table, scratch) else { return .unknown }
      return set.test((value + 0).bitPattern)
    case .string:
      guard let value = utf8(left, table, scratch) else { return .unknown }
      return set.test(value)
    default:
      guard let value = integer(left, table, scratch) else { return .unknown }
      return set.test(UInt64(bitPattern: value))
    }
  }

  /// The value of an integer or Boolean expression; for `uint64`, its bit pattern.
  func integer(_ index: Int, _ table: TableReader, _ scratch: ScratchMemory) -> Int64? {
    let instruction = instructions[index]
    switch instruction.operation {
    case .constant: return Int64(bitPattern: instruction.bits)
    case .tableField:
      guard let place = container(instruction, table, scratch) else { return nil }
      let position = place.locate(Int(instruction.offset), size: instruction.type.size)
      guard position > 0 else {
        return position == 0 && instruction.hasDefault ? Int64(bitPattern: instruction.bits) : nil
      }
      return inDomain(instruction, place.integer(instruction.type, at: position))
    case .structField:
      guard let place = structure(instruction, table, scratch) else { return nil }
      let position = place.position + Int(instruction.offset)
      return inDomain(instruction, table.integer(instruction.type, at: position))
    case .unionTag:
      guard let place = container(instruction, table, scratch) else { return nil }
      let tag = place.scalar(at: Int(instruction.offset) - 2, default: UInt8(0))
      // A tag without a value is an empty union, as it is for readers of objects.
      guard tag != 0, place.locate(Int(instruction.offset), size: 4) > 0 else { return nil }
      return inDomain(instruction, Int64(tag))
    case .vectorCount, .unionCount:
      return vector(instruction, table, scratch).map { Int64(count($0, instruction)) }
    case .element:
      guard let scratch else { return nil }
      let position = scratch.pointee.elements[Int(instruction.offset)].position
      return inDomain(instruction, table.integer(instruction.type, at: position))
    case .elementTag:
      return scratch.map { Int64($0.pointee.elements[Int(instruction.offset)].tag) }
    case .unknown: return nil
    case .call:
      return call(instruction, table, scratch).map { Int64(bitPattern: $0.bits) }
    case .presence: return isPresent(instruction, table, scratch) ? 1 : nil
    case .firstKnown: return firstKnown(instruction) { integer($0, table, scratch) }
    case .add, .subtract, .multiply, .divide, .remainder:
      guard let l = integer(Int(instruction.left), table, scratch),
        let r = integer(Int(instruction.right), table, scratch)
      else { return nil }
      return instruction.type == .uint64
        ? instruction.operation.exact(UInt64(bitPattern: l), UInt64(bitPattern: r))
          .map { Int64(bitPattern: $0) }
        : instruction.operation.exact(l, r).flatMap { instruction.type.fitting($0) }
    case .negate, .magnitude:
      guard let value = integer(Int(instruction.left), table, scratch) else { return nil }
      return instruction.operation.exact(value, instruction.type)
    default:
      let value = condition(index, table, scratch)
      return value == .unknown ? nil : Int64(value.rawValue)
    }
  }

  /// The value of a floating-point expression, never NaN.
  func real(_ index: Int, _ table: TableReader, _ scratch: ScratchMemory) -> Double? {
    let instruction = instructions[index]
    let value: Double
    switch instruction.operation {
    case .constant: value = Double(bitPattern: instruction.bits)
    case .tableField:
      guard let place = container(instruction, table, scratch) else { return nil }
      let position = place.locate(Int(instruction.offset), size: instruction.type.size)
      if position > 0 {
        value = place.real(instruction.type, at: position)
      } else if position == 0, instruction.hasDefault {
        value = Double(bitPattern: instruction.bits)
      } else {
        return nil
      }
    case .structField:
      guard let place = structure(instruction, table, scratch) else { return nil }
      value = table.real(instruction.type, at: place.position + Int(instruction.offset))
    case .add, .subtract:
      guard let l = real(Int(instruction.left), table, scratch),
        let r = real(Int(instruction.right), table, scratch)
      else { return nil }
      let sign: Double = instruction.operation == .add ? 1 : -1
      value =
        instruction.type == .float ? Double(Float(l) + Float(sign * r)) : l + sign * r
    case .element:
      guard let scratch else { return nil }
      let position = scratch.pointee.elements[Int(instruction.offset)].position
      value = table.real(instruction.type, at: position)
    case .call:
      guard case .real(let number)? = call(instruction, table, scratch) else { return nil }
      value = number
    case .multiply, .divide:
      guard let l = real(Int(instruction.left), table, scratch),
        let r = real(Int(instruction.right), table, scratch)
      else { return nil }
      if instruction.operation == .multiply {
        value = instruction.type == .float ? Double(Float(l) * Float(r)) : l * r
      } else if r == 0 {
        return nil
      } else {
        value = instruction.type == .float ? Double(Float(l) / Float(r)) : l / r
      }
    case .relevance:
      let search = searches[Int(instruction.bits)]
      value = search.condition.relevance(weights: search.weights) {
        searchedText($0, instruction, table, scratch)
      }
    case .negate: return real(Int(instruction.left), table, scratch).map { -$0 }
    case .magnitude: return real(Int(instruction.left), table, scratch).map { $0.magnitude }
    case .firstKnown: return firstKnown(instruction) { real($0, table, scratch) }
    default: return nil
    }
    return value.isNaN ? nil : value
  }

  /// The bytes of a string expression.
  func utf8(_ index: Int, _ table: TableReader, _ scratch: ScratchMemory) -> UnsafeRawBufferPointer?
  {
    let instruction = instructions[index]
    switch instruction.operation {
    case .constant: return strings[Int(instruction.bits)]
    case .tableField:
      guard let place = container(instruction, table, scratch) else { return nil }
      if let value = place.utf8(at: Int(instruction.offset)) { return value }
      return instruction.hasDefault ? strings[Int(instruction.bits)] : nil
    case .stringMember:
      guard let place = container(instruction, table, scratch),
        place.scalar(at: Int(instruction.offset) - 2, default: UInt8(0)) == instruction.tag
      else { return nil }
      return place.utf8(at: Int(instruction.offset))
    case .firstKnown: return firstKnown(instruction) { utf8($0, table, scratch) }
    case .call:
      guard let scratch, case .string(let text)? = call(instruction, table, scratch) else {
        return nil
      }
      return scratch.pointee.copy(text)
    case .element: return scratch?.pointee.elements[Int(instruction.offset)].text
    case .elementString:
      return member(instruction.tag, Int(instruction.offset), scratch)
        .flatMap { table.utf8(atPosition: $0) }
    case .fold:
      guard let scratch, let text = utf8(Int(instruction.left), table, scratch) else { return nil }
      return scratch.pointee.fold(text)
    default: return nil
    }
  }

  /// The text of a field that is searched.
  private func searchedText(
    _ column: Int, _ instruction: Instruction, _ table: TableReader, _ scratch: ScratchMemory
  ) -> UnsafeRawBufferPointer? {
    utf8(Int(parts[Int(instruction.left) + column]), table, scratch)
  }

  private func firstKnown<T>(_ instruction: Instruction, _ read: (Int) -> T?) -> T? {
    for part in parts[Int(instruction.left)...].prefix(Int(instruction.right)) {
      if let value = read(Int(part)) { return value }
    }
    return nil
  }

  @inline(__always)
  private func inDomain(_ instruction: Instruction, _ raw: Int64) -> Int64? {
    instruction.domain < 0 ? raw : domains[Int(instruction.domain)].read(raw)
  }
}

extension ComparisonOperator {
  @inline(__always)
  package func holds<T: Comparable>(_ left: T, _ right: T) -> Bool {
    switch self {
    case .equal: left == right
    case .notEqual: left != right
    case .less: left < right
    case .lessOrEqual: left <= right
    case .greater: left > right
    case .greaterOrEqual: left >= right
    }
  }
}
