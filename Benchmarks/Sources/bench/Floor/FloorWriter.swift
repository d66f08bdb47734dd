// FloorWriter: changes objects directly, with statements prepared once.
//
// It does the program's work with the fewest possible calls. It does not look an object up again
// before changing it, as Dflat's contract requires for `changeRequest` and `deletionRequest`; the
// cost of that is part of the ratio. Rows are decoded into C values, changed, and encoded again.

/// Writes one table whose rows have the layout of BenchDoc.
final class FloorWriter {
  let database: FloorDatabase
  private let begin: FloorStatement
  private let commit: FloorStatement
  private let select: FloorStatement
  private let insertion: FloorStatement
  private let change: FloorStatement
  private let deletion: FloorStatement
  private var encoder = FloorEncoder()
  private let images = UnsafeMutablePointer<FloorBytes>.allocate(capacity: 16)

  init(_ database: FloorDatabase, table: String = "benchdoc") throws {
    self.database = database
    begin = try database.prepare("BEGIN IMMEDIATE")
    commit = try database.prepare("COMMIT")
    select = try database.prepare("SELECT rowid, p FROM \(table) ORDER BY rowid")
    insertion = try database.prepare("INSERT INTO \(table) (p, __pk0) VALUES (?, ?)")
    change = try database.prepare("UPDATE \(table) SET p = ?1 WHERE rowid = ?2")
    deletion = try database.prepare("DELETE FROM \(table) WHERE rowid = ?")
  }

  convenience init(
    _ path: String, isFull: Bool = false, walLimit: Int = Store.defaultWALLimit
  ) throws {
    try self.init(try FloorDatabase(path: path, isFull: isFull, walLimit: walLimit))
  }

  deinit {
    encoder.free()
    images.deallocate()
  }

  /// One transaction, committed. A checkpoint that the last commit made necessary comes first.
  @inline(__always)
  func transaction(_ body: () throws -> Void) throws {
    try database.checkpointIfDue()
    try begin.run()
    try body()
    try commit.run()
  }

  /// Every row, in the order of insertion.
  func fetchAll() throws -> FloorList {
    var list = FloorList()
    try select.fetchAll(into: &list)
    return list
  }

  @inline(__always)
  func insert(_ doc: borrowing FloorDoc) throws {
    insertion.bind(1, blob: encoder.encode(doc))
    insertion.bind(2, text: doc.title)
    try insertion.run()
  }

  /// The same change as `change(_:_:)` makes to a request.
  @inline(__always)
  func update(_ row: FloorRow, _ number: Int) throws {
    var doc = row.reader.doc(images: images)
    doc.priority += 1000
    if number % 3 == 0 {
      doc.tag = FloorBytes(
        start: UnsafeRawPointer(newTagBytes.utf8Start), count: newTagBytes.utf8CodeUnitCount)
    }
    change.bind(1, blob: encoder.encode(doc))
    change.bind(2, row.id)
    try change.run()
  }

  @inline(__always)
  func delete(_ row: FloorRow) throws {
    deletion.bind(1, row.id)
    try deletion.run()
  }

  /// The same warm-up as `Store.warmUp`.
  func warmUp() throws {
    try transaction {
      let list = try fetchAll()
      try update(list[0], 0)
      withExtendedLifetime(list) {}
    }
  }
}
