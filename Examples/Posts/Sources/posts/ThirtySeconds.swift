// The 30-second example of the README, word for word; Scripts/check-readme.sh compares them.

import SQLiteDflat

func thirtySeconds(path: String) async throws {
  // Creates the file if there is none. A missing directory, or a file of another kind, is an error.
  let dflat = try await SQLiteWorkspace.open(filePath: path)

  // Create.
  try await dflat.write(Post.self) { txn in
    for number in 1...5 as ClosedRange<Int32> {
      let content: Content =
        number.isMultiple(of: 2)
        ? .photo(Photo(path: "\(number).jpg", width: 640)) : .note(Note(text: "Words"))
      try txn.insert(Post(title: "Post \(number)", priority: number * 10, content: content))
    }
  }

  // Query. The compiler checks names and types.
  let posts = dflat.fetch(for: Post.self)
  let important = posts.where(
    Post.priority > 10 && Post.color == .green, limit: 3, orderBy: [Post.priority.descending])
  for post in important { print("important:", post.title, post.priority) }

  let wide = Post.content.as(Photo.self).width >= 640
  print("photos:", posts.where(wide).map(\.title))

  // Update and delete.
  let first = try await dflat.write(Post.self) { txn in
    try txn.delete(Post(title: "Post 2"))
    return try txn.update(Post(title: "Post 1")) { $0.color = .blue }
  }
  print("updated:", first)
  print("left:", posts.all().map(\.title))
  print("found:", dflat.find(Post.self, "Post 3")?.priority ?? 0)

  await dflat.shutdown()
}
