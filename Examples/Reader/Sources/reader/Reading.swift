// What a reader does all day.

import Foundation
import SQLiteDflat

func read(_ dflat: SQLiteWorkspace, firstScreen: URL) async throws {
  let articles = dflat.query(Article.self)
  let newest = articles.orderBy(Article.published.descending)

  // The number of unread articles of each feed, at first and after each change.
  let unread = try await timed("count what is unread in each feed, and go on counting") {
    let feeds = dflat.fetch(for: Feed.self).all()
    return try feeds.map { feed in
      (
        feed,
        try LiveValue(
          articles.where(Article.feed == feed.id && !Article.isRead).computing(.count), on: nil)
      )
    }
  } remark: {
    "\($0.count) feeds, \($0.map(\.1.value).reduce(0, +)) unread"
  }

  // A server has sent ids of articles that were read elsewhere. Some it knows and we do not.
  let ids = (0..<10_000).map { "article-\($0 * 11)" }
  let missing = try await timed("which of 10,000 ids are not stored") {
    try articles.missingKeys(of: ids)
  } remark: {
    "\($0.count)"
  }
  try await timed("mark the others read, by their ids") {
    try await dflat.write(Article.self) {
      try $0.update(Article.self, keys: ids) { $0.isRead = true }
    }
  } remark: {
    "\($0.updated) marked, \($0.missing) missing (\(missing.count)), now "
      + "\(unread.map(\.1.value).reduce(0, +)) unread"
  }

  let screen = try await timed("the first 50 articles, with their feeds") {
    try newest.limit(50).including(Article.feed).fetch()
  } lines: {
    $0.prefix(2).map { article, feed in "\(article.title ?? ""), \(feed?.title ?? "?")" }
  }
  // What the application shows when it starts, before any database is open.
  try await timed("keep them in a small file") { try screen.objects.save(to: firstScreen) }
  try await timed("the same from a small file, without a database") {
    try FetchedResult<Article>(contentsOf: firstScreen)
  } remark: {
    "\($0.count) articles"
  }

  try await timed("the articles of three days, in sections") {
    let last = try articles.max(Article.day) ?? 0
    return try newest.where(Article.day > last - 3).sectioned(by: Article.day)
  } remark: { sections in
    sections.map { "\($0.count)" }.joined(separator: ", ")
  }

  try await timed("the hundredth page of 50, each where the last one has ended") {
    var page = try newest.page(size: 50)
    for _ in 1..<100 {
      guard let next = page.next else { break }
      page = try newest.page(size: 50, after: next)
    }
    return page
  } remark: {
    $0.objects.first?.id ?? "there are not so many"
  }

  let search = Article.search("\"green garden\" vacuum* -slow")
  await timed("search, the best first") {
    dflat.fetch(for: Article.self).where(search, limit: .limit(10), orderBy: [search.rank])
  } remark: {
    "\($0.count) found"
  } lines: { found in
    found.prefix(3).map { article in
      let snippet = search.snippet(of: article, in: Article.text)?.marked("[", "]")
      return "\(article.title ?? ""): \(snippet ?? "")"
    }
  }

  try await timed("who writes most about databases") {
    try articles.where(Article.tags.contains("databases")).group(by: Article.author.key, .count)
      .sorted { $0.1 > $1.1 }.prefix(3).map { "\($0.0 ?? "nobody"): \($0.1)" }
  } lines: {
    $0
  }

  try await timed("delete a feed, and with it its articles") {
    let before = try articles.count()
    try await dflat.write(Feed.self) { txn in
      if let feed = try txn.find(Feed.self, "feed-7") { try txn.delete(feed) }
    }
    return before - (try articles.count())
  } remark: {
    "\($0) articles are gone"
  }
  withExtendedLifetime(unread) {}
}

func keepHouse(_ dflat: SQLiteWorkspace) async throws {
  try await timed("look at every row, index and reference") {
    try await dflat.checkIntegrity(of: Feed.self, Author.self, Article.self)
  } remark: {
    $0.isEmpty ? "all is well" : "\($0)"
  }
  try await timed("give free pages back") { try await dflat.vacuum() }
}
