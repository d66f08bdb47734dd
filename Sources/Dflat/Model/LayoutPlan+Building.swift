// Building a plan: flattens layouts and everything that they refer to into arrays.
//
// Each table and union gets its index when it is first encountered and is filled in later, so
// cycles terminate.

extension LayoutPlan {
  /// The arrays of a plan under construction.
  struct Builder {
    var checks: [Check] = []
    var writes: [Write] = []
    var steps: [Step] = []
    var strings: [String] = []
    var tables: [Table] = []
    var members: [Member] = []
    var unions: [Span] = []
    private var pendingTables: [TableLayout] = []
    private var pendingUnions: [UnionLayout] = []

    /// The index of a table. Its checks are added later.
    mutating func table(_ layout: TableLayout) -> Int32 {
      if let index = pendingTables.firstIndex(where: { $0 === layout }) { return Int32(index) }
      pendingTables.append(layout)
      return Int32(pendingTables.count - 1)
    }

    private mutating func union(_ layout: UnionLayout) -> Int32 {
      if let index = pendingUnions.firstIndex(where: { $0 === layout }) { return Int32(index) }
      pendingUnions.append(layout)
      return Int32(pendingUnions.count - 1)
    }

    mutating func run() {
      while tables.count < pendingTables.count || unions.count < pendingUnions.count {
        if tables.count < pendingTables.count {
          fill(pendingTables[tables.count])
        } else {
          let start = Int32(members.count)
          for member in pendingUnions[unions.count].members { members.append(self.member(member)) }
          unions.append(Span(start: start, end: Int32(members.count)))
        }
      }
    }

    private mutating func fill(_ layout: TableLayout) {
      let start = Int32(checks.count)
      let firstStep = Int32(steps.count)
      let inOrder = layout.indicesInSlotOrder
      for property in inOrder {
        checks.append(check(layout.properties[property]))
        writes.append(write(layout.properties[property], at: property))
      }
      for step in layout.writeSteps() {
        guard let index = inOrder.firstIndex(of: step.property) else { continue }
        steps.append(Step(index: Int32(index), isTag: step.isTag))
      }
      tables.append(
        Table(
          start: start, end: Int32(checks.count), firstStep: firstStep,
          lastStep: Int32(steps.count), slotCount: Int32(layout.slotCount),
          isLeaf: checks[Int(start)...].allSatisfy {
            [.scalar, .string, .vector, .stringVector].contains($0.operation)
          }))
    }

    private mutating func write(_ property: Property, at index: Int) -> Write {
      var write = Write(
        property: Int32(index), alignment: Int32(property.kind.alignment), defaultBits: nil)
      write.isAlwaysWritten = property.isAlwaysWritten
      write.isExact = property.isExact
      if case .enumeration = property.kind { write.isEnumeration = true }
      if case .structure = property.kind { write.isStructure = true }
      if case .string(let text?) = property.kind {
        write.defaultString = Int32(strings.count)
        strings.append(text)
      }
      if let type = property.kind.scalarType {
        write.defaultBits = property.defaultValue?.storedBits(type)
      }
      return write
    }

    private mutating func check(_ property: Property) -> Check {
      var check = Check(
        operation: .scalar, isRequired: property.isRequired, isInteger: property.kind.isInteger,
        offset: Int32(property.offset),
        size: Int32(property.kind.inlineSize), target: 0)
      switch property.kind {
      case .scalar, .enumeration, .structure, .array: break
      case .string: check.operation = .string
      case .table(let layout):
        check.operation = .table
        check.target = table(layout())
      case .union(let layout):
        check.operation = .union
        check.target = union(layout())
      case .vector(.string): check.operation = .stringVector
      case .vector(.table(let layout)):
        check.operation = .tableVector
        check.target = table(layout())
      case .vector(.union(let layout)):
        check.operation = .unionVector
        check.target = union(layout())
      case .vector(let kind):
        check.operation = .vector
        check.stride = Int32(kind.inlineSize)
      }
      return check
    }

    /// Whether tables are nested 64 deep at most, as deep as `Verifier` allows. Tables that may
    /// contain themselves are not.
    var isShallow: Bool {
      var level: [Int32] = [0]
      for _ in 0..<64 where !level.isEmpty {
        var isNext = [Bool](repeating: false, count: tables.count)
        for table in level {
          for inner in tables(inside: table) { isNext[Int(inner)] = true }
        }
        level = isNext.indices.filter { isNext[$0] }.map(Int32.init)
      }
      return level.isEmpty
    }

    /// The tables that a table may refer to.
    private func tables(inside index: Int32) -> [Int32] {
      let table = tables[Int(index)]
      return checks[Int(table.start)..<Int(table.end)].flatMap { check -> [Int32] in
        switch check.operation {
        case .table, .tableVector: return [check.target]
        case .union, .unionVector:
          let span = unions[Int(check.target)]
          return members[Int(span.start)..<Int(span.end)]
            .filter { $0.kind == .table }.map(\.detail)
        case .scalar, .string, .vector, .stringVector: return []
        }
      }
    }

    private mutating func member(_ member: UnionLayout.Member) -> Member {
      switch member.kind {
      case .table(let layout): Member(tag: member.tag, kind: .table, detail: table(layout()))
      case .structure(let layout):
        Member(
          tag: member.tag, kind: .structure, detail: Int32(layout().size),
          alignment: Int32(layout().alignment))
      default: Member(tag: member.tag, kind: .string, detail: 0)
      }
    }
  }
}

extension Property.Kind {
  /// The type of a scalar or enum.
  fileprivate var scalarType: ValueType? {
    switch self {
    case .scalar(let type, _): type
    case .enumeration(let layout, _): layout().type
    default: nil
    }
  }

  /// The alignment of the inline value in a table, or of a vector's elements.
  var alignment: Int {
    switch self {
    case .structure(let layout): layout().alignment
    case .vector(let element): element.alignment
    default: inlineSize
    }
  }

  fileprivate var isInteger: Bool {
    guard case .scalar(let type, _) = self else { return false }
    return switch type {
    case .bool, .float, .double, .string: false
    default: true
    }
  }
}

extension Value {
  /// The bits of the value in a field of a type; all further bits are zero.
  fileprivate func storedBits(_ type: ValueType) -> UInt64 {
    if type == .float, case .real(let value) = self { return UInt64(Float(value).bitPattern) }
    return bits & (.max >> UInt64(64 - 8 * type.size))
  }
}
