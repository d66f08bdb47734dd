// Program: a condition or a sort key, compiled for evaluation on the bytes of rows.
//
// The tree becomes a flat array of plain instructions whose operands are indices. Evaluation
// recurses over indices and touches no reference-counted object, so it can run on the storage
// engine's own memory, row by row, before anything is copied. Invariants:
//
//  - Only `compile` writes the memory, before the first evaluation, so a program may be used by
//    many threads.
//  - The operands of an instruction precede it.
//
// An unknown value is nil (numbers and strings) or `.unknown` (conditions); see
// Program+Evaluation.swift.

import FlatBuffersRuntime

/// False, true or unknown.
package enum Ternary: UInt8, Sendable {
  case `false`, `true`, unknown

  @inline(__always)
  init(_ value: Bool) { self = value ? .true : .false }

  @inline(__always)
  static prefix func ! (operand: Ternary) -> Ternary {
    switch operand {
    case .true: .false
    case .false: .true
    case .unknown: .unknown
    }
  }
}

/// One step of the path to a field, or the field itself; see `FieldStep` and `FieldLeaf`.
struct Hop {
  enum Kind: UInt8 {
    case table, structure, tableMember, structureMember
    /// The element that a variable stands for; `offset` is the variable's slot.
    case element, elementStructure
    /// The member with the tag of the union that a variable stands for.
    case elementMember, elementStructureMember
  }

  var kind: Kind
  var tag: UInt8
  var offset: Int32
  var size: Int32
}

struct Instruction {
  enum Operation: UInt8 {
    case constant, tableField, structField, unionTag, stringMember, presence
    /// The first field that is known, of several.
    case firstKnown
    case add, subtract, multiply, divide, remainder, negate, magnitude
    case compare, compareMixed, and, or, not, isNull, isNotNull, isMember, isNoMember, containsBits,
      intersectsBits
    /// Compares an integer field of the root table with a constant: the most common condition, in
    /// one instruction.
    case compareRootInteger
    /// A text in which upper and lower case are equal.
    case fold
    case hasPrefix, hasSuffix, containsText, like
    /// The number of elements of a vector: `constant` is the distance between them, and `tag` how
    /// they are read.
    case vectorCount
    /// The number of elements of a vector of unions whose tags are in the domain.
    case unionCount
    /// The element that the variable with the slot `offset` stands for.
    case element
    /// The tag, or the string with the tag `tag`, of the union that the variable stands for.
    case elementTag, elementString
    /// Whether the condition at `constant` holds for elements of the first known vector of several
    /// parts. The variable has the slot `offset`.
    case any, all
    case unknown
    /// The result of the function `bits` for the values of several parts.
    case call
    /// Whether the texts of several parts have the words of the search `bits`.
    case search
    /// How well they match it.
    case relevance
  }

  var operation: Operation
  /// The type of a field or constant, or of the operands.
  var type: ValueType
  var comparison: ComparisonOperator = .equal
  var hasDefault = false
  /// Whether connectives are nested so deeply in this one that they are evaluated in a loop.
  var isDeep = false
  /// For unions, the tag.
  var tag: UInt8 = 0
  /// The index of the first operand; for a field, of the first hop; for a conjunction, a
  /// disjunction or `firstKnown`, of the first part.
  var left: Int32 = 0
  /// The index of the second operand; for a field, the number of hops; for a membership, the set;
  /// for a test of a text, the string or pattern;
  /// for a conjunction, a disjunction or `firstKnown`, the number of parts.
  var right: Int32 = 0
  /// For a field, its offset in the innermost table or struct.
  var offset: Int32 = 0
  /// For a field, the index of its domain, or −1.
  var domain: Int32 = -1
  /// A constant, or a field's default: an integer, the bits of a Double, a Boolean as 0 or 1, or an
  /// index into the strings.
  var bits: UInt64 = 0
  /// The constant of `compareRootInteger`.
  var constant: Int64 = 0
}

/// A compiled condition or sort key.
final class Program: Sendable {
  let instructions: ConstantBuffer<Instruction>
  let hops: ConstantBuffer<Hop>
  /// The instructions of the parts of conjunctions, disjunctions and `firstKnown`.
  let parts: ConstantBuffer<Int32>
  let strings: ConstantBuffer<UnsafeRawBufferPointer>
  let sets: ConstantBuffer<ValueSet>
  let patterns: ConstantBuffer<ConstantBuffer<LikePattern.Element>>
  let domains: ConstantBuffer<Domain>
  let calls: [FunctionCall]
  let searches: [(condition: SearchCondition, weights: [Double])]
  /// The errors of functions that were called.
  let failures = FunctionFailures()

  /// Whether damaged bytes may make the result false: they read as unknown, and some instructions
  /// turn unknown into a known value.
  let mayHideDamage: Bool
  /// Whether evaluation needs memory of its own; see `Scratch`.
  let needsScratch: Bool
  /// The number of variables that stand for an element at the same time.
  let slotCount: Int

  /// The instruction that computes the result.
  var result: Int { instructions.count - 1 }

  convenience init(_ node: Node) {
    var compiler = ProgramCompiler()
    _ = compiler.compile(node)
    self.init(compiler)
  }

  private init(_ compiler: ProgramCompiler) {
    instructions = ConstantBuffer(compiler.instructions)
    hops = ConstantBuffer(compiler.hops)
    parts = ConstantBuffer(compiler.parts)
    strings = ConstantBuffer(compiler.strings.map { .copying(utf8: $0) })
    sets = ConstantBuffer(compiler.sets)
    patterns = ConstantBuffer(compiler.patterns.map { ConstantBuffer($0.elements) })
    domains = ConstantBuffer(compiler.domains)
    calls = compiler.calls
    searches = compiler.searches
    mayHideDamage = compiler.instructions.contains {
      $0.operation == .isNull || $0.operation == .isNotNull || $0.operation == .call
        || $0.operation == .search
        || ($0.type == .string && $0.hasDefault)
    }
    needsScratch = compiler.instructions.contains { $0.operation.needsScratch }
    slotCount = compiler.slotCount
    _checkInvariants()
  }

  /// Traps, in debug builds, if an instruction has an operand that does not exist or does not
  /// precede it.
  func _checkInvariants() {
    #if DEBUG
      for (position, instruction) in instructions.enumerated() {
        let (left, right) = (Int(instruction.left), Int(instruction.right))
        switch instruction.operation {
        case .constant:
          precondition(instruction.type != .string || instruction.bits < strings.count)
        case .tableField, .structField, .unionTag, .stringMember, .presence, .compareRootInteger,
          .vectorCount, .unionCount:
          precondition(left >= 0 && right >= 0 && left + right <= hops.count)
          precondition(instruction.domain < domains.count)
        case .element, .elementTag, .elementString:
          precondition(0..<slotCount ~= Int(instruction.offset))
          precondition(instruction.domain < domains.count)
        case .unknown: break
        case .call:
          precondition(left >= 0 && left + right <= parts.count && instruction.bits < calls.count)
        case .search, .relevance:
          precondition(
            left >= 0 && left + right <= parts.count && instruction.bits < searches.count)
        case .and, .or, .firstKnown, .any, .all:
          precondition(left >= 0 && right > 0 && left + right <= parts.count)
          precondition(parts[left..<left + right].allSatisfy { 0..<position ~= Int($0) })
        case .add, .subtract, .multiply, .divide, .remainder, .compare, .compareMixed:
          precondition(0..<position ~= left && 0..<position ~= right)
        case .not, .isNull, .isNotNull, .containsBits, .intersectsBits, .fold, .negate,
          .magnitude:
          precondition(0..<position ~= left)
        case .hasPrefix, .hasSuffix, .containsText:
          precondition(0..<position ~= left && 0..<strings.count ~= right)
        case .like: precondition(0..<position ~= left && 0..<patterns.count ~= right)
        case .isMember, .isNoMember: precondition(0..<position ~= left && 0..<sets.count ~= right)
        }
      }
    #endif
  }

  deinit {
    for string in strings { string.deallocate() }
    for set in sets { set.deallocate() }
    for pattern in patterns { pattern.deallocate() }
    for domain in domains { domain.known.deallocate() }
    instructions.deallocate()
    hops.deallocate()
    parts.deallocate()
    strings.deallocate()
    sets.deallocate()
    patterns.deallocate()
    domains.deallocate()
  }
}

/// The values of an enum or union that a schema knows.
struct Domain {
  let known: ConstantBuffer<Int64>
  let others: Int64
  let hasOthers: Bool

  /// The value that a stored value reads as; nil if it is unknown.
  @inline(__always)
  func read(_ raw: Int64) -> Int64? {
    // Linear search, since enums are short.
    if known.contains(raw) { return raw }
    return hasOthers ? others : nil
  }
}

/// The elements of `in` and `notIn`: bit patterns or strings, sorted.
struct ValueSet {
  /// Whether a NaN was listed: a value that is not found may be that one.
  let hasUnknown: Bool
  let numbers: ConstantBuffer<UInt64>
  let strings: ConstantBuffer<UnsafeRawBufferPointer>

  init(_ values: [Value]) {
    var bits: [UInt64] = []
    var texts: [String] = []
    hasUnknown = values.contains(where: \.isNaN)
    for value in values {
      switch value {
      case .string(let text): texts.append(text)
      // −0 equals 0.
      case .real(let number): if !number.isNaN { bits.append((number + 0).bitPattern) }
      default: bits.append(value.bits)
      }
    }
    numbers = ConstantBuffer(Set(bits).sorted())
    let unique: [UnsafeRawBufferPointer] = texts.map { .copying(utf8: $0) }
    strings = ConstantBuffer(unique.sorted { compareBytes($0, $1) < 0 })
  }

  /// Whether a value is one of them, as the disjunction of equalities: unknown if it is none of the
  /// known ones, and another one is unknown.
  func test(_ bits: UInt64) -> Ternary { result(contains(bits)) }
  func test(_ text: UnsafeRawBufferPointer) -> Ternary { result(contains(text)) }

  private func result(_ isFound: Bool) -> Ternary {
    isFound ? .true : hasUnknown ? .unknown : .false
  }

  private func contains(_ bits: UInt64) -> Bool {
    var low = 0
    var high = numbers.count
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < bits { low = middle + 1 } else { high = middle }
    }
    return low < numbers.count && numbers[low] == bits
  }

  private func contains(_ text: UnsafeRawBufferPointer) -> Bool {
    var low = 0
    var high = strings.count
    while low < high {
      let middle = (low + high) / 2
      if compareBytes(strings[middle], text) < 0 { low = middle + 1 } else { high = middle }
    }
    return low < strings.count && compareBytes(strings[low], text) == 0
  }

  func deallocate() {
    for string in strings { string.deallocate() }
    numbers.deallocate()
    strings.deallocate()
  }
}

extension UnsafeRawBufferPointer {
  static func copying(utf8 text: String) -> Self {
    var text = text
    return text.withUTF8 { source in
      let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: source.count, alignment: 1)
      buffer.copyBytes(from: source)
      return UnsafeRawBufferPointer(buffer)
    }
  }
}
