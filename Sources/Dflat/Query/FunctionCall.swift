// Calls of functions in conditions, and what happens when they fail.

import FlatBuffersRuntime
import Platform

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

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
public final class FunctionCall: Sendable {
  let name: String
  let isDeterministic: Bool
  let arguments: [FunctionArgument]
  /// The type of the result.
  let type: ValueType
  private let body: @Sendable ([Value?]) throws -> Value?

  init(
    name: String, isDeterministic: Bool, arguments: [FunctionArgument], type: ValueType,
    _ body: @escaping @Sendable ([Value?]) throws -> Value?
  ) {
    self.name = name
    self.isDeterministic = isDeterministic
    self.arguments = arguments
    self.type = type
    self.body = body
  }

  /// The result; nil if it is unknown, or if the call failed.
  func result(_ values: [Value?], _ failures: FunctionFailures) -> Value? {
    do { return try body(values) } catch {
      failures.add(name, error)
      return nil
    }
  }
}

/// A function that a query called has thrown an error. The query has no result.
public struct FunctionError: LocalizedError, Sendable, CustomStringConvertible {
  /// The name of the function.
  public let function: String
  /// The table of the queried type.
  public let table: String
  /// What the function has thrown.
  public let underlying: any Error

  /// One line with the function, the table, the error, and what to do.
  public var description: String {
    "the function \(function), called for an object of table \(table), failed: \(underlying); "
      + advice
  }

  private var advice: String {
    "return nil for arguments without a result, or leave these objects out by another condition"
  }

  /// The same as ``description``.
  public var errorDescription: String? { description }
  /// What to do.
  public var recoverySuggestion: String? { advice }
}

/// The first error of the functions that a program calls.
final class FunctionFailures: Sendable {
  private let hasFailed = Atomic<Bool>(false)
  private let first = Mutex<(name: String, error: any Error)?>(nil)

  var isEmpty: Bool { !hasFailed.load(ordering: .relaxed) }

  func add(_ name: String, _ error: any Error) {
    first.withLock { if $0 == nil { $0 = (name, error) } }
    hasFailed.store(true, ordering: .relaxed)
  }

  /// Moves the error to another place that has none.
  /// - Returns: Whether there was one.
  func move(to other: FunctionFailures) -> Bool {
    if isEmpty { return false }
    hasFailed.store(false, ordering: .relaxed)
    guard let failure = first.withLock({ $0.take() }) else { return false }
    other.add(failure.name, failure.error)
    return true
  }

  /// Returns the error, and forgets it.
  func take(_ schema: EntitySchema) -> FunctionError? {
    if isEmpty { return nil }
    hasFailed.store(false, ordering: .relaxed)
    return first.withLock { $0.take() }.map {
      FunctionError(function: $0.name, table: schema.table, underlying: $0.error)
    }
  }
}

/// Whether the current thread is inside a function of a query.
///
/// Such a function must not use a workspace: it runs while an engine's statement is stepped, inside
/// the view of a transaction, or in a delivery, and might wait for itself.
enum FunctionThread {
  static var isInside: Bool {
    isUsed.load(ordering: .relaxed) && pthread_getspecific(key) != nil
  }

  static func enter() {
    isUsed.store(true, ordering: .relaxed)
    setDepth(depth + 1)
  }

  static func leave() { setDepth(depth - 1) }

  /// Whether any function was ever called: until then no thread-local value is read.
  private static let isUsed = Atomic<Bool>(false)

  private static var depth: Int { Int(bitPattern: pthread_getspecific(key)) }

  private static func setDepth(_ depth: Int) {
    pthread_setspecific(key, UnsafeMutableRawPointer(bitPattern: depth))
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    let status = pthread_key_create(&key, nil)
    precondition(status == 0, "no thread-local storage is left in this process")
    return key
  }()
}

extension Node {
  /// Whether the value depends on a function that may give other results for the same arguments.
  var isDeterministic: Bool {
    switch self {
    case .field, .constant, .match: true
    case .arithmetic(_, let left, let right, _), .comparison(_, let left, let right, _),
      .mixedComparison(_, let left, let right):
      left.isDeterministic && right.isDeterministic
    case .and(let parts), .or(let parts): parts.allSatisfy(\.isDeterministic)
    case .not(let operand), .isNull(let operand, _, _), .membership(let operand, _, _, _),
      .bits(let operand, _, _, _), .folded(let operand), .text(let operand, _),
      .unary(_, let operand, _), .quantified(_, _, let operand):
      operand.isDeterministic
    case .call(let call):
      call.isDeterministic && call.arguments.allSatisfy(\.node.isDeterministic)
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

  /// The value of an expression of any type.
  private func value(
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
