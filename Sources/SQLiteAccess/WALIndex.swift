// The index of a write-ahead log, of which the header is read here and nothing else.
//
// The connections of all processes to a file in WAL mode share it. Whoever commits writes a new header as the last step, so two equal
// headers tell that nothing was committed in between, and reading one costs no call of anything. Its format is SQLite's and public
// (sqlite.org/walformat.html, "The WAL-Index File Format"): 48 bytes, of which the third word of 32 bits counts the commits; the others
// have the length of the log, its salts and checksums.

import CSQLite

/// The memory of an index. It is valid as long as the connection it comes from is open and does not leave WAL mode.
///
/// Others write it at any time. A header that is read half old is like neither, and equal to none that is known.
struct WALIndex {
  private let memory: UnsafeRawPointer

  /// - Parameter connection: One that has read or written in WAL mode.
  init?(of connection: Connection) {
    guard let memory = csqlite_wal_index(connection.openDatabase) else { return nil }
    self.memory = memory
  }

  /// What tells one committed state from another.
  struct Header: Equatable, Sendable {
    private let words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)

    @inline(__always)
    fileprivate init(_ memory: UnsafeRawPointer) {
      var words: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0)
      withUnsafeMutableBytes(of: &words) {
        csqlite_wal_index_header(memory, $0.assumingMemoryBound(to: UInt64.self).baseAddress)
      }
      self.words = words
    }

    @inline(__always)
    static func == (a: Header, b: Header) -> Bool {
      a.words.1 == b.words.1 && a.words.2 == b.words.2 && a.words.3 == b.words.3
        && a.words.4 == b.words.4 && a.words.5 == b.words.5 && a.words.0 == b.words.0
    }

    /// A number that each commit makes greater by one, until it begins again at 0.
    private var commits: UInt32 {
      withUnsafeBytes(of: words) { $0.load(fromByteOffset: 8, as: UInt32.self) }
    }

    /// How many pages the log has.
    private var length: UInt32 {
      withUnsafeBytes(of: words) { $0.load(fromByteOffset: 16, as: UInt32.self) }
    }

    /// Whether this is the state after one commit to that one, with which the log became as long as this.
    func isNext(after other: Header, length: Int) -> Bool {
      commits == other.commits &+ 1 && self.length == UInt32(truncatingIfNeeded: length)
    }
  }

  var header: Header {
    @inline(__always) get { Header(memory) }
  }
}
