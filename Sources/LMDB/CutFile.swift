// Files that were cut short before they were opened.
//
// LMDB reads its file through a memory map. Reading a page behind the end of the file ends the
// process with SIGBUS. Opening therefore compares the length of the file with the last page that
// LMDB has used.
//
// A file may lack its last pages and still be complete. A transaction that takes new pages at the
// end and frees them before its commit never writes them; they are then listed as free. So if the
// file is shorter, the pages in use are found by walking all trees: the free list, the main
// database, the named databases, and the values of keys with duplicates. The file is refused only
// if one of these pages lies behind its end.
//
// Invariants of the walk:
//  - It reads with `pread`, never through the map.
//  - It trusts no number in the file. Each page is checked before its references are followed, and
//    at most as many pages are visited as the file has.
//  - A reader is open meanwhile, so no writer reuses the pages that are visited.

internal import CLMDB

extension Environment {
  /// Throws if a page that is in use lies behind the end of the file.
  func checkLength(in path: String) throws(MDBError) {
    var file: mdb_filehandle_t = -1
    try MDBError.check(mdb_env_get_fd(handle, &file))
    // Pages are written before the meta page that says so. A length that is read after the meta
    // page includes everything that other processes have committed until then.
    let meta = try MetaPage(file: file)
    if UInt(try Self.size(of: file) / meta.pageSize) > meta.lastPage { return }
    guard meta.lastPage < Int.max / meta.pageSize else {
      throw .failure(Int(MDB_CORRUPTED), "'\(path)/data.mdb' has the last page \(meta.lastPage)")
    }
    let reader = try TransactionState(env: self, parent: nil, readOnly: true)
    defer { reader.abort() }
    var walk = try PageWalk(file: file, path: path + "/data.mdb")
    try walk.visitAll()
  }
}

/// Bytes of the file. Numbers in it have the byte order and the word size of the system.
private struct FileBytes {
  /// The size of a page number.
  static let word = MemoryLayout<UInt>.size
  /// The size of the header of a page.
  static let header = word + 8
  /// The size of the description of a tree.
  static let tree = 8 + 5 * word

  var bytes: [UInt8]

  init(count: Int) { bytes = [UInt8](repeating: 0, count: count) }

  func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type = T.self) -> T {
    bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
  }

  /// Reads bytes from an offset of the file. Returns false if the file ends before.
  mutating func read(_ file: mdb_filehandle_t, at offset: Int) throws(MDBError) -> Bool {
    let result = bytes.withUnsafeMutableBytes { bytes in
      Result { () throws(MDBError) in try Environment.read(file, at: offset, into: bytes) }
    }
    return try result.get()
  }
}

/// The newer one of the two meta pages: where the trees of the last commit begin.
struct MetaPage {
  let pageSize: Int
  let lastPage: UInt
  /// The size of the map of the process that has written the page.
  let mapSize: Int
  fileprivate let freeList: Tree
  fileprivate let main: Tree
  private let transaction: UInt

  /// Reads both pages until two readings agree: another process may be writing one of them.
  init(file: mdb_filehandle_t) throws(MDBError) {
    var last: [[UInt8]] = []
    for _ in 0..<1_000 {
      var first = FileBytes(count: Self.size)
      var second = first
      guard try first.read(file, at: 0) else { throw Self.damaged }
      // The free list has it in the place of the size of its keys.
      let pageSize = Int(first.load(Self.trees, as: UInt32.self))
      guard pageSize >= Self.size, pageSize <= 1 << 16 else { throw Self.damaged }
      guard try second.read(file, at: pageSize) else { throw Self.damaged }
      if [first.bytes, second.bytes] == last {
        let metas = [first, second].map { MetaPage($0, pageSize) }
        self = metas[0].transaction < metas[1].transaction ? metas[1] : metas[0]
        return
      }
      last = [first.bytes, second.bytes]
    }
    throw Self.damaged
  }

  private init(_ page: FileBytes, _ pageSize: Int) {
    self.pageSize = pageSize
    mapSize = Int(clamping: page.load(Self.trees - FileBytes.word, as: UInt.self))
    freeList = Tree(page, at: Self.trees, .freeList)
    main = Tree(page, at: Self.trees + FileBytes.tree, .main)
    lastPage = page.load(Self.trees + 2 * FileBytes.tree)
    transaction = page.load(Self.trees + 2 * FileBytes.tree + FileBytes.word)
  }

  /// The offset of both trees: behind a mark, the version, and the address and size of the map.
  private static var trees: Int { FileBytes.header + 8 + 2 * FileBytes.word }
  private static var size: Int { trees + 2 * FileBytes.tree + 2 * FileBytes.word }

  private static var damaged: MDBError {
    .failure(Int(MDB_CORRUPTED), "the meta pages of data.mdb cannot be read")
  }
}

/// A tree of pages, as its description in a meta page or a leaf has it.
private struct Tree {
  enum Kind { case freeList, main, named, duplicates }

  let kind: Kind
  let root: UInt
  /// The number of levels of pages; 0 if the tree is empty.
  let depth: Int
  /// Whether leaves may refer to pages: to those of large values and of other trees.
  let hasReferences: Bool

  init(_ bytes: FileBytes, at offset: Int, _ kind: Kind) {
    let flags: UInt16 = bytes.load(offset + 4)
    let overflowPages: UInt = bytes.load(offset + 8 + 2 * FileBytes.word)
    self.kind = kind
    root = bytes.load(offset + 8 + 4 * FileBytes.word)
    depth = root == .max ? 0 : Int(bytes.load(offset + 6, as: UInt16.self))
    let holdsTrees =
      kind == .main || kind == .named && flags & UInt16(truncatingIfNeeded: MDB_DUPSORT) != 0
    hasReferences = holdsTrees || overflowPages > 0
  }
}

private struct PageWalk {
  private struct Page {
    let number: UInt
    /// 1 for a leaf.
    let height: Int
    let tree: Tree
  }

  /// What the header of a page, and a node of a leaf, say of themselves.
  private enum Flag {
    static let branch: UInt16 = 1, leaf: UInt16 = 2, fixedSize: UInt16 = 0x20
    static let largeValue: UInt16 = 1, tree: UInt16 = 2, duplicates: UInt16 = 4
  }

  private let file: mdb_filehandle_t
  private let path: String
  private let meta: MetaPage
  private let size: Int
  private var pending: [Page] = []
  private var page: FileBytes
  /// The end of the last page that is known to be in use.
  private var needed: Int
  /// How many more pages of the file there can be.
  private var rest: UInt

  init(file: mdb_filehandle_t, path: String) throws(MDBError) {
    self.file = file
    self.path = path
    meta = try MetaPage(file: file)
    size = try Environment.size(of: file)
    page = FileBytes(count: meta.pageSize)
    needed = 2 * meta.pageSize
    rest = min(meta.lastPage, UInt(size / meta.pageSize))
  }

  mutating func visitAll() throws(MDBError) {
    try add(meta.freeList)
    try add(meta.main)
    while let page = pending.popLast() { try visit(page) }
    guard needed <= size else {
      throw .failure(
        Int(MDB_CORRUPTED),
        "'\(path)' was cut short: it has \(size) bytes, and needs at least \(needed)")
    }
  }

  private mutating func add(_ tree: Tree) throws(MDBError) {
    if tree.depth == 0 { return }
    // LMDB's own limit.
    guard tree.depth <= 32 else { throw damaged("a tree of \(tree.depth) levels") }
    pending.append(Page(number: tree.root, height: tree.depth, tree: tree))
  }

  private mutating func visit(_ next: Page) throws(MDBError) {
    guard try use(next.number, count: 1) else { return }
    guard rest > 0 else { throw damaged("pages that refer to each other") }
    rest -= 1
    if next.height == 1 && !next.tree.hasReferences { return }
    guard try page.read(file, at: Int(next.number) * meta.pageSize) else { return }
    let flags: UInt16 = page.load(FileBytes.word + 2)
    let lower = Int(page.load(FileBytes.word + 4, as: UInt16.self))
    let upper = Int(page.load(FileBytes.word + 6, as: UInt16.self))
    let kind = next.height == 1 ? Flag.leaf : Flag.branch
    guard page.load(0, as: UInt.self) == next.number, flags & (Flag.branch | Flag.leaf) == kind,
      lower >= FileBytes.header, upper <= meta.pageSize
    else { throw damaged("the header of page \(next.number)") }
    // Values of one size, which refer to nothing.
    if flags & Flag.fixedSize != 0 { return }
    guard lower <= upper else { throw damaged("the header of page \(next.number)") }
    for position in stride(from: FileBytes.header, to: lower - 1, by: 2) {
      let node = Int(page.load(position, as: UInt16.self))
      guard node >= upper, node + 8 <= meta.pageSize else {
        throw damaged("an entry of page \(next.number)")
      }
      if next.height == 1 {
        try visitEntry(at: node, of: next)
      } else {
        pending.append(
          Page(number: child(at: node), height: next.height - 1, tree: next.tree))
      }
    }
  }

  /// The number of a page below a branch: 32 bits of it, and 16 more where page numbers have 64.
  private func child(at node: Int) -> UInt {
    let top: UInt16 = FileBytes.word == 8 ? page.load(node + 4) : 0
    return UInt(number(at: node)) | UInt(truncatingIfNeeded: UInt64(top) << 32)
  }

  /// A number that LMDB stores in two halves, in the byte order of the system.
  private func number(at node: Int) -> UInt32 { page.load(node) }

  private mutating func visitEntry(at node: Int, of owner: Page) throws(MDBError) {
    let flags: UInt16 = page.load(node + 4)
    let value = node + 8 + Int(page.load(node + 6, as: UInt16.self))
    let size = Int(number(at: node))
    if flags & Flag.largeValue != 0 {
      guard value + FileBytes.word <= meta.pageSize else {
        throw damaged("an entry of page \(owner.number)")
      }
      let count = (FileBytes.header - 1 + size) / meta.pageSize + 1
      _ = try use(page.load(value), count: count)
    } else if flags & Flag.tree != 0 {
      let kind = flags & Flag.duplicates != 0 ? Tree.Kind.duplicates : .named
      guard size == FileBytes.tree, value + size <= meta.pageSize,
        owner.tree.kind == .main || owner.tree.kind == .named && kind == .duplicates
      else { throw damaged("an entry of page \(owner.number)") }
      try add(Tree(page, at: value, kind))
    }
  }

  /// Notes that pages are in use. Returns whether all of them are in the file.
  private mutating func use(_ number: UInt, count: Int) throws(MDBError) -> Bool {
    let (end, overflows) = number.addingReportingOverflow(UInt(count))
    guard number >= 2, !overflows, end - 1 <= meta.lastPage, meta.lastPage < UInt.max,
      let pages = Int(exactly: end), !pages.multipliedReportingOverflow(by: meta.pageSize).overflow
    else { throw damaged("a reference to page \(number)") }
    needed = max(needed, pages * meta.pageSize)
    return pages * meta.pageSize <= size
  }

  private func damaged(_ what: String) -> MDBError {
    .failure(Int(MDB_CORRUPTED), "'\(path)' is damaged: it has \(what)")
  }
}
