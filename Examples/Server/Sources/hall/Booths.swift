// The third part: four processes sell the seats of one hall, and a fifth one watches.
//
// Each sale must keep two promises, though the booths know nothing of each other: no seat is sold
// twice (a lost update), and one seat in each row stays free (a write skew: two booths that see two
// free seats, and each sell another one, would break it). Transactions are serializable, so the
// closure of a sale says no more than what a single booth would say.

import Foundation
import PackageStore
import PostgresDflat

enum Booths {
  static let rows: ClosedRange<Int32> = 1...12
  static let numbers: ClosedRange<Int32> = 1...16

  // MARK: A booth

  /// Sells seats until one is left in each row.
  static func sell(url: String, name: String) async throws {
    let dflat = try await PostgresWorkspace.open(url, configuration: serverSettings)
    var open = Array(rows)
    var (sold, runs) = (0, 0)
    while let row = open.randomElement() {
      let choice = Int.random(in: 0..<1000)
      let (isSold, count) = try await sale(row, choice, name, dflat)
      runs += count
      if isSold { sold += 1 } else { open.removeAll { $0 == row } }
    }
    await dflat.shutdown()
    print("booth \(name): \(sold) seats sold, \(runs - sold - rows.count) closures ran again")
  }

  /// Sells a seat in a row, unless it is the last one.
  /// - Returns: Whether one was sold, and how often the closure ran.
  private static func sale(
    _ row: Int32, _ choice: Int, _ name: String, _ dflat: PostgresWorkspace
  ) async throws -> (isSold: Bool, runs: Int) {
    let runs = Counter()
    let isSold = try await dflat.write(Seat.self, Booth.self, attempts: 200) { txn in
      runs.increment()
      let free = try txn.fetch(for: Seat.self).where(Seat.row == row && Seat.buyer.isNull)
      guard free.count > 1 else { return false }
      let seat = free[choice % free.count]
      try txn.update(seat) { $0.buyer = name }
      try txn.update(Booth(name: name)) {
        $0.seats += 1
        $0.money += seat.price
      }
      return true
    }
    return (isSold, runs.count)
  }

  // MARK: The hall

  static func run(url: String, _ server: Server?) async throws {
    let dflat = try await PostgresWorkspace.open(url, configuration: serverSettings)
    let names = ["A", "B", "C", "D"]
    try await dflat.write(Seat.self, Booth.self) { txn in
      try txn.delete(txn.query(Seat.self))
      try txn.delete(txn.query(Booth.self))
      for row in rows {
        for number in numbers { try txn.insert(Seat(row: row, number: number, price: 90 - row)) }
      }
      for name in names { try txn.insert(Booth(name: name)) }
    }

    // The list follows what the other processes commit.
    let seats = dflat.fetch(for: Seat.self).where(Seat.buyer.isNotNull)
    dflat.lookForOtherWriters(every: .milliseconds(50))
    let most = rows.count * (numbers.count - 1)
    let watching = Task {
      var told = 0
      for await sold in dflat.subscribe(fetchedResult: seats, bufferingPolicy: .bufferingNewest(1))
      {
        if sold.count >= told + most / 6 || sold.count == most {
          told = sold.count
          print("live: \(told) of \(most) seats are sold")
        }
        if sold.count >= most / 2, let server, !server.hasFailed {
          try server.fail()
          print("the server is killed, and its standby takes over")
        }
        if sold.count >= most { break }
      }
    }

    try await timed("all seats are sold") {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for name in names { group.addTask { try await process(["--sell", url, name]) } }
        try await group.waitForAll()
      }
    }
    try await watching.value
    try check(dflat)
    await dflat.shutdown()
  }

  /// Whether the books balance.
  private static func check(_ dflat: PostgresWorkspace) throws {
    let seats = dflat.fetch(for: Seat.self).all().map { $0 }
    for row in rows where seats.filter({ $0.row == row && $0.buyer == nil }).count != 1 {
      throw Failure("row \(row) has not one free seat")
    }
    var (sum, count) = (Int32(0), 0)
    for booth in dflat.fetch(for: Booth.self).all() {
      let own = seats.filter { $0.buyer == booth.name }
      let money = own.reduce(0) { $0 + $1.price }
      guard own.count == Int(booth.seats), money == booth.money else {
        throw Failure(
          "booth \(booth.name) says \(booth.seats) seats for \(booth.money), and has sold "
            + "\(own.count) for \(money)")
      }
      sum += money
      count += own.count
    }
    print("\nThe books balance: \(count) seats for \(sum), one free seat in each row.")
  }

  /// Runs this program with other arguments, and waits for its end.
  private static func process(_ arguments: [String]) async throws {
    let process = Process()
    process.executableURL = Bundle.main.executableURL
    process.arguments = arguments
    let status = try await withCheckedThrowingContinuation {
      (continuation: CheckedContinuation<Int32, any Error>) in
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    if status != 0 { throw Failure("booth \(arguments.last ?? "") has failed") }
  }
}
