// Everyday types, required fields and names of one's own, without a workspace.

import Dflat
import Foundation

let date = Date(timeIntervalSince1970: 1_700_000_000.25)
let key = UUID(uuidString: "0123abcd-0000-0000-0000-000000000000")!
let order = Shop.Order(
  id: key, number: 7, title: "t", created: date, took: .seconds(2), total: Decimal(3) / 2,
  price: Price(stored: 250), picture: Data([1, 2]), links: [URL(string: "a:b")!], sizes: [1, 2],
  customer: Shop.Customer(name: "c"), visit: Shop.Visit(at: date, count: 3),
  subject: .urlNote(Shop.URLNote(url: URL(string: "u:")!)), parts: [], is_old: true)
precondition(order.id == key && order.created == date && order.changed == nil)
precondition(order.seen == Date(timeIntervalSince1970: 0) && order.code == .none)
precondition(order.state == .inTransit && Shop.OrderState.new < .delivered && order.is_old)
precondition(Shop.Order.from(data: order.toData()) == order)

// Required, and so not optional; a union may be of a newer kind.
let title: String = order.title
let customer: Shop.Customer = order.customer
let visit: Shop.Visit = order.visit
let subject: Shop.Subject? = order.subject
precondition(title == "t" && customer.name == "c" && visit.count == 3 && subject != nil)

// Names are those of Swift; values those of their types.
let text = order.description
precondition(text.hasPrefix("Order(id: 0123ABCD-0000-0000-0000-000000000000, number: 7"), text)
precondition(text.contains("created: 2023-11-14") && text.contains("state: inTransit"), text)
precondition(text.contains("is_old: true") && text.contains("URLNote(url: u:"), text)
precondition(text.contains("links: [a:b]") && text.contains("took: 2.0 seconds"), text)

// JSON has the schema's names and what is stored.
let json = try JSONEncoder().encode(order)
let object = try JSONSerialization.jsonObject(with: json) as! [String: Any]
precondition(object["created"] as? Int == 1_700_000_000_250)
precondition(object["__old_name"] as? Bool == true)
precondition(object["id"] as? String == "0123ABCD-0000-0000-0000-000000000000")
let decoded = try JSONDecoder().decode(Shop.Order.self, from: json)
precondition(decoded == order)
@MainActor func refuses(_ change: (inout [String: Any]) -> Void) -> Bool {
  var other = object
  change(&other)
  let data = try! JSONSerialization.data(withJSONObject: other)
  return (try? JSONDecoder().decode(Shop.Order.self, from: data)) == nil
}
let refusals = [
  refuses { $0["id"] = "no UUID" }, refuses { $0["title"] = nil }, refuses { $0["total"] = "1,5" },
  refuses { $0["links"] = ["a:", ""] }, !refuses { $0["total"] = "+1.5e3" },
]
precondition(refusals.allSatisfy { $0 })

// What a Date cannot describe is described all the same.
let strange = Shop.Visit(at: Date(timeIntervalSince1970: 1e15))
precondition(strange._conversionFailure == nil)

// An array of fixed length has room for so many elements.
precondition(Shop.Trip(stops: [strange, strange])._conversionFailure == nil)
let long = Shop.Trip(stops: [strange, strange, strange])
precondition(
  long._conversionFailure == "stops has 3 elements, and the array has room for 2 only")
precondition((try? JSONEncoder().encode(long)) == nil)

// What does not fit is not written, as JSON neither.
let never = Shop.Visit(at: Date(timeIntervalSince1970: .nan))
let paged = Shop.URLNote(page: 1 << 40)
for value: any FlatBuffersTable in [paged, Shop.Customer(name: "", visits: [never])] {
  precondition((try? JSONEncoder().encode(value)) == nil)
}
precondition((try? JSONEncoder().encode(Shop.Subject.urlNote(paged))) == nil)
precondition((try? JSONEncoder().encode(never)) == nil)
let far = Shop.Order(
  id: key, number: 7, title: "", sizes: [], customer: Shop.Customer(name: ""), visit: strange,
  subject: .text(""), parts: [])
precondition(far.description.contains("at: 1000000000000000.0 seconds since 1970"), far.description)

// Conditions have the Swift types.
let conditions: [Condition<Shop.Order>] = [
  Shop.Order.created > Date(), Shop.Order.site == URL(string: "x:")!, Shop.Order.total != 3,
  Shop.Order.count + 1 == 5, Shop.Order.took < .seconds(1), Shop.Order.id.in([key]),
  Shop.Order.price >= Price(stored: 3), Shop.Order.code == .small, Shop.Order.visit.count < 3,
  Shop.Order.customer.born <= date, Shop.Order.subject.as(Shop.URLNote.self).page == 3,
]
let keys: [OrderBy<Shop.Order>] = [Shop.Order.created.ascending, Shop.Order.price.descending]
precondition(conditions.count == 11 && keys.count == 2)
print("all is well")
