// PageFormat: the size of the pages, also if the header does not say it.
//
// A page of a b-tree begins with its type and the places of its cells, the last of which end at the
// end of the page. So a sample of the file tells the size: under the right one most bytes belong to
// pages of that form.

/// The size of the pages of a file.
struct PageFormat {
  private(set) var pageSize = 4096
  private(set) var usableSize = 4096

  private static let sizes = (9...16).map { 1 << $0 }
  /// How many pages of each size are looked at.
  private static let sampleCount = 256

  init(_ file: FileReader, _ log: FileReader?) {
    let header = PageBuffer(size: 100) { file.read(into: $0, at: 0) }
    let stated = header.bigEndian(16, size: 2).map { $0 == 1 ? 65536 : $0 } ?? 0
    var inLog = 0
    if let log {
      let header = PageBuffer(size: 32) { log.read(into: $0, at: 0) }
      inLog = header.bigEndian(8, size: 4) ?? 0
    }
    // The log's header is protected by a checksum, and the file's header by nothing.
    let candidates = [inLog, stated].filter { Self.sizes.contains($0) }
    let shares = candidates.map { Self.shareOfTrees(file, $0) }
    if let known = shares.firstIndex(where: { $0 >= 0.25 }) {
      pageSize = candidates[known]
    } else {
      let all = Self.sizes.map { Self.shareOfTrees(file, $0) }
      let best = all.indices.max { all[$0] < all[$1] } ?? 3
      let known = shares.firstIndex { $0 * 2 >= all[best] }
      pageSize = known.map { candidates[$0] } ?? Self.sizes[best]
    }
    usableSize = pageSize - Self.reservedBytes(header, file, pageSize)
  }

  /// Which part of a sample belongs to pages of b-trees if the pages have a size.
  private static func shareOfTrees(_ file: FileReader, _ size: Int) -> Double {
    let count = file.size / size
    let step = max(1, count / sampleCount)
    var found = 0
    for number in stride(from: 0, to: count, by: step) {
      let page = PageBuffer(size: size) { file.read(into: $0, at: number * size) }
      guard let tree = TreePage(page, usableSize: size, isFirst: number == 0),
        let last = tree.lastCell, last >= size / 2
      else { continue }
      found += 1
    }
    return Double(found) / Double(max(1, (count + step - 1) / step))
  }

  /// The unused bytes at the end of each page, which the header states.
  private static func reservedBytes(
    _ header: PageBuffer, _ file: FileReader, _ size: Int
  ) -> Int {
    // Constants stand beside the number: if they are not there, the header is damaged.
    guard let reserved = header.byte(20), reserved > 0, size - reserved >= 480,
      header.byte(21) == 64, header.byte(22) == 32, header.byte(23) == 32
    else { return 0 }
    let count = min(file.size / size, sampleCount)
    var (inside, outside) = (0, 0)
    for number in 0..<count {
      let page = PageBuffer(size: size) { file.read(into: $0, at: number * size) }
      guard let tree = TreePage(page, usableSize: size, isFirst: number == 0),
        let last = tree.lastCell
      else { continue }
      if last >= size - reserved || !page.isZero((size - reserved)..<size) {
        outside += 1
      } else {
        inside += 1
      }
    }
    return outside > inside ? 0 : reserved
  }
}
