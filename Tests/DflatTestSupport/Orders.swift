// Ten orders whose fields have their own Swift types.

import Dflat
public import Foundation

/// An order of a shop.
public typealias Order = Shop.Order

/// Sample orders.
public enum Orders {
  /// The reference point of all times.
  public static let noon = Date(timeIntervalSince1970: 1_700_000_000)

  /// The identifier of an order.
  public static func id(_ number: Int) -> UUID {
    UUID(uuid: (0xAB, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UInt8(number)))
  }

  /// One of ten orders. Every value grows with the number; odd ones lack the optional values.
  public static func order(_ number: Int) -> Order {
    let isOdd = number % 2 == 1
    return Order(
      id: id(number), number: number, title: number == 0 ? "" : "order \(number)",
      created: noon + Double(number) / 4, changed: isOdd ? nil : noon + Double(number),
      seen: noon - Double(number) / 8, took: .milliseconds(number * 1500),
      site: isOdd ? nil : URL(string: "https://example.com/\(number)"),
      total: isOdd ? nil : Decimal(number) / 4, price: Price(stored: Int64(number) * 100),
      code: number < 5 ? .small : .large, count: number * 20, totalBytes: number << 40,
      picture: Data([1, 2, UInt8(number)]),
      links: isOdd ? [] : [URL(string: "a:\(number)")!, URL(string: "b:")!],
      sizes: isOdd ? [] : [number, -number],
      state: isOdd ? .new : .delivered,
      customer: Shop.Customer(
        name: "c\(number)", site: URL(string: "c:\(number)"), born: noon - 100,
        visits: [Shop.Visit(at: noon, seconds: .seconds(number), count: number)]),
      visit: Shop.Visit(at: noon + Double(number), seconds: .milliseconds(250), count: -number),
      subject: isOdd ? .text("t") : .urlNote(Shop.URLNote(url: URL(string: "n:"), page: number)),
      parts: [])
  }

  /// Stores all of them.
  public static func store(in workspace: some TestWorkspace) throws {
    try workspace.write([Order.self]) { txn in
      for number in 0..<10 {
        try txn.submit(Shop.OrderChangeRequest.creationRequest(order(number)))
      }
    }
  }
}
