// Differences: whether the C++ verifier and ours agree about a buffer, and whether both libraries
// read the same values.
//
// A buffer that C++ accepts must be accepted here, by the verifier and by the check of stored rows,
// and have the same values. A copy of it must be accepted by C++ and have the same values. A buffer
// that C++ rejects and that is accepted here must have one of these reasons. None of them lets a
// reader leave the buffer.
//
//  - `alignment`: C++ requires every part to be aligned to its size. We read without alignment, so
//    that rows of writers that do not align can be read.
//   - `shortBuffer`: C++ requires 12 bytes, for a root, a table and a vtable of 4 bytes. Here a
//     vtable may have 2 bytes or overlap other parts.
//   - `unreadValue`: C++ follows the offset of a union's value even if the tag is zero or unknown.
//     We do not follow an offset that no reader follows.
//   - `unreadTag`: C++ requires a sound tag, or sound tags of a vector of unions, even if there is
//     no value. We do not check a tag that no reader needs.
//   - `missingStruct`: C++ rejects a union with the tag of a struct and no value. We read such a
//     union as empty. With the tag of a table or string C++ accepts it, too.
//
// No buffer is accepted there and rejected here, with one exception by design, which buffers of the
// size of rows cannot reach: vectors with more references to shared parts than 1,000,000 plus the
// buffer's bytes. C++ limits the number of tables only.

import DflatTestSupport
import FlatBuffersRuntime

@testable import Dflat

struct Differences {
  /// Why a buffer is accepted here and rejected by C++.
  enum Reason: String, CaseIterable {
    case alignment, shortBuffer, unreadValue, unreadTag, missingStruct
  }

  /// A difference without a known reason.
  struct Finding: Error, CustomStringConvertible {
    let root: String
    let what: String
    let bytes: [UInt8]

    var description: String { "\(root): \(what): \(bytes)" }
  }

  private(set) var buffers = 0
  private(set) var accepted = 0
  private(set) var refused = 0
  private(set) var copied = 0
  private(set) var reasons: [Reason: Int] = [:]

  private let judge: CxxJudge
  private let plans = JudgedSchemas.roots.map(\.plan)
  private let builder = FlatBufferBuilder()
  /// Larger values are not compared: shared parts expand to many copies.
  private let room = 1 << 16

  init(_ judge: CxxJudge) {
    self.judge = judge
  }

  /// Creates, changes and compares a few buffers.
  mutating func run(_ random: inout SeededGenerator) throws(Finding) {
    let root = Int.random(in: 0..<JudgedSchemas.roots.count, using: &random)
    let good = WildBuffer.make(JudgedSchemas.roots[root], &random)
    try compare(good, root)
    for _ in 0..<3 { try compare(WildBuffer.mutated(good, &random), root) }
  }

  mutating func compare(_ bytes: [UInt8], _ root: Int) throws(Finding) {
    buffers += 1
    let outcome = bytes.withUnsafeBytes { bytes -> Result<Reason??, Finding> in
      do throws(Finding) { return .success(try compare(bytes, root)) } catch {
        return .failure(error)
      }
    }
    switch try outcome.get() {
    case nil: refused += 1
    case .some(nil): accepted += 1
    case .some(let reason?): reasons[reason, default: 0] += 1
    }
  }

  /// - Returns: nil if both reject the buffer, `.some(nil)` if both accept it, otherwise why it is
  ///   accepted here only.
  private mutating func compare(
    _ bytes: UnsafeRawBufferPointer, _ root: Int
  ) throws(Finding) -> Reason?? {
    let isExpected = judge.accepts(bytes, root: root)
    let refusal = refusal(bytes, root)
    if plans[root].isSound(bytes) {
      // The check of rows does not require `required` fields.
      do throws(VerificationError) { try plans[root].verifyFully(bytes) } catch {
        throw finding("the check of rows accepts what is refused: \(error)", root, bytes)
      }
    }
    if let refusal {
      if isExpected { throw finding("C++ accepts it: \(refusal)", root, bytes) }
      return nil
    }
    guard isExpected else {
      if judge.accepts(bytes, root: root, checksAlignment: false) { return .some(.alignment) }
      guard let table = TableReader(root: bytes),
        let reason = bytes.count < 12
          ? .shortBuffer : JudgedSchemas.roots[root].reasonToRefuse(table)
      else { throw finding("C++ refuses it, and it is not known why", root, bytes) }
      return .some(reason)
    }
    try compareValues(bytes, root)
    return .some(nil)
  }

  private func refusal(_ bytes: UnsafeRawBufferPointer, _ root: Int) -> VerificationError? {
    do throws(VerificationError) {
      try plans[root].verify(bytes, requiring: true)
      try plans[root].verify(bytes)
      return nil
    } catch { return error }
  }

  private mutating func compareValues(
    _ bytes: UnsafeRawBufferPointer, _ root: Int
  ) throws(Finding) {
    guard let table = TableReader(root: bytes) else { throw finding("it has no root", root, bytes) }
    let expected = judge.values(bytes, root: root, room: room)
    let values = ReadValues(table, JudgedSchemas.roots[root], room: room).bytes
    if expected.count == room && values.count == room { return }
    if values != expected { throw finding("other values are read", root, bytes) }

    // The row that an update would write.
    builder.reset()
    var copier = RowCopier(plans[root], builder, sources: bytes.count)
    let copy = copier.table(0, table)
    guard copier.isComplete else { return }
    builder.finish(copy)
    copied += 1
    guard judge.accepts(builder.bytes, root: root) else {
      throw finding("C++ refuses the copy", root, bytes)
    }
    // The copy lacks the empty elements of vectors of unions.
    let kept = ReadValues(table, JudgedSchemas.roots[root], room: room, dropsEmpty: true).bytes
    if judge.values(builder.bytes, root: root, room: room) != kept {
      throw finding("the copy has other values", root, bytes)
    }
  }

  private func finding(
    _ what: String, _ root: Int, _ bytes: UnsafeRawBufferPointer
  ) -> Finding {
    Finding(root: JudgedSchemas.roots[root].name, what: what, bytes: [UInt8](bytes))
  }

  /// The number of buffers of each kind.
  var summary: String {
    let found = Reason.allCases.map { "\($0) \(reasons[$0] ?? 0)" }.joined(separator: ", ")
    return
      "\(buffers) buffers: both accept \(accepted) (copied \(copied)), both refuse \(refused), here alone: \(found)"
  }
}

// MARK: - Reasons

extension TableLayout {
  /// Why C++ rejects a table that is accepted here, apart from alignment.
  fileprivate func reasonToRefuse(_ table: TableReader) -> Differences.Reason? {
    for property in properties {
      switch property.kind {
      case .union(let layout):
        let tag = table.scalar(at: property.offset - 2, default: UInt8(0))
        let place = table.locate(property.offset, size: 4)
        if place == 0, table.locate(property.offset - 2, size: 1) < 0 { return .unreadTag }
        guard let member = layout().member(tag) else {
          if place > 0, !table.leadsSomewhere(place) { return .unreadValue }
          continue
        }
        if place == 0 {
          guard case .structure = member.kind else { continue }
          return .missingStruct
        }
      case .vector(.union):
        if !table.contains(property.offset), table.contains(property.offset - 2) {
          return .unreadTag
        }
      default: break
      }
      if let reason = reasonToRefuse(table.value(of: property)) { return reason }
    }
    return nil
  }

  private func reasonToRefuse(_ value: LayoutValue) -> Differences.Reason? {
    switch value {
    case .table(let layout, let table): return layout.reasonToRefuse(table)
    case .union(let member, let union): return reasonToRefuse(union.value(member.kind))
    case .vector(let elements):
      for index in 0..<elements.count {
        if let reason = reasonToRefuse(elements[index]) { return reason }
      }
      return nil
    default: return nil
    }
  }
}

extension TableReader {
  /// Whether C++ follows the offset at a position.
  fileprivate func leadsSomewhere(_ place: Int) -> Bool {
    guard let distance: UInt32 = scalar(atPosition: place) else { return false }
    return distance != 0 && distance <= Int32.max && place + Int(distance) < bytes.count
  }
}
