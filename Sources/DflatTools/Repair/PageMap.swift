// PageMap: what the file itself says about its pages, beside the trees.
//
//  - The list of free pages: trunks, each with the next trunk 4, a count 4, and numbers of pages.
//  - In a file with auto-vacuum, maps of five bytes for each page: its kind, and the page that
//    refers to it. A map is used only if most of it is possible.
//
// Both may be damaged. What a tree reaches is in use, whatever they say.

/// What a file says about its pages.
final class PageMap {
  /// The kind of a page in the maps of a file with auto-vacuum.
  enum Kind: Int {
    case root = 1
    case free = 2
    case firstOverflow = 3
    case laterOverflow = 4
    case inner = 5
  }

  private let source: PageSource
  private let hasMaps: Bool
  private var listed: Set<Int> = []
  /// Whether maps can be used, by their pages.
  private var usable: [Int: Bool] = [:]
  /// The overflow pages by the page that refers to them, of each map that was searched.
  private var followers: [Int: [Int]]?
  /// Pages that rows or trees use.
  private(set) var owners: [UInt32]
  private var claims = 0
  /// Called now and then with how many pages were claimed.
  var onProgress: (_ pages: Int) -> Void = { _ in }
  private static let header = 100
  private static let pagesPerReport = 64
  /// How many free pages the header says that there are; nil if it is lost.
  private let statedFree: Int?

  init(_ source: PageSource) {
    self.source = source
    owners = Array(repeating: 0, count: source.pageCount + 1)
    let first = source.page(1)
    let stated = first?.bigEndian(52, size: 4) ?? 0
    hasMaps = stated > 0 || first?.isZero(0..<Self.header) != false
    let hasHeader = first?.bytes.starts(with: "SQLite format 3".utf8) == true
    statedFree = hasHeader ? first?.bigEndian(36, size: 4) : nil
    readFreeList(from: first?.bigEndian(32, size: 4) ?? 0)
    // Pages behind the last commit's end are no part of the file any more.
    if let count = source.log?.pageCount, count < source.pageCount, source.log?.damagedFrames == 0 {
      for page in (count + 1)...source.pageCount { listed.insert(page) }
    }
  }

  private func readFreeList(from first: Int) {
    var trunk = first
    var visited: Set<Int> = []
    while trunk > 1, trunk <= source.pageCount, visited.insert(trunk).inserted,
      let bytes = source.page(trunk), let count = bytes.bigEndian(4, size: 4),
      count <= source.usableSize / 4 - 2
    {
      listed.insert(trunk)
      for index in 0..<count {
        if let page = bytes.bigEndian(8 + 4 * index, size: 4) { listed.insert(page) }
      }
      trunk = bytes.bigEndian(0, size: 4) ?? 0
    }
  }

  /// Looks for trunks of the list that nothing leads to, once the pages of all trees are claimed:
  /// if the header or a trunk is lost, rows of free pages would count as lost, too.
  func addLostFreePages() {
    if let statedFree, listed.count >= statedFree { return }
    for trunk in 2..<max(2, owners.count) where isUnused(trunk) && !isOverflow(trunk) {
      guard let bytes = source.page(trunk), let next = bytes.bigEndian(0, size: 4),
        next == 0 || isUnused(next) || listed.contains(next),
        let count = bytes.bigEndian(4, size: 4), count > 0, count <= source.usableSize / 4 - 2
      else { continue }
      let pages = (0..<count).compactMap { bytes.bigEndian(8 + 4 * $0, size: 4) }
      if Set(pages).count == count, !pages.contains(trunk), pages.allSatisfy(isUnused) {
        listed.insert(trunk)
        listed.formUnion(pages)
      }
    }
  }

  private func isUnused(_ page: Int) -> Bool {
    page > 1 && page < owners.count && !isClaimed(page) && !isReserved(page)
  }

  /// Whether the file has more free pages than are known.
  var lacksFreePages: Bool { statedFree.map { $0 > listed.count } ?? false }

  // MARK: Owners

  /// The owner of pages that a row on some page uses.
  static func rowOwner(onPage page: Int) -> UInt32 {
    UInt32(truncatingIfNeeded: page) | 1 << 31
  }

  /// Notes that a tree or a row uses a page.
  /// - Returns: Whether nothing did before.
  func claim(_ page: Int, for owner: UInt32) -> Bool {
    guard page > 0, page < owners.count, owners[page] == 0 else { return false }
    owners[page] = owner
    claims += 1
    if claims % Self.pagesPerReport == 0 { onProgress(claims) }
    return true
  }

  /// Takes a page from its owner.
  func release(_ page: Int) {
    if owners.indices.contains(page) { owners[page] = 0 }
  }

  /// Takes all pages from an owner.
  func releaseAll(of owner: UInt32) {
    for page in owners.indices where owners[page] == owner { owners[page] = 0 }
  }

  func isClaimed(_ page: Int) -> Bool { owners.indices.contains(page) && owners[page] != 0 }

  // MARK: Kinds

  private var pagesInMap: Int { source.usableSize / 5 }
  private var lockPage: Int { 0x4000_0000 / source.pageSize + 1 }

  /// The page with the map entry of a page.
  private func map(of page: Int) -> Int {
    let map = (page - 2) / (pagesInMap + 1) * (pagesInMap + 1) + 2
    return map == lockPage ? map + 1 : map
  }

  /// Whether a page is a map, or is never used.
  func isReserved(_ page: Int) -> Bool {
    page == lockPage || (hasMaps && page > 1 && map(of: page) == page && isUsable(page))
  }

  private func isUsable(_ map: Int) -> Bool {
    if let known = usable[map] { return known }
    var (good, bad) = (0, 0)
    if let bytes = source.page(map) {
      for index in 0..<pagesInMap {
        let page = map + 1 + index
        if page > source.pageCount { break }
        let kind = bytes.byte(5 * index) ?? 0
        let parent = bytes.bigEndian(5 * index + 1, size: 4) ?? 0
        let isPossible =
          Kind(rawValue: kind) != nil && parent <= source.pageCount && (kind > 2) == (parent > 0)
        if isPossible { good += 1 } else { bad += 1 }
      }
    }
    // A later version that is damaged knows of pages that this one does not.
    let result = good > 0 && good >= 3 * bad && source.log?.damagedPages.contains(map) != true
    usable[map] = result
    return result
  }

  /// What the map says of a page; nil if there is no usable map.
  func entry(_ page: Int) -> (kind: Kind, parent: Int)? {
    guard hasMaps, page > 2, page <= source.pageCount else { return nil }
    let map = map(of: page)
    guard map != page, isUsable(map), let bytes = source.page(map),
      let kind = bytes.byte(5 * (page - map - 1)).flatMap(Kind.init(rawValue:)),
      let parent = bytes.bigEndian(5 * (page - map - 1) + 1, size: 4),
      parent <= source.pageCount
    else { return nil }
    return (kind, parent)
  }

  /// Whether the file says that nothing uses a page.
  func isFree(_ page: Int) -> Bool { listed.contains(page) || entry(page)?.kind == .free }

  /// Whether the file says that a page continues a row.
  func isOverflow(_ page: Int) -> Bool {
    let kind = entry(page)?.kind
    return kind == .firstOverflow || kind == .laterOverflow
  }

  /// The one page that continues a row behind an overflow page, by the maps; nil if they do not
  /// say.
  func follower(of page: Int) -> Int? {
    if followers == nil {
      var found: [Int: [Int]] = [:]
      for number in 3..<max(3, source.pageCount + 1) {
        guard let entry = entry(number), entry.kind == .laterOverflow else { continue }
        found[entry.parent, default: []].append(number)
      }
      followers = found
    }
    guard let pages = followers?[page], pages.count == 1 else { return nil }
    return pages[0]
  }
}
