// Feeds of both formats, with what feeds in the wild do wrong.

import FeedFormat
import Foundation
import Testing

@Suite("Feeds")
struct FeedParserTests {
  private func parsed(_ name: String) throws -> ParsedFeed {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Feeds")
    return try ParsedFeed(parsing: Data(contentsOf: folder.appending(path: name)))
  }

  @Test("RSS has items, without markup")
  func rss() throws {
    let feed = try parsed("garden.rss.xml")
    #expect(feed.title == "The Walled Garden" && feed.link == "https://garden.example/")
    let article = try #require(feed.articles.first)
    #expect(article.id == "garden-1" && article.title == "Beans & sticks")
    #expect(article.text.hasPrefix("Beans want something to climb."))
    #expect(article.author == "Rosa Winter" && article.tags == ["vegetables", "spring"])
    #expect(article.published == Date(timeIntervalSince1970: 1_714_804_200))
    // Without a guid the link is the id.
    #expect(feed.articles[1].id == "https://garden.example/nothing")
    #expect(feed.articles[1].published == nil)
  }

  @Test("Atom has entries; the content is preferred to the summary")
  func atom() throws {
    let feed = try parsed("journal.atom")
    #expect(feed.title == "Journal of Small Stores" && feed.link == "https://journal.example/")
    #expect(feed.articles.map(\.author) == ["Ken Field", "Rosa Winter"])
    #expect(feed.articles[0].text.hasPrefix("Free pages are given back"))
    #expect(feed.articles[0].published == Date(timeIntervalSince1970: 1_717_092_900.25))
    #expect(feed.articles[1].published == Date(timeIntervalSince1970: 1_714_626_000))
    #expect(feed.articles[0].tags == ["databases"])
  }

  @Test("Other encodings are read, and old forms of dates")
  func encodings() throws {
    let feed = try parsed("latin1.xml")
    #expect(feed.title == "Café news" && feed.articles.map(\.title) == ["Crème"])
    #expect(feed.articles[0].published == Date(timeIntervalSince1970: 1_031_374_860))
  }

  @Test("What is no feed is refused with its line", arguments: ["", "no xml", "<a></a>"])
  func mistakes(text: String) throws {
    #expect(throws: FeedError.self) { try ParsedFeed(parsing: Data(text.utf8)) }
    let error = #expect(throws: FeedError.self) { try parsed("broken.xml") }
    #expect(error?.description.hasPrefix("line 3") == true)
  }
}
