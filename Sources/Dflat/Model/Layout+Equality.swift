// Equality and hashing by value: two encodings of the same content are equal.
//
// Strings are equal if their bytes are. Floats compare by `==`, except that NaN equals NaN, so that
// every value equals itself. In a comparison by bits, floats are equal only if all their bits are;
// exact properties are always compared in this way.

import FlatBuffersRuntime

extension TableLayout {
  func equal(_ left: TableReader, _ right: TableReader, byBits: Bool = false) -> Bool {
    properties.allSatisfy { $0.isEqual(left, right, byBits: byBits) }
  }

  func hash(_ table: TableReader, into hasher: inout Hasher) {
    for property in properties { table.value(of: property).hash(into: &hasher) }
  }
}

extension Property {
  /// Whether the property has equal values in two tables.
  func isEqual(_ left: TableReader, _ right: TableReader, byBits: Bool = false) -> Bool {
    left.value(of: self).equals(right.value(of: self), byBits: byBits || isExact)
  }
}

extension EntitySchema {
  /// The first field that has other values in one row than in the other; nil if there is none.
  package func fieldThatDiffers(_ one: Row, _ other: Row) -> String? {
    one.read { left in
      other.read { right in layout.properties.first { !$0.isEqual(left, right) }?.name }
    }
  }
}

extension StructLayout {
  func equal(_ left: StructReader, _ right: StructReader, byBits: Bool = false) -> Bool {
    properties.allSatisfy { left.value(of: $0).equals(right.value(of: $0), byBits: byBits) }
  }
}

extension LayoutValue {
  func equals(_ other: LayoutValue, byBits: Bool = false) -> Bool {
    switch (self, other) {
    case (.null, .null): true
    case (.scalar(_, let left), .scalar(_, let right)):
      left.equals(right, byBits: byBits)
    case (.enumeration(_, let left), .enumeration(_, let right)): left == right
    case (.string(let left), .string(let right)): equalBytes(left, right)
    case (.defaultString(let left), .defaultString(let right)):
      left.utf8.elementsEqual(right.utf8)
    case (.defaultString(let text), .string(let bytes)),
      (.string(let bytes), .defaultString(let text)):
      text.utf8.elementsEqual(bytes)
    case (.structure(let layout, let left), .structure(_, let right)):
      layout.equal(left, right, byBits: byBits)
    case (.table(let layout, let left), .table(_, let right)):
      layout.equal(left, right, byBits: byBits)
    case (.union(let member, let left), .union(let otherMember, let right)):
      member.tag == otherMember.tag
        && left.value(member.kind).equals(right.value(otherMember.kind), byBits: byBits)
    case (.vector(let left), .vector(let right)): left.equals(right, byBits: byBits)
    default: false
    }
  }

  func hash(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .scalar(_, let value): hasher.combine(value.hashBits)
    case .enumeration(_, let raw): hasher.combine(raw)
    case .string(let bytes): hasher.combine(bytes: bytes)
    case .defaultString(let text):
      var text = text
      text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    case .structure(let layout, let structure):
      for property in layout.properties { structure.value(of: property).hash(into: &hasher) }
    case .table(let layout, let table): layout.hash(table, into: &hasher)
    case .union(let member, let union):
      hasher.combine(member.tag)
      union.value(member.kind).hash(into: &hasher)
    case .vector(let elements):
      var index = 0
      var count = 0
      while let element = elements.next(&index) {
        element.hash(into: &hasher)
        count += 1
      }
      hasher.combine(count)
    }
  }
}

extension LayoutElements {
  fileprivate func equals(_ other: LayoutElements, byBits: Bool) -> Bool {
    switch kind {
    case .union: break  // Some elements are such that programs do not see them.
    default: if count != other.count { return false }
    }
    var index = 0
    var otherIndex = 0
    while true {
      let left = next(&index)
      let right = other.next(&otherIndex)
      guard let left, let right else { return left == nil && right == nil }
      if !left.equals(right, byBits: byBits) { return false }
    }
  }

  /// The next element that programs can see: empty and unknown elements of unions are skipped.
  fileprivate func next(_ index: inout Int) -> LayoutValue? {
    while index < count {
      let element = self[index]
      index += 1
      if case .null = element { continue }
      return element
    }
    return nil
  }
}

extension Value {
  func equals(_ other: Value, byBits: Bool = false) -> Bool {
    switch (self, other) {
    case (.bool(let left), .bool(let right)): left == right
    case (.integer(let left), .integer(let right)): left == right
    case (.unsigned(let left), .unsigned(let right)): left == right
    case (.real(let left), .real(let right)):
      byBits
        ? left.bitPattern == right.bitPattern : left == right || (left.isNaN && right.isNaN)
    case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
    default: false
    }
  }

  fileprivate var hashBits: UInt64 {
    guard case .real(let value) = self else { return bits }
    return value.isNaN ? Double.nan.bitPattern : (value + 0).bitPattern
  }
}

extension Row {
  /// Whether two rows of one layout have equal values.
  func equals(_ other: Row, as layout: TableLayout) -> Bool {
    equals(other) { Unmanaged.passUnretained(layout) }
  }

  /// Compares two rows. The layout is evaluated only if the bytes differ, and the caller keeps it
  /// alive.
  ///
  /// This releases nothing that the caller could observe, so a caller that has read the rows from
  /// an array need not retain them.
  @usableFromInline @_effects(releasenone)
  func equals(_ other: Row, as layout: () -> Unmanaged<TableLayout>) -> Bool {
    if storage === other.storage || equalBytes(unretainedBytes, other.unretainedBytes) {
      return true
    }
    let left = unretainedTable
    let right = other.unretainedTable
    let layout = layout()
    let plan = layout._withUnsafeGuaranteedRef { $0.unretainedPlan }
    if plan._withUnsafeGuaranteedRef({ $0.differs(left, right) }) { return false }
    return layout._withUnsafeGuaranteedRef { $0.equal(left, right) }
  }
}
