// TreePage: a page of a b-tree, which may have any content.
//
//   header   type 1, first free block 2, cells 2, start of the cells 2, fragments 1,
//            and for inner pages the last child 4; on page 1 it stands behind the file's header
//   cells    their places, 2 bytes each, in the order of their keys
//
//   leaf of a table     payload size, row id, payload, overflow page 4
//   inner of a table    child 4, row id
//   leaf of an index    payload size, payload, overflow page 4
//   inner of an index   child 4, payload size, payload, overflow page 4

/// A page of a b-tree.
struct TreePage {
  /// What it is a page of.
  enum Kind: Int {
    case indexInner = 2
    case tableInner = 5
    case indexLeaf = 10
    case tableLeaf = 13

    var isInner: Bool { self == .indexInner || self == .tableInner }
    var isTable: Bool { self == .tableInner || self == .tableLeaf }
  }

  /// A cell whose own bytes are inside the page.
  struct Cell {
    let offset: Int
    /// The page on the left of its key; 0 on leaves.
    let child: Int
    let rowID: Int64
    /// The size of the payload; 0 on inner pages of tables.
    let payloadSize: Int
    /// Where the payload begins in the page.
    let start: Int
    /// How much of it is in the page.
    let localSize: Int
    /// The first overflow page; 0 if there is none.
    let overflow: Int

    /// The end of the cell in the page.
    var end: Int { start + localSize + (overflow > 0 || payloadSize > localSize ? 4 : 0) }
  }

  let kind: Kind
  let cellCount: Int
  /// The page on the right of all keys; 0 on leaves.
  let lastChild: Int
  private let buffer: PageBuffer
  private let usableSize: Int
  private let firstPointer: Int

  /// nil if the page is none of a b-tree.
  /// - Parameter assumed: What it counts as, whatever it says.
  init?(_ buffer: PageBuffer, usableSize: Int, isFirst: Bool, as assumed: Kind? = nil) {
    let start = isFirst ? 100 : 0
    guard let kind = assumed ?? buffer.byte(start).flatMap(Kind.init(rawValue:)),
      let count = buffer.bigEndian(start + 3, size: 2)
    else { return nil }
    let header = start + (kind.isInner ? 12 : 8)
    guard count * 2 <= usableSize - header else { return nil }
    self.kind = kind
    self.buffer = buffer
    self.usableSize = usableSize
    cellCount = count
    lastChild = kind.isInner ? buffer.bigEndian(start + 8, size: 4) ?? 0 : 0
    firstPointer = header
  }

  /// Where the cells can begin.
  private var firstCell: Int { firstPointer + 2 * cellCount }

  /// The greatest place of a cell; nil if there is no cell, or a place is impossible.
  var lastCell: Int? {
    var last: Int?
    for index in 0..<cellCount {
      guard let place = buffer.bigEndian(firstPointer + 2 * index, size: 2),
        place >= firstCell, place < usableSize
      else { return nil }
      last = max(last ?? 0, place)
    }
    return last
  }

  /// Whether the cells, the free blocks and the fragments fill the part of the page that they are
  /// in, as they always do.
  func isFilled(by cells: [Cell]) -> Bool {
    let header = firstPointer - (kind.isInner ? 12 : 8)
    guard let stated = buffer.bigEndian(header + 5, size: 2),
      let fragments = buffer.byte(header + 7), var block = buffer.bigEndian(header + 1, size: 2)
    else { return false }
    var used = fragments
    for cell in cells { used += max(4, cell.end - cell.offset) }
    var last = 0
    while block > 0 {
      guard block > last, let size = buffer.bigEndian(block + 2, size: 2), size >= 4 else {
        return false
      }
      used += size
      last = block
      block = buffer.bigEndian(block, size: 2) ?? 0
    }
    return used == usableSize - (stated == 0 ? 65536 : stated)
  }

  /// Whether it has cells, all of them are inside the page, and they fill their part of it.
  var isWhole: Bool {
    let cells = (0..<cellCount).compactMap { cell($0) }
    return cellCount > 0 && cells.count == cellCount && isFilled(by: cells)
  }

  /// A cell by its number; nil if it is not inside the page.
  func cell(_ index: Int) -> Cell? {
    guard index >= 0, index < cellCount,
      let offset = buffer.bigEndian(firstPointer + 2 * index, size: 2), offset >= firstCell
    else { return nil }
    return Self.cell(in: buffer.bytes, at: offset, kind, usableSize)
  }

  /// The cell that begins at a place; nil if it is not inside the page.
  static func cell(
    in bytes: UnsafeRawBufferPointer, at offset: Int, _ kind: Kind, _ usableSize: Int
  ) -> Cell? {
    var position = offset
    var child = 0
    if kind.isInner {
      guard let number = bytes.bigEndian(position, size: 4) else { return nil }
      child = number
      position += 4
    }
    var payload = 0
    if kind != .tableInner {
      guard let (size, length) = bytes.varint(position), size >= 0, size < 1 << 31 else {
        return nil
      }
      payload = Int(size)
      position += length
    }
    var rowID: Int64 = 0
    if kind.isTable {
      guard let (id, length) = bytes.varint(position) else { return nil }
      rowID = id
      position += length
    }
    let local = kind == .tableInner ? 0 : localSize(of: payload, kind, usableSize)
    var overflow = 0
    guard position + local + (payload > local ? 4 : 0) <= usableSize else { return nil }
    if payload > local {
      guard let number = bytes.bigEndian(position + local, size: 4) else { return nil }
      overflow = number
    }
    return Cell(
      offset: offset, child: child, rowID: rowID, payloadSize: payload, start: position,
      localSize: local, overflow: overflow)
  }

  /// How many bytes of a payload are in the page itself.
  private static func localSize(of payload: Int, _ kind: Kind, _ usable: Int) -> Int {
    let most = kind == .tableLeaf ? usable - 35 : (usable - 12) * 64 / 255 - 23
    if payload <= most { return payload }
    let least = (usable - 12) * 32 / 255 - 23
    let local = least + (payload - least) % (usable - 4)
    return local <= most ? local : least
  }
}
