// Payloads: the bytes of a row, also across overflow pages.
//
//   overflow page   the next page 4 (0 for the last one), content
//
// A chain that is cut goes on where the maps of the file say, or else is guessed to go on at the
// page behind. What was guessed never counts as good.

/// The bytes of a row, and how sure they are.
struct Payload {
  let bytes: UnsafeRawBufferPointer
  /// Whether all bytes were found.
  let isComplete: Bool
  /// What is surely doubtful about them; nil for nothing.
  let lack: String?
  /// Whether parts of them are zero as on a disk that has lost sectors.
  let hasZeros: Bool

  /// What may be doubtful about them; nil for nothing.
  var doubt: String? { lack ?? (hasZeros ? Self.zeros : nil) }

  static let zeros = "a part of its pages is zero"
}

/// Reads the bytes of rows.
struct Payloads {
  let source: PageSource
  let map: PageMap
  /// Longer payloads are not read: SQLite's own limit.
  static let limit = 1_000_000_000

  /// Calls `body` with the payload of a cell.
  /// - Parameters:
  ///   - place: The page that the cell is in.
  ///   - claims: Whether the row takes its overflow pages: no other row can have them then.
  func with<R>(
    _ cell: TreePage.Cell, at place: PageSource.Place, claims: Bool = false,
    _ body: (Payload) throws -> R
  ) rethrows -> R? {
    guard let page = source.page(place),
      let local = page.bytes.slice(cell.start, cell.localSize)
    else { return nil }
    var doubt: String?
    let range = cell.offset..<cell.start + cell.localSize
    if page.lostParts.contains(where: { $0.overlaps(range) }) {
      doubt = "a part of the page cannot be read"
    }
    var hasZeros = page.zeroSectors.contains { $0.overlaps(range) }
    if doubt == nil, hasZeros, page.holes.contains(where: { $0.overlaps(range) }) {
      doubt = Payload.zeros
    }
    if cell.payloadSize <= cell.localSize {
      return try withExtendedLifetime(page) {
        try body(
          Payload(bytes: local, isComplete: true, lack: doubt, hasZeros: hasZeros))
      }
    }
    // Chains cannot be longer than the files.
    let missing = cell.payloadSize - cell.localSize
    let isPossible =
      cell.payloadSize <= Self.limit && missing / source.usableSize <= source.pageCount
    guard isPossible else {
      return try withExtendedLifetime(page) {
        try body(
          Payload(
            bytes: local, isComplete: false, lack: "its size is impossible", hasZeros: hasZeros))
      }
    }
    let memory = UnsafeMutableRawBufferPointer.allocate(
      byteCount: cell.payloadSize, alignment: 16)
    defer { memory.deallocate() }
    withExtendedLifetime(page) { memory.copyMemory(from: local) }
    let filled = chain(
      cell, at: place, into: memory, claims: claims, doubt: &doubt, hasZeros: &hasZeros)
    return try body(
      Payload(
        bytes: UnsafeRawBufferPointer(rebasing: memory[..<filled]),
        isComplete: filled == cell.payloadSize, lack: doubt, hasZeros: hasZeros))
  }

  /// Reads the overflow pages of a cell behind its local part.
  /// - Returns: How many bytes are there in all.
  private func chain(
    _ cell: TreePage.Cell, at place: PageSource.Place, into memory: UnsafeMutableRawBufferPointer,
    claims: Bool, doubt: inout String?, hasZeros: inout Bool
  ) -> Int {
    let content = source.usableSize - 4
    let leaf = source.number(of: place)
    let owner = PageMap.rowOwner(onPage: leaf)
    var filled = cell.localSize
    var previous = 0
    var next = cell.overflow
    var visited: Set<Int> = []
    while filled < memory.count {
      if !isPossible(next, visited) || disagrees(next, behind: previous, leaf) {
        let known = previous > 0 ? map.follower(of: previous) : nil
        if let known, isPossible(known, visited) {
          if isExchanged(previous, leadingTo: next) {
            doubt = doubt ?? "a page of its chain is a page of something else"
          }
          next = known
        } else if previous > 0, isPossible(previous + 1, visited), !map.isClaimed(previous + 1) {
          next = previous + 1
          doubt = doubt ?? "the chain of its pages is cut, and continued by a guess"
        } else if isPossible(next, visited) {
          doubt = doubt ?? "the chain of its pages leads to a page of something else"
        } else {
          doubt = doubt ?? "the chain of its pages is cut"
          return filled
        }
      }
      guard let page = source.page(next) else { return filled }
      visited.insert(next)
      if claims, !map.claim(next, for: owner), map.owners[next] != owner {
        doubt = doubt ?? "another row or tree has a page of it"
      }
      let size = min(content, memory.count - filled)
      if doubt == nil, source.log?.damagedPages.contains(next) == true {
        doubt = "a newer version of one of its pages is damaged"
      }
      withExtendedLifetime(page) {
        if let part = page.bytes.slice(4, size) {
          UnsafeMutableRawBufferPointer(rebasing: memory[filled...]).copyMemory(from: part)
        }
      }
      if doubt == nil, page.lostParts.contains(where: { $0.lowerBound < 4 + size }) {
        doubt = "a part of its pages cannot be read"
      }
      let isLast = filled + size == memory.count
      // What must have been written to the page.
      let content = isLast ? size - zerosBehindText(UnsafeRawBufferPointer(memory)) : size
      if content > 0 {
        hasZeros = hasZeros || page.zeroSectors.contains { $0.lowerBound < 4 + content }
        // Zeros of a value hardly begin just with a page.
        let isCut = page.isZero && memory[filled - 1] != 0
        let isHole = hasZeros && page.holes.contains { $0.lowerBound < 4 + content }
        if doubt == nil, isCut || isHole { doubt = Payload.zeros }
      }
      filled += size
      previous = next
      next = page.bigEndian(0, size: 4) ?? 0
    }
    // What the last page refers to is not needed. But if it is of a longer row, it belongs there.
    if next != 0,
      map.entry(previous) == nil || map.follower(of: previous) == next || isOfTree(previous)
    {
      doubt = doubt ?? "the chain of its pages does not end with it"
    }
    return filled
  }

  /// How many zeros a payload ends with, if they are the NUL and the padding behind a text: at most
  /// 8. Otherwise 0.
  private func zerosBehindText(_ bytes: UnsafeRawBufferPointer) -> Int {
    let end = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
    guard end > 3, bytes.count - end <= 8 else { return 0 }
    let isText = (0...(end - 4)).contains { start in
      // A text has its length in front of it.
      let length = bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self)
      return UInt32(littleEndian: length) == end - start - 4
    }
    return isText ? bytes.count - end : 0
  }

  /// Whether a row of a page continues on some overflow page. A leaf that stands elsewhere than the
  /// maps say does not contradict them.
  private func has(_ page: Int, overflow: Int) -> Bool {
    guard let buffer = source.page(page),
      let tree = TreePage(buffer, usableSize: source.usableSize, isFirst: page == 1)
    else { return false }
    return (0..<tree.cellCount).contains { tree.cell($0)?.overflow == overflow }
  }

  /// Whether a page of a chain has the content of another page: zeros, a page of a tree, or a page
  /// of another chain, where the maps have what it leads to.
  private func isExchanged(_ page: Int, leadingTo next: Int) -> Bool {
    if source.page(page)?.isZero == true || isOfTree(page) { return true }
    guard let entry = map.entry(next), entry.kind == .laterOverflow else { return false }
    return entry.parent != page && map.entry(entry.parent) != nil
  }

  /// Whether a page is a whole one of a tree. Overflow pages begin with a number that is far too
  /// great for the files that there are if they look like one.
  private func isOfTree(_ page: Int) -> Bool {
    guard let buffer = source.page(page) else { return false }
    return TreePage(buffer, usableSize: source.usableSize, isFirst: page == 1)?.isWhole == true
  }

  private func isPossible(_ page: Int, _ visited: Set<Int>) -> Bool {
    page > 1 && page <= source.pageCount && !visited.contains(page)
  }

  /// Whether the maps say that a page does not belong there.
  private func disagrees(_ page: Int, behind previous: Int, _ leaf: Int) -> Bool {
    guard let entry = map.entry(page) else { return false }
    if previous == 0 {
      return entry.kind != .firstOverflow
        || (entry.parent != leaf && has(entry.parent, overflow: page))
    }
    return entry.kind != .laterOverflow || entry.parent != previous
  }
}
