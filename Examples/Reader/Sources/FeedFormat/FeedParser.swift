// Reads RSS 2.0 and Atom by Foundation's XMLParser.
//
// RSS:  rss > channel > title, link, item > guid, title, link, description, author, pubDate, category
// Atom: feed > title, link href, entry > id, title, link href, summary or content, author > name,
//       published or updated, category term
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
  }
}

/// Collects what a parser finds.
private final class FeedReader: NSObject, XMLParserDelegate {
  var feed = ParsedFeed()
  private(set) var root = ""
  /// The line of the first mistake in the XML, which `parse()` on Linux does not report.
  private(set) var mistake: Int?
  private var path: [String] = []
  private var article: ParsedArticle?
  private var text = ""

  var isFeed: Bool { root == "rss" || root == "feed" }

  func parser(
    _ parser: XMLParser, didStartElement name: String, namespaceURI: String?,
    qualifiedName: String?, attributes: [String: String]
  ) {
    if path.isEmpty { root = name }
    path.append(name)
    text = ""
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
    _ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?
  ) {
    path.removeLast()
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    self.text = ""
    if name == "item" || name == "entry" {
      guard var article else { return }
      if article.id.isEmpty { article.id = article.link.isEmpty ? article.title : article.link }
      feed.articles.append(article)
      self.article = nil
    } else if article != nil {
      take(name, text)
    } else if path.last == "channel" || path.last == "feed" {
      if name == "title" { feed.title = text.withoutMarkup }
      if name == "link", !text.isEmpty { feed.link = text }
    }
  }

  /// An element of an article.
  private func take(_ name: String, _ text: String) {
    switch name {
    case "guid", "id": article?.id = text
    case "title": article?.title = text.withoutMarkup
    case "link" where !text.isEmpty: article?.link = text
    case "content", "content:encoded": article?.text = text.withoutMarkup
    // A summary is better than nothing.
    case "description", "summary": if article?.text == "" { article?.text = text.withoutMarkup }
    case "name" where path.last == "author": article?.author = text
    case "author" where !text.isEmpty, "dc:creator": article?.author = text
    case "category" where !text.isEmpty: article?.tags.append(text)
    case "pubDate", "published": article?.published = FeedDate.date(text)
    case "updated": if article?.published == nil { article?.published = FeedDate.date(text) }
    default: break
    }
  }
}

extension String {
  /// The text of an HTML fragment, with single blanks.
  fileprivate var withoutMarkup: String {
    var text = ""
    var isInTag = false
    for character in self {
      switch character {
      case "<": isInTag = true
      case ">" where isInTag:
        isInTag = false
        text.append(" ")
      default: if !isInTag { text.append(character) }
      }
    }
    for (name, character) in ["&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&amp;": "&"]
    {
      text = text.replacing(name, with: character)
    }
    return text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
  }
}
