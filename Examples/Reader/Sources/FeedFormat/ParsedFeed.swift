// What RSS 2.0 and Atom have in common.

public import Foundation

/// A feed as its file has it.
public struct ParsedFeed: Sendable, Equatable {
  /// Without markup.
  public var title = ""
  /// The address of the site.
  public var link = ""
  /// In the order of the file.
  public var articles: [ParsedArticle] = []
}

/// An article as its feed has it. What the feed does not say is empty or nil.
public struct ParsedArticle: Sendable, Equatable {
  /// `guid` or `id`; the link if there is none.
  public var id = ""
  /// Without markup.
  public var title = ""
  /// The address of the article.
  public var link = ""
  /// The content, or a summary, without markup.
  public var text = ""
  /// The name.
  public var author = ""
  /// When it was published, or changed last if only that is known.
  public var published: Date?
  /// The categories.
  public var tags: [String] = []
}

/// Why a file is no feed.
public struct FeedError: Error, Sendable, CustomStringConvertible {
  /// What is wrong, and in which line.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
