// LedgerWriter: the process that is killed. It runs transactions of a ledger without waiting, and
// reports each committed one, in eight bytes, as soon as it is notified.

import Dispatch
import Foundation
import SQLiteDflat

/// A committed transaction, as reported by the writer.
public struct Acknowledgement: Sendable, Equatable {
  /// The stream.
  public let stream: Int
  /// The transaction's number.
  public let number: Int

  var word: UInt64 { UInt64(stream) << 56 | UInt64(number) }

  init(stream: Int, number: Int) {
    self.stream = stream
    self.number = number
  }

  init(word: UInt64) {
    stream = Int(word >> 56)
    number = Int(word & (1 << 56 - 1))
  }
}

/// Writes until it is killed.
public enum LedgerWriter {
  /// How many transactions of a stream may be open at once.
  static let window = 48

  /// Runs the transactions that follow those in the file. It returns only if the other end of its
  /// output is closed.
  public static func run(path: String, seed: UInt64, isFull: Bool) {
    let store = WorkspaceStore(path: path, isShared: false, synchronous: isFull ? .full : .normal)
    let dflat = store.dflat
    let ledger = Ledger(seed: seed)
    let state = Ledger.state(of: dflat)
    // One thread calls both streams, and the workspace schedules their queues.
    var next = (0..<Ledger.streams).map { Ledger.last($0, in: state) + 1 }
    let free = DispatchSemaphore(value: window)
    let isStopped = Flag()
    while !isStopped.isSet {
      for stream in next.indices {
        free.wait()
        let number = next[stream]
        next[stream] += 1
        let aborts = ledger.aborts(stream, number)
        ledger.perform(stream, number, on: dflat) { isCommitted in
          if isCommitted {
            tell(Acknowledgement(stream: stream, number: number), isStopped)
          } else if !aborts {
            complain("transaction \(number) of stream \(stream) failed: \(store.takeErrors())")
          }
          free.signal()
        }
      }
    }
    for _ in 0..<window { free.wait() }
    for _ in 0..<window { free.signal() }
  }

  private static func tell(_ acknowledgement: Acknowledgement, _ isStopped: Flag) {
    withUnsafeBytes(of: acknowledgement.word) { bytes in
      if write(1, bytes.baseAddress, bytes.count) != bytes.count { isStopped.set() }
    }
  }

  private static func complain(_ text: String) {
    FileHandle.standardError.write(Data("ledger: \(text)\n".utf8))
    exit(1)
  }
}
