// The names that the article gives.
func names(_ item: PostItem) {
  _ = item.offset
}
