// Records with deprecated properties: the generated code has no warning.

import Empire
import Foundation

@IndexKeyRecord("site", "number")
@Index("title")
struct Page: Equatable {
  let site: String
  @available(*, deprecated, message: "no longer used") let number: Int
  @available(*, deprecated) var title: String
  @available(*, deprecated) var url: URL?
  var text: String
}

func use(_ store: Store, _ page: Page) throws {
  try store.insert(page)
  _ = try Page.select(in: store, site: "a", number: .greaterThan(3))
  _ = try Page.select(in: store, title: "b")
}
