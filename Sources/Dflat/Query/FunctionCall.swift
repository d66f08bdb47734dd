// Calls of functions in conditions.

import FlatBuffersRuntime
import Platform

/// An argument of a function's call.
public struct FunctionArgument: Sendable {
  let node: Node
  let type: ValueType

  init(_ node: Node, _ type: ValueType) {
    self.node = node
    self.type = node.operandType(type)
  }

  /// A constant; nil is unknown.
  init<V: FunctionValue>(_ value: V) {
    let type = V._Known._valueType
    self.type = type
    node = value._untyped.map { .constant($0, type) } ?? .call(.unknown)
  }
}

/// A call of a function with its arguments.
@usableFromInline package final class FunctionCall: Sendable {
  let name: String
  let isDeterministic: Bool
  let arguments: [FunctionArgument]
  /// The type of the result.
  let type: ValueType
  /// If there are any: the values of each argument, without which the result is not true. The
  /// result is then unknown if an argument is.
  let candidates: [[Value]]
  /// Whether it is none of the program's, but looks a value up that a related object has. It never
  /// fails.
  let isLookUp: Bool
  private let body: @Sendable ([Value?]) throws -> Value?

  init(
    name: String, isDeterministic: Bool, arguments: [FunctionArgument], type: ValueType,
    candidates: [[Value]] = [], isLookUp: Bool = false,
    _ body: @escaping @Sendable ([Value?]) throws -> Value?
  ) {
    self.candidates = candidates
    self.isLookUp = isLookUp
    self.name = name
    self.isDeterministic = isDeterministic
    self.arguments = arguments
    self.type = type
    self.body = body
  }

  /// The same call with other arguments.
  func with(_ arguments: [FunctionArgument]) -> FunctionCall {
    FunctionCall(
      name: name, isDeterministic: isDeterministic, arguments: arguments, type: type,
      candidates: candidates, isLookUp: isLookUp, body)
  }

  /// The result; nil if it is unknown, or if the call failed.
  func result(_ values: [Value?], _ failures: FunctionFailures) -> Value? {
    do { return try body(values) } catch {
      failures.add(name, error)
      return nil
    }
  }
}

/// Whether the current thread is inside a function of a query.
///
/// Such a function must not use a workspace: it runs while an engine's statement is stepped, inside
/// the view of a transaction, or in a delivery, and might wait for itself.
enum FunctionThread {
  static var isInside: Bool {
    isUsed.load(ordering: .relaxed) && pointer.value != nil
  }

  static func enter() {
    isUsed.store(true, ordering: .relaxed)
    setDepth(depth + 1)
  }

  static func leave() { setDepth(depth - 1) }

  /// Whether any function was ever called: until then no thread-local value is read.
  private static let isUsed = Atomic<Bool>(false)

  /// The depth of nested calls, as a pointer.
  private static let pointer = ThreadPointer()

  private static var depth: Int { Int(bitPattern: pointer.value) }

  private static func setDepth(_ depth: Int) {
    pointer.value = UnsafeMutableRawPointer(bitPattern: depth)
  }
}

extension Node {
  /// Whether the value depends on nothing but the object, and is always the same for it.
  var isDeterministic: Bool {
    !contains { node in
      switch node {
      // An index orders by what all objects have, not only those that have changed.
      case .relevance: true
      case .call(let call): !call.isDeterministic
      default: false
      }
    }
  }
}

extension FunctionCall {
  /// A call whose result is always unknown.
  fileprivate static let unknown = FunctionCall(
    name: "nil", isDeterministic: true, arguments: [], type: .string
  ) { _ in nil }
}

extension Program {
  /// Throws the first error of the functions that were called.
  func throwFailure(_ schema: EntitySchema) throws {
    if let error = failures.take(schema) { throw error }
  }

  /// The result of a call.
  func call(
    _ instruction: Instruction, _ table: TableReader, _ scratch: ScratchMemory
  ) -> Value? {
    let call = calls[Int(instruction.bits)]
    var values: [Value?] = []
    values.reserveCapacity(call.arguments.count)
    for (position, argument) in call.arguments.enumerated() {
      let index = Int(parts[Int(instruction.left) + position])
      values.append(value(index, argument.type, table, scratch))
    }
    return call.result(values, failures)
  }

  /// The value of an expression of any type; nil if it is unknown.
  func value(
    _ index: Int, _ type: ValueType, _ table: TableReader, _ scratch: ScratchMemory
  ) -> Value? {
    switch type {
    case .bool:
      switch condition(index, table, scratch) {
      case .true: .bool(true)
      case .false: .bool(false)
      case .unknown: nil
      }
    case .float, .double: real(index, table, scratch).map { .real($0) }
    case .string: utf8(index, table, scratch).map { .string(String(decoding: $0, as: UTF8.self)) }
    case .uint64: integer(index, table, scratch).map { .unsigned(UInt64(bitPattern: $0)) }
    default: integer(index, table, scratch).map { .integer($0) }
    }
  }
}
