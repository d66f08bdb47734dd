// Defaults that are spelled as members: only a case never changes, so only a case is left out of
// rows.

import DflatTestSupport
import Platform
import Silo
import Testing

@PersistableValue(shape: "eur:S usd:S")
enum Currency: String, Hashable, Sendable {
  case eur, usd

  private static let chosen = Mutex(Currency.eur)
  /// What the program chooses when it runs.
  static var local: Currency {
    get { chosen.withLock(\.self) }
    set { chosen.withLock { $0 = newValue } }
  }
}

@PersistableValue(shape: "plain:I=0 express:I=1")
enum Delivery: Int, Hashable, Sendable {
  case plain, express
  static let standard = Delivery.express
}

/// What another type says.
private enum Settings {
  static var currency: Currency { .local }
}

/// Values as they were before they had defaults.
@Persistable(version: 1, table: "prices", shape: "id:I amount:I")
private struct OlderPrice: Identifiable, Hashable, Sendable {
  var id: Int
  var amount: Int
}

/// The last property has the entry that earlier releases asked for.
@Persistable(
  version: 1, table: "prices",
  shape:
    "id:I amount:I local:Currency=.local plain:Currency=.eur delivery:Delivery=.standard settings:Currency=Settings.currency"
)
private struct Price: Identifiable, Hashable, Sendable {
  var id: Int
  var amount: Int
  var local: Currency = .local
  var plain: Currency = .eur
  var delivery: Delivery = .standard
  var settings: Currency = Settings.currency
}

@Suite("Defaults that are members", .serialized)
struct MemberDefaultTests {
  @Test("A value keeps what a static member was, whatever it is later", arguments: TestStores.all)
  func changing(stores: TestStores) async throws {
    defer { Currency.local = .eur }
    try await stores.withStores { maker in
      let silos = Silos(maker.store(of: Price.self))
      Currency.local = .eur
      let prices = [
        Price(id: 1, amount: 5), Price(id: 2, amount: 5, local: .usd, settings: .usd),
      ]
      try await silos[Price.self].save(prices)
      Currency.local = .usd
      #expect(Price(id: 3, amount: 1).local == .usd)
      #expect(try await silos[Price.self].values() == prices)
      #expect(try await silos[Price.self].values(where: Price.local == .eur).map(\.id) == [1])
      #expect(try await silos[Price.self].values(where: Price.settings == .usd).map(\.id) == [2])
    }
  }

  @Test("Values that are older than the properties read the defaults, in conditions, too")
  func older() async throws {
    try await withTemporaryWorkspace(.memory) { temporary in
      let older = Silos(in: temporary.workspace)[OlderPrice.self]
      try await older.save(OlderPrice(id: 1, amount: 5))
      let prices = Silos(in: temporary.workspace)[Price.self]
      #expect(try await prices.values() == [Price(id: 1, amount: 5)])
      #expect(try await prices.count(where: Price.delivery == .express) == 1)
      #expect(try await prices.count(where: Price.plain == .eur) == 1)
    }
  }

  @Test("A case that is the default is left out, and another member is not")
  func bytes() {
    let size = { (price: Price) in Canonical(price).toData().count }
    let all = Price(id: 1, amount: 5)
    #expect(size(all) < size(Price(id: 1, amount: 5, plain: .usd)))
    #expect(
      size(all) == size(Price(id: 1, amount: 5, local: .usd, delivery: .plain, settings: .usd)))
  }
}
