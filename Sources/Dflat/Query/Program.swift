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
public enum Ternary: UInt8, Sendable {
  case `false`, `true`, unknown

  @inline(__always)
  init(_ value: Bool) { self = value ? .true : .false }
}

/// One step of the path to a field, or the field itself; see `FieldStep` and `FieldLeaf`.
struct Hop {
  enum Kind: UInt8 {
    case table, structure, tableMember, structureMember
    /// The element that a variable stands for; `offset` is the variable's slot.
    case element, elementStructure
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
    /// The element that the variable with the slot `offset` stands for.
    case element
    /// Whether the condition at `constant` holds for elements of the first known vector of several
    /// parts. The variable has the slot `offset`.
    case any, all
    case unknown
    /// The result of the function `bits` for the values of several parts.
    case call
  }

  var operation: Operation
  /// The type of a field or constant, or of the operands.
  var type: ValueType
  var comparison: ComparisonOperator = .equal
  var hasDefault = false
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
    var compiler = Compiler()
    _ = compiler.compile(node)
    self.init(compiler)
  }

  private init(_ compiler: Compiler) {
    instructions = ConstantBuffer(compiler.instructions)
    hops = ConstantBuffer(compiler.hops)
    parts = ConstantBuffer(compiler.parts)
    strings = ConstantBuffer(compiler.strings.map { .copying(utf8: $0) })
    sets = ConstantBuffer(compiler.sets)
    patterns = ConstantBuffer(compiler.patterns.map { ConstantBuffer($0.elements) })
    domains = ConstantBuffer(compiler.domains)
    calls = compiler.calls
    mayHideDamage = compiler.instructions.contains {
      $0.operation == .isNull || $0.operation == .isNotNull || ($0.type == .string && $0.hasDefault)
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
          .vectorCount:
          precondition(left >= 0 && right >= 0 && left + right <= hops.count)
          precondition(instruction.domain < domains.count)
        case .element: precondition(0..<slotCount ~= Int(instruction.offset))
        case .unknown: break
        case .call:
          precondition(left >= 0 && left + right <= parts.count && instruction.bits < calls.count)
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
  let numbers: ConstantBuffer<UInt64>
  let strings: ConstantBuffer<UnsafeRawBufferPointer>

  init(_ values: [Value]) {
    var bits: [UInt64] = []
    var texts: [String] = []
    for value in values {
      switch value {
      case .string(let text): texts.append(text)
      // NaN is unknown, so nothing equals it; −0 equals 0.
      case .real(let number): if !number.isNaN { bits.append((number + 0).bitPattern) }
      default: bits.append(value.bits)
      }
    }
    numbers = ConstantBuffer(Set(bits).sorted())
    let unique: [UnsafeRawBufferPointer] = texts.map { .copying(utf8: $0) }
    strings = ConstantBuffer(unique.sorted { compareBytes($0, $1) < 0 })
  }

  func contains(_ bits: UInt64) -> Bool {
    var low = 0
    var high = numbers.count
    while low < high {
      let middle = (low + high) / 2
      if numbers[middle] < bits { low = middle + 1 } else { high = middle }
    }
    return low < numbers.count && numbers[low] == bits
  }

  func contains(_ text: UnsafeRawBufferPointer) -> Bool {
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

private struct Compiler {
  var instructions: [Instruction] = []
  var hops: [Hop] = []
  var parts: [Int32] = []
  var strings: [String] = []
  var sets: [ValueSet] = []
  var patterns: [LikePattern] = []
  var calls: [FunctionCall] = []
  var domains: [Domain] = []
  /// The variables of the conditions that are being compiled, from the outermost inwards; their
  /// positions are their slots.
  private var variables: [ElementVariable] = []
  var slotCount = 0

  mutating func compile(_ node: Node) -> Int32 {
    let instruction: Instruction =
      switch node {
      case .field(let field) where !field.alternatives.isEmpty:
        compile(field.alternatives.map { .field($0) }, .firstKnown, field.type)
      case .field(let field): compile(field)
      case .constant(let value, let type): constant(value, type)
      case .arithmetic(let operation, let left, let right, let type):
        Instruction(
          operation: operation.instruction, type: type, left: compile(left), right: compile(right))
      case .comparison(let comparison, .field(let field), .constant(.integer(let value), _), _)
      where field.isPlainRootInteger:
        compareRootInteger(field, comparison, value)
      case .comparison(let comparison, let left, let right, let type):
        Instruction(
          operation: .compare, type: type, comparison: comparison, left: compile(left),
          right: compile(right))
      case .unary(let operation, let operand, let type):
        Instruction(
          operation: operation == .negate ? .negate : .magnitude, type: type,
          left: compile(operand))
      case .mixedComparison(let comparison, let left, let right):
        Instruction(
          operation: .compareMixed, type: .bool, comparison: comparison, left: compile(left),
          right: compile(right))
      case .and(let parts): compile(parts, .and, .bool)
      case .or(let parts): compile(parts, .or, .bool)
      case .not(let operand):
        Instruction(operation: .not, type: .bool, left: compile(operand))
      case .isNull(let operand, let type, let negated):
        Instruction(
          operation: negated ? .isNotNull : .isNull, type: type, left: compile(operand))
      case .membership(let operand, let values, let type, let negated):
        Instruction(
          operation: negated ? .isNoMember : .isMember, type: type, left: compile(operand),
          right: add(ValueSet(values)))
      case .match(let tag, let tags):
        // The test for a known tag comes first, so that the conjunction is never unknown.
        compile(
          [
            .isNull(.field(tag), tag.type, negated: true),
            .membership(.field(tag), tags, tag.type, negated: false),
          ], .and, .bool)
      case .bits(let operand, let test, let mask, let type):
        bits(test, mask, type, of: compile(operand))
      case .folded(let operand):
        Instruction(operation: .fold, type: .string, left: compile(operand))
      case .text(let operand, let test): text(test, of: compile(operand))
      case .call(let call): self.call(call)
      case .quantified(let quantifier, let element, let condition):
        quantified(quantifier, element, condition)
      }
    instructions.append(instruction)
    return Int32(instructions.count - 1)
  }

  private mutating func compile(
    _ nodes: [Node], _ operation: Instruction.Operation, _ type: ValueType
  ) -> Instruction {
    let compiled = nodes.map { compile($0) }
    let start = parts.count
    parts += compiled
    return Instruction(
      operation: operation, type: type, left: Int32(start), right: Int32(compiled.count))
  }

  private mutating func compareRootInteger(
    _ field: FieldDescriptor, _ comparison: ComparisonOperator, _ value: Int64
  ) -> Instruction {
    var instruction = compile(field)
    instruction.operation = .compareRootInteger
    instruction.comparison = comparison
    instruction.constant = value
    return instruction
  }

  private mutating func add(_ set: ValueSet) -> Int32 {
    sets.append(set)
    return Int32(sets.count - 1)
  }

  private func bits(
    _ test: BitTest, _ mask: Value, _ type: ValueType, of operand: Int32
  ) -> Instruction {
    var instruction = Instruction(
      operation: test == .contains ? .containsBits : .intersectsBits, type: type, left: operand)
    instruction.bits = mask.bits
    return instruction
  }

  private mutating func call(_ call: FunctionCall) -> Instruction {
    var instruction = compile(call.arguments.map(\.node), .call, call.type)
    instruction.bits = UInt64(calls.count)
    calls.append(call)
    return instruction
  }

  private mutating func quantified(
    _ quantifier: Quantifier, _ element: ElementVariable, _ condition: Node
  ) -> Instruction {
    var instruction = compile(
      element.vectors.map { .field($0) }, quantifier == .any ? .any : .all, .bool)
    for part in parts[Int(instruction.left)...].prefix(Int(instruction.right)) {
      instructions[Int(part)].tag = ElementKind(element.kind).rawValue
    }
    instruction.offset = Int32(variables.count)
    variables.append(element)
    slotCount = max(slotCount, variables.count)
    instruction.constant = Int64(compile(condition))
    variables.removeLast()
    return instruction
  }

  private mutating func text(_ test: TextTest, of operand: Int32) -> Instruction {
    let operation: Instruction.Operation
    let index: Int
    switch test {
    case .prefix(let text): (operation, index) = (.hasPrefix, add(text))
    case .suffix(let text): (operation, index) = (.hasSuffix, add(text))
    case .part(let text): (operation, index) = (.containsText, add(text))
    case .like(let pattern):
      patterns.append(pattern)
      (operation, index) = (.like, patterns.count - 1)
    }
    return Instruction(operation: operation, type: .string, left: operand, right: Int32(index))
  }

  private mutating func constant(_ value: Value, _ type: ValueType) -> Instruction {
    var instruction = Instruction(operation: .constant, type: type)
    instruction.bits = bits(value)
    return instruction
  }

  private mutating func compile(_ field: FieldDescriptor) -> Instruction {
    var instruction = Instruction(operation: .tableField, type: field.type)
    var slot: Int32 = 0
    if let element = field.element {
      // A variable has no value outside of its condition.
      guard let index = variables.lastIndex(of: element) else {
        return Instruction(operation: .unknown, type: field.type)
      }
      slot = Int32(index)
    }
    instruction.left = Int32(hops.count)
    instruction.right = Int32(field.steps.count)
    hops += field.steps.map { Hop($0, slot: slot) }
    switch field.leaf {
    case .scalar(let offset), .string(let offset): instruction.offset = Int32(offset)
    case .structScalar(let offset):
      instruction.operation = .structField
      instruction.offset = Int32(offset)
    case .unionTag(let offset):
      instruction.operation = .unionTag
      instruction.offset = Int32(offset)
    case .presence: instruction.operation = .presence
    case .stringMember(let offset, let tag):
      instruction.operation = .stringMember
      instruction.offset = Int32(offset)
      instruction.tag = tag
    case .vectorCount(let offset, let stride):
      instruction.operation = .vectorCount
      instruction.offset = Int32(offset)
      instruction.constant = Int64(stride)
    case .element:
      instruction.operation = .element
      instruction.offset = slot
    }
    if let value = field.defaultValue {
      instruction.hasDefault = true
      instruction.bits = bits(value)
    }
    if let domain = field.domain {
      instruction.domain = Int32(domains.count)
      domains.append(
        Domain(
          known: ConstantBuffer(domain.known), others: domain.others ?? 0,
          hasOthers: domain.others != nil))
    }
    return instruction
  }

  private mutating func bits(_ value: Value) -> UInt64 {
    guard case .string(let text) = value else { return value.bits }
    return UInt64(add(text))
  }

  private mutating func add(_ text: String) -> Int {
    strings.append(text)
    return strings.count - 1
  }
}

extension Value {
  /// The bit pattern for instructions; 0 for strings.
  var bits: UInt64 {
    switch self {
    case .bool(let value): value ? 1 : 0
    case .integer(let value): UInt64(bitPattern: value)
    case .unsigned(let value): value
    case .real(let value): value.bitPattern
    case .string: 0
    }
  }
}

extension FieldDescriptor {
  /// Whether this is an integer field of the root table whose stored values are its values.
  fileprivate var isPlainRootInteger: Bool {
    guard case .scalar = leaf, steps.isEmpty, domain == nil else { return false }
    return switch type {
    case .bool, .uint64, .float, .double, .string: false
    default: true
    }
  }
}

extension Instruction.Operation {
  /// Whether it needs memory of its own; see `Scratch`.
  fileprivate var needsScratch: Bool {
    switch self {
    case .fold, .any, .all, .call: true
    default: false
    }
  }
}

extension ArithmeticOperator {
  fileprivate var instruction: Instruction.Operation {
    switch self {
    case .add: .add
    case .subtract: .subtract
    case .multiply: .multiply
    case .divide: .divide
    case .remainder: .remainder
    }
  }
}

extension Hop {
  init(_ step: FieldStep, slot: Int32) {
    switch step {
    case .table(let offset):
      self.init(kind: .table, tag: 0, offset: Int32(offset), size: 0)
    case .structure(let offset, let size):
      self.init(kind: .structure, tag: 0, offset: Int32(offset), size: Int32(size))
    case .tableMember(let offset, let tag):
      self.init(kind: .tableMember, tag: tag, offset: Int32(offset), size: 0)
    case .structureMember(let offset, let tag, let size):
      self.init(kind: .structureMember, tag: tag, offset: Int32(offset), size: Int32(size))
    case .element: self.init(kind: .element, tag: 0, offset: slot, size: 0)
    case .elementStructure(_, let size):
      self.init(kind: .elementStructure, tag: 0, offset: slot, size: Int32(size))
    }
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
