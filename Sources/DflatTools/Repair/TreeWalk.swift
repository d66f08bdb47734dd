// TreeWalk: all that is reached from the root of a b-tree, in the order of its keys.
//
//  - No page is visited twice, in whatever circle the pages refer to each other.
//  - A leaf whose row ids do not belong where it is referred to is given back: it may be a leaf of
//    another table, or of another place.
//  - What could not be reached, or looks wrong, is a problem: the tree is sound if it has none.

/// Walks over b-trees.
struct TreeWalk {
  let source: PageSource
  let map: PageMap
  let owner: UInt32
  /// The problems, in words; only the first of them are kept.
  private(set) var problems: [String] = []
  private(set) var problemCount = 0
  /// Leaves with cells that cannot be read.
  private(set) var damagedLeaves: [Int] = []

  /// Whether it has pages of another tree, or of another place.
  private(set) var hasForeignPages = false

  var isSound: Bool { problemCount == 0 }

  /// A row that was reached.
  struct Row {
    let page: Int
    let cell: TreePage.Cell
    /// Whether its row id is between those of its neighbours.
    let isInOrder: Bool
  }

  init(_ source: PageSource, _ map: PageMap, owner: UInt32) {
    self.source = source
    self.map = map
    self.owner = owner
  }

  private mutating func note(_ problem: @autoclosure () -> String) {
    problemCount += 1
    if problems.count < 20 { problems.append(problem()) }
  }

  /// A page that is to be visited, with the row ids that it can have.
  private struct Step {
    let page: Int
    /// The smallest row id means that there is no bound.
    let above: Int64
    let upTo: Int64
    let depth: Int

    func isAbove(_ id: Int64) -> Bool { id > above || above == .min }
  }

  /// Walks over the tree of a table.
  /// - Parameter body: Called for each row of a leaf.
  mutating func table(root: Int, _ body: (Row) throws -> Void) rethrows {
    var steps = [Step(page: root, above: .min, upTo: .max, depth: 0)]
    var depth: Int?
    while let step = steps.popLast() {
      guard let page = visit(step.page, [.tableLeaf, .tableInner]) else { continue }
      switch page.kind {
      case .tableInner:
        if step.depth > 64 {
          note("page \(step.page) is too deep")
          continue
        }
        steps += children(of: page, step)
      case .tableLeaf:
        if depth ?? step.depth != step.depth { note("page \(step.page) is at another depth") }
        depth = depth ?? step.depth
        try leaf(page, step, body)
      case .indexInner, .indexLeaf:
        note("page \(step.page) belongs to an index")
        hasForeignPages = true
        map.release(step.page)
      }
    }
  }

  /// Takes a page of the tree.
  /// - Parameter kinds: What it should be: if it says something else, but is whole as one of these,
  ///   what it says is damaged.
  private mutating func visit(_ number: Int, _ kinds: [TreePage.Kind]) -> TreePage? {
    guard number > 0, number <= source.pageCount else {
      note("there is no page \(number)")
      return nil
    }
    guard !map.isReserved(number), !map.isClaimed(number) else {
      note("page \(number) is referred to twice")
      return nil
    }
    guard let buffer = source.page(number), let page = page(buffer, number, kinds) else {
      note("page \(number) is no page of a tree")
      return nil
    }
    _ = map.claim(number, for: owner)
    return page
  }

  private mutating func page(
    _ buffer: PageBuffer, _ number: Int, _ kinds: [TreePage.Kind]
  ) -> TreePage? {
    func read(_ kind: TreePage.Kind?) -> TreePage? {
      TreePage(buffer, usableSize: source.usableSize, isFirst: number == 1, as: kind)
    }
    let stated = read(nil)
    // Leaves are trusted: each page would have to be read twice otherwise.
    if let stated, stated.kind == kinds[0] || stated.isWhole { return stated }
    for kind in kinds where kind != stated?.kind {
      guard let page = read(kind), page.isWhole else { continue }
      note("page \(number) says that it is something else")
      return page
    }
    return stated
  }

  /// The children of an inner page, the last one first.
  private mutating func children(of page: TreePage, _ step: Step) -> [Step] {
    var children: [Step] = []
    var above = step.above
    for index in 0..<page.cellCount {
      guard let cell = page.cell(index) else {
        note("page \(step.page) has a damaged cell")
        continue
      }
      var key = cell.rowID
      if page.kind == .tableInner, (key <= above && above != .min) || key > step.upTo {
        note("page \(step.page) is out of order")
        key = step.upTo
      }
      children.append(Step(page: cell.child, above: above, upTo: key, depth: step.depth + 1))
      if key != step.upTo { above = key }
    }
    children.append(
      Step(page: page.lastChild, above: above, upTo: step.upTo, depth: step.depth + 1))
    return children.reversed()
  }

  private mutating func leaf(
    _ page: TreePage, _ step: Step, _ body: (Row) throws -> Void
  ) rethrows {
    var cells: [TreePage.Cell] = []
    var places: Set<Int> = []
    var isDamaged = false
    for index in 0..<page.cellCount {
      if let cell = page.cell(index), places.insert(cell.offset).inserted {
        cells.append(cell)
      } else {
        isDamaged = true
      }
    }
    if page.cellCount == 0, step.depth > 0 { note("page \(step.page) has no rows") }
    let outside = cells.count { !step.isAbove($0.rowID) || $0.rowID > step.upTo }
    if outside * 2 > cells.count {
      note("page \(step.page) has rows of another place")
      hasForeignPages = true
      map.release(step.page)
      return
    }
    if isDamaged || !page.isFilled(by: cells) {
      note("page \(step.page) has damaged cells")
      damagedLeaves.append(step.page)
    }
    let isInOrder = Self.order(of: cells.map(\.rowID), in: step)
    for (index, cell) in cells.enumerated() {
      if !isInOrder[index] { note("page \(step.page) has row \(cell.rowID) out of order") }
      try body(Row(page: step.page, cell: cell, isInOrder: isInOrder[index]))
    }
  }

  /// Which row ids are in order, so that as many as possible are.
  private static func order(of ids: [Int64], in step: Step) -> [Bool] {
    var isInOrder = Array(repeating: true, count: ids.count)
    var isSorted = ids.allSatisfy { step.isAbove($0) && $0 <= step.upTo }
    for (id, next) in zip(ids, ids.dropFirst()) where next <= id { isSorted = false }
    if isSorted { return isInOrder }
    // The longest ascending part: its ends by length, and what stands before each.
    var ends: [Int] = []
    var before = Array(repeating: -1, count: ids.count)
    for (index, id) in ids.enumerated() {
      isInOrder[index] = false
      if !step.isAbove(id) || id > step.upTo { continue }
      var (place, end) = (0, ends.count)
      while place < end {
        let middle = (place + end) / 2
        if ids[ends[middle]] < id { place = middle + 1 } else { end = middle }
      }
      before[index] = place > 0 ? ends[place - 1] : -1
      if place < ends.count { ends[place] = index } else { ends.append(index) }
    }
    var index = ends.last ?? -1
    while index >= 0 {
      isInOrder[index] = true
      index = before[index]
    }
    return isInOrder
  }

  /// Walks over the tree of an index, or of a table without row ids. Inner pages have rows, too.
  mutating func index(root: Int, _ body: (Int, TreePage.Cell) throws -> Void) rethrows {
    var steps = [Step(page: root, above: .min, upTo: .max, depth: 0)]
    while let step = steps.popLast() {
      guard let page = visit(step.page, [.indexLeaf, .indexInner]) else { continue }
      if page.kind.isTable {
        note("page \(step.page) belongs to a table")
        hasForeignPages = true
        map.release(step.page)
        continue
      }
      if page.kind == .indexInner {
        if step.depth > 64 {
          note("page \(step.page) is too deep")
          continue
        }
        steps += children(of: page, step)
      }
      for index in 0..<page.cellCount {
        if let cell = page.cell(index) {
          try body(step.page, cell)
        } else {
          note("page \(step.page) has a damaged cell")
        }
      }
    }
  }
}
