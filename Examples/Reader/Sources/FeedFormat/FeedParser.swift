// Reads RSS 2.0 and Atom by Foundation's XMLParser.
//
// RSS:  rss > channel > title, link, item > guid, title, link, description, author, pubDate, category
// Atom: feed > title, link href, entry > id, title, link href, summary or content, author > name,
//       published or updated, category term; what an entry's source says is about another feed
// https://www.rssboard.org/rss-specification, https://www.rfc-editor.org/rfc/rfc4287

public import Foundation

#if canImport(FoundationXML)
  import FoundationXML
#endif

extension ParsedFeed {
  /// Reads a feed.
  /// - Parameter data: The file, in any encoding that its XML declaration names and XMLParser knows.
  /// - Throws: `FeedError` if it is no XML, or neither RSS nor Atom.
  public init(parsing data: Data) throws {
    let reader = FeedReader()
    let parser = XMLParser(data: data)
    parser.shouldProcessNamespaces = true
    parser.delegate = reader
    // What stands before a mistake in the XML is not taken for the whole feed.
    let isComplete = parser.parse()
    if !isComplete || reader.mistake != nil || parser.parserError != nil {
      let line = reader.mistake ?? parser.lineNumber
      throw FeedError("line \(line): this is no well-formed XML")
    }
    guard reader.isFeed else {
      throw FeedError("the outermost element is '\(reader.root)': it should be 'rss' or 'feed'")
    }
    self = reader.feed
    // An entry without an author has the feed's.
    for place in articles.indices where articles[place].author.isEmpty {
      articles[place].author = reader.author
    }
  }
}

/// Collects what a parser finds.
private final class FeedReader: NSObject, XMLParserDelegate {
  var feed = ParsedFeed()
  private(set) var root = ""
  /// The line of the first mistake in the XML, which `parse()` on Linux does not report.
  private(set) var mistake: Int?
  /// The author of the whole feed.
  private(set) var author = ""
  private var path: [String] = []
  private var article: ParsedArticle?
  private var text = ""
  /// Whether the text is HTML, in Atom.
  private var isMarkup = true

  var isFeed: Bool { root == "rss" || root == "feed" }

  /// The name of an element that says something about a feed; nil for elements of other formats
  /// inside of it.
  private func name(_ local: String, _ namespace: String?) -> String? {
    switch namespace ?? "" {
    case "", "http://www.w3.org/2005/Atom": local
    case "http://purl.org/rss/1.0/modules/content/" where local == "encoded": "content"
    case "http://purl.org/dc/elements/1.1/" where local == "creator": "author"
    default: nil
    }
  }

  func parser(
    _ parser: XMLParser, didStartElement local: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    let name = name(local, namespaceURI) ?? ""
    if path.isEmpty { root = name.isEmpty ? local : name }
    let parent = path.last ?? ""
    path.append(name)
    // Markup inside of an element is part of its text.
    guard ["rss", "channel", "feed", "item", "entry", "author"].contains(parent) else { return }
    text = ""
    isMarkup = root == "rss" || attributes["type"] == "html"
    switch name {
    case "item", "entry": article = ParsedArticle()
    case "link":
      // Atom; links of other kinds lead to comments or to the feed itself.
      guard let link = attributes["href"], attributes["rel"] ?? "alternate" == "alternate" else {
        break
      }
      if article != nil { article?.link = link } else { feed.link = link }
    case "category":
      if let term = attributes["term"], !term.isEmpty { article?.tags.append(term) }
    default: break
    }
  }

  func parser(_ parser: XMLParser, parseErrorOccurred error: any Error) {
    mistake = mistake ?? parser.lineNumber
  }

  func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

  func parser(_ parser: XMLParser, foundCDATA block: Data) {
    text += String(decoding: block, as: UTF8.self)
  }

  func parser(
    _ parser: XMLParser, didEndElement local: String, namespaceURI: String?, qualifiedName: String?
  ) {
    let name = path.removeLast()
    let parent = path.last ?? ""
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    switch parent {
    case "item", "entry": take(name, text)
    case "author":
      if name == "name" {
        if article != nil { article?.author = text } else { author = text }
      }
    case "channel", "feed":
      if name == "item" || name == "entry" {
        end()
      } else if name == "title" {
        feed.title = plain(text)
      } else if name == "link", !text.isEmpty {
        feed.link = text
      }
    default: self.text += " "
    }
  }

  /// An element of an article.
  private func take(_ name: String, _ text: String) {
    switch name {
    case "guid", "id": article?.id = text
    case "title": article?.title = plain(text)
    case "link" where !text.isEmpty: article?.link = text
    case "content": article?.text = plain(text)
    // A summary is better than nothing.
    case "description", "summary": if article?.text == "" { article?.text = plain(text) }
    case "author" where article?.author == "" && !text.isEmpty: article?.author = text
    case "category" where !text.isEmpty: article?.tags.append(text)
    case "pubDate", "published": article?.published = FeedDate.date(text)
    case "updated": if article?.published == nil { article?.published = FeedDate.date(text) }
    default: break
    }
  }

  /// The end of an article. One that has no id is known by what it has.
  private func end() {
    guard var article else { return }
    if article.id.isEmpty {
      article.id =
        [article.link, article.title].first { !$0.isEmpty } ?? String(article.text.prefix(200))
    }
    feed.articles.append(article)
    self.article = nil
  }

  private func plain(_ text: String) -> String {
    let text = isMarkup ? text.withoutMarkup : text
    return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}

extension String {
  /// The text of an HTML fragment.
  fileprivate var withoutMarkup: String {
    var text = ""
    var rest = self[...]
    while let character = rest.popFirst() {
      // "<" that begins no tag is a mistake that is common in feeds.
      let beginsTag = rest.first.map { $0.isLetter || $0 == "/" || $0 == "!" } ?? false
      if character == "<", beginsTag, let end = rest.firstIndex(of: ">") {
        rest = rest[rest.index(after: end)...]
        text.append(" ")
      } else {
        text.append(character)
      }
    }
    // The ampersand comes last: what it makes is text.
    let entities = [("lt", "<"), ("gt", ">"), ("quot", "\""), ("#39", "'"), ("amp", "&")]
    for (name, character) in entities { text = text.replacing("&\(name);", with: character) }
    return text
  }
}
