// Compilation of a condition or a sort key into a program.
//
// Operands are compiled before the instruction that uses them, so they precede it.

struct ProgramCompiler {
  var instructions: [Instruction] = []
  var hops: [Hop] = []
  var parts: [Int32] = []
  var strings: [String] = []
  var sets: [ValueSet] = []
  var patterns: [LikePattern] = []
  var calls: [FunctionCall] = []
  var searches: [(condition: SearchCondition, weights: [Double])] = []
  var domains: [Domain] = []
  /// The variables of the conditions that are being compiled, from the outermost inwards; their
  /// positions are their slots.
  private var variables: [ElementVariable] = []
  var slotCount = 0

  mutating func compile(_ node: Node) -> Int32 {
    guard case .some = node.connective else { return compileTest(node) }
    let top = node.combined(leaf: { Compiled(place: compileTest($0), level: 0) }) { kind, parts in
      let level = (parts.map(\.level).max() ?? 0) + 1
      var instruction = Instruction(operation: kind.instruction, type: .bool)
      if kind == .not {
        instruction.left = parts[parts.startIndex].place
      } else {
        instruction.left = Int32(self.parts.count)
        instruction.right = Int32(parts.count)
        self.parts += parts.map(\.place)
      }
      instruction.isDeep = level > Self.mostLevels
      instructions.append(instruction)
      return Compiled(place: Int32(instructions.count - 1), level: level)
    }
    return top.place
  }

  /// The instruction of an expression, and the levels of connectives in it.
  private struct Compiled {
    let place: Int32
    let level: Int
  }

  /// The greatest depth of connectives that are evaluated recursively.
  private static let mostLevels = 16

  /// The same for an expression that is no connective.
  private mutating func compileTest(_ node: Node) -> Int32 {
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
      case .and, .or, .not: preconditionFailure("a connective is compiled with its parts")
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
      case .search(let search): self.search(search, .search, [], .bool)
      case .relevance(let search, let weights): self.search(search, .relevance, weights, .double)
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

  private mutating func search(
    _ search: SearchCondition, _ operation: Instruction.Operation, _ weights: [Double],
    _ type: ValueType
  ) -> Instruction {
    var instruction = compile(search.columns.map { .field($0) }, operation, type)
    instruction.bits = UInt64(searches.count)
    searches.append((search, weights))
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
    require(
      field.related == nil,
      "a value of another object was used where only the object itself is known: use it in queries")
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
    case .unionCount(let offset, let tags):
      instruction.operation = .unionCount
      instruction.offset = Int32(offset)
      instruction.constant = 4
      instruction.domain = add(FieldDomain(known: tags.map { Int64($0) }.sorted(), others: nil))
    case .element:
      instruction.operation = .element
      instruction.offset = slot
    case .elementTag:
      instruction.operation = .elementTag
      instruction.offset = slot
    case .elementString(let tag):
      instruction.operation = .elementString
      instruction.offset = slot
      instruction.tag = tag
    }
    if let value = field.defaultValue {
      instruction.hasDefault = true
      instruction.bits = bits(value)
    }
    if let domain = field.domain { instruction.domain = add(domain) }
    return instruction
  }

  private mutating func add(_ domain: FieldDomain) -> Int32 {
    domains.append(
      Domain(
        known: ConstantBuffer(domain.known), others: domain.others ?? 0,
        hasOthers: domain.others != nil))
    return Int32(domains.count - 1)
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
  var needsScratch: Bool {
    switch self {
    case .fold, .any, .all, .call: true
    default: false
    }
  }
}

extension Node.Connective {
  fileprivate var instruction: Instruction.Operation {
    switch self {
    case .and: .and
    case .or: .or
    case .not: .not
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
    case .elementMember(_, let tag):
      self.init(kind: .elementMember, tag: tag, offset: slot, size: 0)
    case .elementStructureMember(_, let tag, let size):
      self.init(kind: .elementStructureMember, tag: tag, offset: slot, size: Int32(size))
    }
  }
}
