// LogFrames: what a write-ahead log has, frame by frame, also behind damage.
//
//   header   magic 4, version 4, page size 4, checkpoint 4, salt 8, checksum 8
//   frame    page 4, size of the file after a commit 4 (0 otherwise), salt 8, checksum 8, the page
//
//  - Checksums are chained: that of a frame goes on from that of the frame before. So a frame is
//    sound if its checksum follows from the one that stands in the frame before, whatever has
//    happened further up. SQLite stops at the first damaged frame; here later sound ones count.
//  - Frames with other salts are older: SQLite has restarted the log since.
//  - Frames behind the last commit were never committed.

/// The frames of a log.
struct LogFrames {
  /// A version of a page.
  struct Version {
    let page: Int
    /// Where the page begins in the log, or in the file itself.
    let offset: Int
    /// Why it is not the current one.
    let kind: Kind
    var isInLog = true
  }

  /// Why a version is not the current one.
  enum Kind {
    /// Its checksum is wrong.
    case damaged
    /// A later one was committed.
    case older
    /// It was not committed.
    case uncommitted
  }

  /// Where the current versions of pages begin in the log.
  private(set) var current: [Int: Int] = [:]
  /// Other versions, the newest first.
  private(set) var alternates: [Version] = []
  /// The size of the database in pages after the last commit; nil if nothing was committed.
  private(set) var pageCount: Int?
  /// How many frames are used.
  private(set) var soundFrames = 0
  /// How many frames before the last commit are damaged.
  private(set) var damagedFrames = 0
  /// The pages of these frames.
  private(set) var damagedPages: Set<Int> = []
  /// Whether the header is damaged.
  private(set) var hasDamagedHeader = false

  private struct Frame {
    let page: Int
    let offset: Int
    let size: Int
    let isSound: Bool
  }

  /// nil if the log is empty.
  init?(_ file: FileReader, pageSize: Int) {
    guard file.size > 32 + 24 else { return nil }
    let header = PageBuffer(size: 32) { file.read(into: $0, at: 0) }
    let magic = header.bigEndian(0, size: 4) ?? 0
    let isKnown = magic == 0x377F_0682 || magic == 0x377F_0683
    let isBig = magic == 0x377F_0683
    let sum = Checksum(zeroFor: isBig).adding(header, 0..<24)
    let isSound = isKnown && sum.isStored(header, at: 24)
    hasDamagedHeader = !isSound
    let frameSize = 24 + pageSize
    let count = (file.size - 32) / frameSize
    var salt = header.bigEndian(16, size: 8) ?? 0
    var last = Checksum(header, at: 24, isBig: isBig)
    var frames: [Frame] = []
    for index in 0..<count {
      let start = 32 + index * frameSize
      let frame = PageBuffer(size: frameSize) { file.read(into: $0, at: start) }
      let ownSalt = frame.bigEndian(8, size: 8) ?? 0
      if index == 0, !isSound { salt = ownSalt }
      let page = frame.bigEndian(0, size: 4) ?? 0
      let expected = last?.adding(frame, 0..<8).adding(frame, 24..<frameSize)
      let fits = ownSalt == salt && expected?.isStored(frame, at: 16) == true
      last = Checksum(frame, at: 16, isBig: isBig)
      if ownSalt != salt, expected?.isStored(frame, at: 16) == true {
        // SQLite has restarted the log since.
        continue
      }
      frames.append(
        Frame(
          page: page, offset: start + 24, size: frame.bigEndian(4, size: 4) ?? 0, isSound: fits))
    }
    sort(frames)
  }

  /// Divides the frames into current ones and others.
  private mutating func sort(_ frames: [Frame]) {
    guard let commit = frames.lastIndex(where: { $0.isSound && $0.size > 0 }) else {
      alternates = frames.reversed().map {
        Version(page: $0.page, offset: $0.offset, kind: $0.isSound ? .uncommitted : .damaged)
      }
      return
    }
    pageCount = frames[commit].size
    var others: [Version] = []
    for (index, frame) in frames.enumerated() where frame.page > 0 {
      if index > commit {
        others.append(
          Version(
            page: frame.page, offset: frame.offset, kind: frame.isSound ? .uncommitted : .damaged))
      } else if frame.isSound {
        soundFrames += 1
        if let older = current[frame.page] {
          others.append(Version(page: frame.page, offset: older, kind: .older))
        }
        current[frame.page] = frame.offset
      } else {
        damagedFrames += 1
        damagedPages.insert(frame.page)
        others.append(Version(page: frame.page, offset: frame.offset, kind: .damaged))
      }
    }
    alternates = others.reversed()
  }
}

/// The checksum of the log's header and frames.
private struct Checksum {
  private var first: UInt32 = 0
  private var second: UInt32 = 0
  private let isBig: Bool

  init(zeroFor isBig: Bool) { self.isBig = isBig }

  /// The checksum that is stored at a position.
  init?(_ bytes: PageBuffer, at position: Int, isBig: Bool) {
    guard let first = bytes.bigEndian(position, size: 4),
      let second = bytes.bigEndian(position + 4, size: 4)
    else { return nil }
    self.first = UInt32(truncatingIfNeeded: first)
    self.second = UInt32(truncatingIfNeeded: second)
    self.isBig = isBig
  }

  func isStored(_ bytes: PageBuffer, at position: Int) -> Bool {
    bytes.bigEndian(position, size: 4) == Int(first)
      && bytes.bigEndian(position + 4, size: 4) == Int(second)
  }

  /// The checksum of what it stands for and the bytes of a range, a multiple of eight.
  func adding(_ page: PageBuffer, _ range: Range<Int>) -> Checksum {
    withExtendedLifetime(page) { adding(page.bytes, range) }
  }

  private func adding(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) -> Checksum {
    guard range.upperBound <= bytes.count, let base = bytes.baseAddress else { return self }
    var result = self
    var position = range.lowerBound
    while position < range.upperBound {
      let left = (base + position).loadUnaligned(as: UInt32.self)
      let right = (base + position + 4).loadUnaligned(as: UInt32.self)
      result.first &+= (isBig ? left.bigEndian : left.littleEndian) &+ result.second
      result.second &+= (isBig ? right.bigEndian : right.littleEndian) &+ result.first
      position += 8
    }
    return result
  }
}
