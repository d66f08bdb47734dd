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

  @Test("Atom with prefixes, sources of other feeds, XHTML, and an author of the whole feed")
  func oddAtom() throws {
    let feed = try ParsedFeed(
      parsing: Data(
        """
        <atom:feed xmlns:atom="http://www.w3.org/2005/Atom" xmlns:m="http://search.yahoo.com/mrss/">
        <atom:author><atom:name>Ada</atom:name></atom:author>
        <atom:title>Planet</atom:title>
        <atom:entry>
          <atom:id>one</atom:id><m:title>Picture</m:title><atom:title>1 &lt; 2</atom:title>
          <atom:source><atom:id>other</atom:id><atom:title>Other feed</atom:title></atom:source>
          <atom:content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Two <b>bold</b>
          words</p></div></atom:content>
        </atom:entry>
        <atom:entry><atom:title type="html">&amp;amp;lt; a &lt;b&gt;tag&lt;/b&gt;</atom:title>
          <atom:id>two</atom:id><atom:author><atom:name>Ken</atom:name></atom:author></atom:entry>
        </atom:feed>
        """.utf8))
    #expect(feed.title == "Planet" && feed.articles.map(\.id) == ["one", "two"])
    #expect(feed.articles.map(\.title) == ["1 < 2", "&lt; a tag"])
    #expect(feed.articles[0].text == "Two bold words")
    #expect(feed.articles.map(\.author) == ["Ada", "Ken"])
  }

  @Test("Items of RSS may have a text only, and dates any zone")
  func oddRSS() throws {
    let items = ["+999999999999999999", "+0200", "nowhere"].map {
      "<item><description>Text \($0)</description><pubDate>4 May 2024 08:30 \($0)</pubDate></item>"
    }
    let feed = try ParsedFeed(
      parsing: Data("<rss><channel>\(items.joined())</channel></rss>".utf8))
    #expect(feed.articles.map(\.id) == feed.articles.map(\.text))
    let utc = Date(timeIntervalSince1970: 1_714_811_400)
    #expect(feed.articles.map(\.published) == [utc, utc.addingTimeInterval(-7200), utc])
  }

  @Test("What is no feed is refused with its line", arguments: ["", "no xml", "<a></a>"])
  func mistakes(text: String) throws {
    #expect(throws: FeedError.self) { try ParsedFeed(parsing: Data(text.utf8)) }
    let error = #expect(throws: FeedError.self) { try parsed("broken.xml") }
    #expect(error?.description.hasPrefix("line 3") == true)
  }
}
