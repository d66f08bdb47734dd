// Numbers and columns as text.

/// A number with a fixed number of decimals.
func decimals(_ value: Double, _ count: Int) -> String {
  guard value.isFinite else { return "\(value)" }
  var scale = 1.0
  for _ in 0..<count { scale *= 10 }
  let scaled = Int64((abs(value) * scale).rounded())
  let sign = value < 0 && scaled != 0 ? "-" : ""
  if count == 0 { return sign + String(scaled) }
  let digits = String(scaled % Int64(scale))
  return sign + String(scaled / Int64(scale)) + "."
    + String(repeating: "0", count: count - digits.count) + digits
}

/// Left-aligned text in a column.
func pad(_ text: String, _ width: Int) -> String {
  text + String(repeating: " ", count: max(0, width - text.count))
}

/// Right-aligned text in a column.
func right(_ text: String, _ width: Int) -> String {
  String(repeating: " ", count: max(0, width - text.count)) + text
}
