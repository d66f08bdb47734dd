// Sample books.

extension Kit.Book {
  /// A book whose values follow from a number.
  public static func sample(_ number: Int32) -> Kit.Book {
    Kit.Book(
      title: "t\(number % 3)", pages: number * 50, rating: Double(number) / 2,
      isUsed: number % 2 == 0, cover: Kit.Cover(color: "c\(number)"),
      inside: number < 3 ? .sheet(Kit.Sheet(pages: 1)) : .leaflet(Kit.Sheet(title: "i", pages: 2)))
  }
}
