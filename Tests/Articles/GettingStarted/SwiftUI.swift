// What the articles use of SwiftUI, which Linux does not have.
import SQLiteDflat

@MainActor protocol View {
  associatedtype Body: View
  var body: Body { get }
}

extension Never: View {
  var body: Never { fatalError() }
}

struct Text: View {
  init(_ text: String) {}
  var body: Never { fatalError() }
}

struct List<Elements>: View {
  init<Row: View>(_ elements: Elements, row: (Elements.Element) -> Row)
  where Elements: RandomAccessCollection, Elements.Element: Identifiable {}
  var body: Never { fatalError() }
}

@MainActor @propertyWrapper struct State<Value> {
  var wrappedValue: Value
}
