// References are keys, and lead to other objects in queries.

import Dflat

typealias Post = Press.Post
typealias Author = Press.Author
typealias Issue = Press.Issue

func check(_ condition: Bool, _ what: String) {
  if !condition { print("not so: \(what)") }
}

let post = Post(
  number: 1, title: "t", author: "ada", critics: ["ben"], genre: .essay, parent: nil,
  related: [2])
check(post.author == "ada" && post.critics == ["ben"], "what is stored is the key")
check(Post.from(data: post.toData()) == post, "references go through buffers")

func accepts(_ condition: some QueryExpression<Bool, Post>) {}
accepts(Post.author == "ada")
accepts(Post.author.name == "Ada" && Post.editor.name != Post.author.name)
accepts(Post.author.key == "ada" && Post.author.related.key == "x" && Post.author.related.related)
accepts(Post.critics.contains("ben") && Post.critics.any { $0.name == "Ben" })
accepts(Post.genre == .essay && Post.genre.name.hasPrefix("e"))
accepts(Post.parent.parent.author.name == "Ada" && Post.related.all { $0.title.isNotNull })
accepts(Post.replies.count > 3 && Post.author.posts.count > 1)
accepts(Post.issue.title == "May" && Post.issue.in.title.isNotNull && Post.parent.issue.post)
accepts(Post.issue.parts.where(Issue.number > 3).exists && Post.issueNumber == 4)
accepts(Post.admirers.where(Author.name == "Ada").exists)

func accepts(author condition: some QueryExpression<Bool, Author>) {}
accepts(author: Author.posts.where(Post.title == "t").exists && Author.best.title == "t")
accepts(author: Author.edited.isEmpty)

func accepts(issue condition: some QueryExpression<Bool, Issue>) {}
accepts(issue: Issue.posts.count > 1 && Issue.in.related.isNull && Issue.parts.isEmpty)
accepts(issue: Issue.posts.where(Post.author.name == "Ada").exists)

func takesFields(_ field: some FieldExpression<String, Post>) {}
takesFields(Post.title)
takesFields(Post.author)
func takesNumbers(_ field: some FieldExpression<Int64, Post>) {}
takesNumbers(Post.parent)
print("all is well")
