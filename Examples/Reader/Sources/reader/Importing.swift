// Feeds from files: what is new is stored, what is known is replaced, and stays read.

import FeedFormat
import Foundation
import SQLiteDflat

func importFeeds(_ places: [URL], into dflat: SQLiteWorkspace) async throws {
  for file in try places.flatMap(feedFiles) {
    do {
      let feed = try ParsedFeed(parsing: Data(contentsOf: file))
      try await timed(file.lastPathComponent) {
        try await store(feed, from: file, into: dflat)
      } remark: {
        "\(feed.articles.count) articles of “\(feed.title)”, \($0.inserted) of them new"
      }
    } catch let error as FeedError {
      // One broken feed does not keep the others from being read.
      print("              \(file.lastPathComponent): \(error)")
    }
  }
}

/// The file, or the feeds in the folder.
private func feedFiles(_ place: URL) throws -> [URL] {
  var isFolder: ObjCBool = false
  guard FileManager.default.fileExists(atPath: place.path, isDirectory: &isFolder) else {
    throw Failure("there is no file or folder \(place.path)")
  }
  if !isFolder.boolValue { return [place] }
  return try FileManager.default.contentsOfDirectory(at: place, includingPropertiesForKeys: nil)
    .filter { ["xml", "rss", "atom"].contains($0.pathExtension) }
    .sorted { $0.lastPathComponent < $1.lastPathComponent }
}

private func store(
  _ feed: ParsedFeed, from file: URL, into dflat: SQLiteWorkspace
) async throws -> BulkChange {
  let id = [feed.link, feed.title, file.lastPathComponent].first { !$0.isEmpty } ?? ""
  let articles = feed.articles.map { article in
    let published = article.published ?? Date(timeIntervalSince1970: 0)
    return Article(
      // What a feed calls its articles is unique only in that feed.
      id: "\(id) \(article.id)", feed: id, author: article.author.isEmpty ? nil : article.author,
      title: article.title, text: article.text, link: article.link, published: published,
      day: day(of: published), tags: article.tags)
  }
  let authors = Set(articles.compactMap(\.author)).map { Author(name: $0) }
  return try await dflat.write(Feed.self, Author.self, Article.self) { txn in
    try txn.upsert(Feed(id: id, title: feed.title, link: feed.link))
    try txn.upsert(contentsOf: authors)
    let read = Set(try txn.query(Article.self).where(Article.feed == id && Article.isRead).keys())
    return try txn.upsert(
      contentsOf: articles.map { article in
        guard read.contains(article.id) else { return article }
        return article.with { $0.isRead = true }
      })
  }
}

/// The number of the day in Greenwich, from 1970 on.
func day(of date: Date) -> Int32 {
  Int32(clamping: Int(exactly: (date.timeIntervalSince1970 / 86_400).rounded(.down)) ?? 0)
}
