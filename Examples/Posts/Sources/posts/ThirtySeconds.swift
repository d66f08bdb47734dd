// The 30-second example of the README, word for word; Scripts/check-readme.sh compares them.

import SQLiteDflat

func thirtySeconds(path: String) async {
  let dflat = SQLiteWorkspace(filePath: path, fileProtectionLevel: .noProtection)

  // Create. The file comes into being with the first transaction.
  let committed = await dflat.performChanges([Post.self]) { txn in
    for number in 1...5 {
      let request = PostChangeRequest.creationRequest()
      request.title = "Post \(number)"
      request.priority = Int32(number * 10)
      request.content =
        number.isMultiple(of: 2)
        ? .photo(Photo(path: "\(number).jpg", width: 640)) : .note(Note(text: "Words"))
      txn.try(submit: request)
    }
  }
  print("created:", committed, dflat.fetch(for: Post.self).all().count)

  // Query. The compiler checks names and types.
  let posts = dflat.fetch(for: Post.self)
  let important = posts.where(
    Post.priority > 10 && Post.color == .green, limit: .limit(3),
    orderBy: [Post.priority.descending])
  for post in important { print("important:", post.title, post.priority) }

  let wide = Post.content.as(Photo.self).width >= 640
  print("photos:", posts.where(wide).map(\.title))

  // Update and delete.
  await dflat.performChanges([Post.self]) { txn in
    if let first = PostChangeRequest.changeRequest(Post(title: "Post 1")) {
      first.color = .blue
      if case .updated(let post)? = txn.try(submit: first) { print("updated:", post) }
    }
    if let second = PostChangeRequest.deletionRequest(Post(title: "Post 2")) {
      txn.try(submit: second)
    }
  }
  print("left:", posts.all().map(\.title))

  await dflat.shutdown()
}
