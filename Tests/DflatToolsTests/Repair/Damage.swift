// Damage: what can happen to a file, by seed.

import DflatTestSupport
import Foundation

/// A kind of damage.
enum DamageKind: String, CaseIterable, Sendable {
  case header, pageSizeField, schemaPage, interior, indexPages, leaves, block, exchanged, freeList
  case overflowCut, truncated, badSectors, bitFlips, logCut, logFlipped, logMissing

  /// Whether values can change without anything that shows it.
  var mayChangeValues: Bool { self == .bitFlips }

  /// Whether it needs a log.
  var isOfLog: Bool { [.logCut, .logFlipped, .logMissing].contains(self) }
}

/// A damaged copy of a file.
struct DamagedFile {
  private(set) var bytes: [UInt8]
  /// nil if there is no log.
  private(set) var log: [UInt8]?
  private var touched: [Range<Int>] = []
  private var touchedInLog: [Range<Int>] = []
  private let sample: SampleFile
  private let pages: SamplePages

  init(
    _ sample: SampleFile, _ pages: SamplePages, _ kind: DamageKind,
    _ random: inout SeededGenerator
  ) {
    self.sample = sample
    self.pages = pages
    bytes = sample.bytes
    log = sample.log.isEmpty ? nil : sample.log
    damage(kind, &random)
  }

  /// Writes the files.
  func write(to path: String) throws {
    try Data(bytes).write(to: URL(filePath: path))
    if let log { try Data(log).write(to: URL(filePath: path + "-wal")) }
  }

  /// Whether damage has touched a page with bytes of a post.
  func hasTouched(post number: Int) -> Bool {
    (pages.pagesOfPost[number] ?? []).contains { page in
      guard let extent = pages.extents[page] else { return true }
      let list = extent.isInLog ? touchedInLog : touched
      return list.contains { $0.overlaps(extent.range) }
    }
  }

  // MARK: Damaging

  private mutating func fill(_ range: Range<Int>, _ value: UInt8 = 0) {
    let range = range.clamped(to: 0..<bytes.count)
    for index in range { bytes[index] = value }
    touched.append(range)
  }

  private func range(ofPage page: Int) -> Range<Int> {
    ((page - 1) * SampleFile.pageSize)..<(page * SampleFile.pageSize)
  }

  private mutating func zero(_ pages: [Int], _ count: Int, _ random: inout SeededGenerator) {
    for page in pages.shuffled(using: &random).prefix(count) { fill(range(ofPage: page)) }
  }

  private mutating func damage(_ kind: DamageKind, _ random: inout SeededGenerator) {
    let size = SampleFile.pageSize
    switch kind {
    case .header:
      if random.oneIn(2) {
        fill(0..<100)
      } else {
        fill(0..<16, UInt8.random(in: 0...255, using: &random))
      }
    case .pageSizeField:
      bytes[16] = random.pick([0, 2, 4, 8, 0x20, 0x40, 0xFF])
      bytes[17] = random.pick([0, 0, 0, 1])
    case .schemaPage: fill(range(ofPage: 1))
    case .interior: zero(sample.pages("internal"), random.pick([1, 2]), &random)
    case .indexPages:
      let indexes = sample.pages("leaf") { $0.contains("\(SampleFile.table)_") }
      zero(indexes, random.pick([1, 2, 5]), &random)
    case .leaves:
      zero(sample.pages("leaf") { $0 == SampleFile.table }, random.pick([1, 2, 5]), &random)
    case .block:
      let start = Int.random(in: 0..<max(1, bytes.count / 65536), using: &random) * 65536
      fill(start..<(start + 65536))
    case .exchanged:
      // What the file has of a page that is in the log is out of date anyway.
      let trees = (sample.pages("leaf") + sample.pages("internal")).filter {
        pages.extents[$0]?.isInLog == false
      }
      for _ in 0..<random.pick([1, 3]) {
        let (a, b) = (random.pick(trees), random.pick(trees))
        if a == b || a == 1 || b == 1 { continue }
        let (first, second) = (range(ofPage: a), range(ofPage: b))
        guard first.upperBound <= bytes.count, second.upperBound <= bytes.count else { continue }
        let copy = Array(bytes[first])
        bytes.replaceSubrange(first, with: Array(bytes[second]))
        bytes.replaceSubrange(second, with: copy)
      }
    case .freeList:
      for index in 32..<40 { bytes[index] = UInt8.random(in: 0...255, using: &random) }
      for page in sample.freePages.shuffled(using: &random).prefix(3) {
        let start = (page - 1) * size
        if start + 64 > bytes.count { continue }
        for index in start..<start + 64 { bytes[index] = UInt8.random(in: 0...255, using: &random) }
      }
    case .overflowCut:
      for page in sample.pages("overflow").shuffled(using: &random).prefix(random.pick([1, 4])) {
        let start = (page - 1) * size
        if start + size > bytes.count { continue }
        let isZero = random.oneIn(2)
        for index in start..<start + 4 {
          bytes[index] = isZero ? 0 : UInt8.random(in: 0...255, using: &random)
        }
        touched.append(start..<start + 4)
      }
    case .truncated:
      let end = Int.random(in: bytes.count / 3..<bytes.count, using: &random)
      touched.append(end..<bytes.count)
      bytes.removeSubrange(end...)
    case .badSectors:
      for _ in 0..<random.pick([1, 4, 12]) {
        let start = Int.random(in: 0..<bytes.count / 512, using: &random) * 512
        fill(start..<start + 512)
      }
    case .bitFlips:
      for _ in 0..<random.pick([1, 20, 200]) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        touched.append(place..<place + 1)
      }
    case .logCut: cutLog(at: Int.random(in: 0..<max(1, sample.log.count), using: &random))
    case .logMissing: cutLog(at: 0)
    case .logFlipped:
      guard var log else { return }
      for _ in 0..<random.pick([1, 3]) {
        let place = Int.random(in: 0..<log.count, using: &random)
        log[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        let frame = 32 + max(0, place - 32) / SamplePages.frameSize * SamplePages.frameSize
        touchedInLog.append(place < 32 ? 0..<32 : frame..<frame + SamplePages.frameSize)
      }
      self.log = log
    }
  }

  /// Cuts the log. What belongs to a transaction whose end is lost is gone as well.
  private mutating func cutLog(at place: Int) {
    guard let log else { return }
    let whole = max(0, place - 32) / SamplePages.frameSize
    let last = pages.frames.prefix(whole).lastIndex { $0.isCommit } ?? -1
    let end = 32 + (last + 1) * SamplePages.frameSize
    touchedInLog.append(end..<max(log.count, end + 1))
    self.log = place == 0 ? nil : Array(log[..<place])
  }
}
