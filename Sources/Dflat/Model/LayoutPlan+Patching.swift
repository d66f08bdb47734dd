// Patching: whether a row stays sound when inline values of its root table are overwritten.
//
// Rows may come from any program, and another part of a row may overlap a value. That none does is
// found without looking at all of them:
//
//  - Offsets point forward. So if everything that the root table refers to begins behind the
//    values, all that is reached from there lies behind them, too, except for vtables.
//  - Vtables may lie anywhere. They are looked at if they belong to the root table, or to a table
//    that it refers to and that refers to no further ones.

import FlatBuffersRuntime

extension LayoutPlan {
  /// Whether a sound row is as sound after some bytes of it were overwritten. False means that the
  /// whole row must be checked.
  /// - Parameters:
  ///   - old: The row before.
  ///   - new: The row after.
  ///   - range: Where the bytes are.
  func staysSound(
    _ old: UnsafeRawBufferPointer, _ new: UnsafeRawBufferPointer, patched range: Range<Int>
  ) -> Bool {
    guard let start = old.baseAddress, let newStart = new.baseAddress else { return false }
    // The old row is sound, so whatever it refers to is in it, the same in both.
    let walk = Walk(start: start, end: old.count)
    let changed = Walk(start: newStart, end: new.count)
    let root = walk.load(0, as: UInt32.self)
    let vtable = root &- walk.load(root, as: Int32.self)
    guard range.lowerBound >= root &+ 4, isVTable(of: root, outside: range, walk) else {
      return false
    }
    let vtableSize = walk.load(vtable, as: UInt16.self)
    let table = tables[0]
    for index in Int(table.start)..<Int(table.end) {
      let part = parts[index]
      let field = Int(part.offset)
      if part.operation == .scalar || field >= vtableSize { continue }
      let distance = walk.load(vtable &+ field, as: UInt16.self)
      if distance == 0 { continue }
      let place = root &+ distance
      let offset = walk.load(place, as: UInt32.self)
      let target = place &+ offset
      guard offset == changed.load(place, as: UInt32.self), target >= range.upperBound else {
        return false
      }
      switch part.operation {
      case .scalar, .string, .vector, .stringVector: continue
      case .table:
        if !isLeaf(Int(part.detail), at: target, outside: range, walk) { return false }
      case .union:
        let tagDistance = walk.load(vtable &+ field &- 2, as: UInt16.self)
        if tagDistance == 0 { continue }
        let tag = walk.load(root &+ tagDistance, as: UInt8.self)
        guard tag == changed.load(root &+ tagDistance, as: UInt8.self) else { return false }
        guard tag != 0, let member = member(tag, of: Int(part.detail)) else { continue }
        if member.kind == .table, !isLeaf(Int(member.detail), at: target, outside: range, walk) {
          return false
        }
      case .tableVector:
        // Empty elements refer to nothing.
        for index in 0..<walk.load(target, as: UInt32.self) {
          let element = walk.follow(target &+ 4 &+ 4 &* index)
          if element != 0, !isLeaf(Int(part.detail), at: element, outside: range, walk) {
            return false
          }
        }
      case .unionVector: return false
      }
    }
    return true
  }

  private func isVTable(of position: Int, outside range: Range<Int>, _ walk: Walk) -> Bool {
    let vtable = position &- walk.load(position, as: Int32.self)
    return vtable >= range.upperBound
      || vtable &+ max(2, walk.load(vtable, as: UInt16.self)) <= range.lowerBound
  }

  /// Whether a table refers to no further ones, and its vtable is outside of a range.
  private func isLeaf(
    _ table: Int, at position: Int, outside range: Range<Int>, _ walk: Walk
  ) -> Bool {
    tables[table].isLeaf && isVTable(of: position, outside: range, walk)
  }
}
