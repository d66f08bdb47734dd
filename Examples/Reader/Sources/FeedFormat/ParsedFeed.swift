// What RSS 2.0 and Atom have in common.

public import Foundation

/// A feed as its file has it.
public struct ParsedFeed: Sendable, Equatable {
  public var title = ""
  public var link = ""
  public var articles: [ParsedArticle] = []
}

/// An article as its feed has it. What the feed does not say is empty or nil.
public struct ParsedArticle: Sendable, Equatable {
  /// `guid` or `id`; the link if there is none.
  public var id = ""
  public var title = ""
  public var link = ""
  /// Without markup.
  public var text = ""
  public var author = ""
  public var published: Date?
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
