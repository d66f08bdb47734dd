// A few SVG shapes, with one style sheet for light and dark pages.

import Foundation

struct SVG {
  private let width: Double
  private let height: Double
  private var shapes: [String] = []

  init(width: Double, height: Double) {
    self.width = width
    self.height = height
  }

  mutating func text(_ text: String, _ x: Double, _ y: Double, _ style: String) {
    let escaped = text.replacingOccurrences(of: "&", with: "&amp;")
      .replacingOccurrences(of: "<", with: "&lt;")
    shapes.append(
      "<text class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\">\(escaped)</text>")
  }

  mutating func rectangle(
    _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ style: String
  ) {
    shapes.append(
      "<rect class=\"\(style)\" x=\"\(number(x))\" y=\"\(number(y))\" width=\"\(number(width))\" "
        + "height=\"\(number(height))\" rx=\"2\"/>")
  }

  mutating func line(
    _ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, _ style: String
  ) {
    shapes.append(
      "<line class=\"\(style)\" x1=\"\(number(x1))\" y1=\"\(number(y1))\" x2=\"\(number(x2))\" "
        + "y2=\"\(number(y2))\"/>")
  }

  mutating func circle(_ x: Double, _ y: Double, _ radius: Double, _ style: String) {
    shapes.append(
      "<circle class=\"\(style)\" cx=\"\(number(x))\" cy=\"\(number(y))\" r=\"\(number(radius))\"/>"
    )
  }

  mutating func diamond(_ x: Double, _ y: Double, _ radius: Double, _ style: String) {
    let points = [(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)]
    let list = points.map { "\(number($0.0)),\(number($0.1))" }.joined(separator: " ")
    shapes.append("<polygon class=\"\(style)\" points=\"\(list)\"/>")
  }

  mutating func path(_ points: [(x: Double, y: Double)], _ style: String) {
    let list = points.map { "\(number($0.x)),\(number($0.y))" }.joined(separator: " ")
    shapes.append("<polyline class=\"\(style)\" points=\"\(list)\"/>")
  }

  func finish() -> String {
    """
    <svg xmlns="http://www.w3.org/2000/svg" width="\(number(width))" height="\(number(height))" \
    viewBox="0 0 \(number(width)) \(number(height))" role="img">
    <style>
    text { font: 12px -apple-system, "Segoe UI", "Noto Sans", Helvetica, Arial, sans-serif; fill: #6e7781 }
    .title { font-size: 14px; font-weight: 600 }
    .heading { font-weight: 600 }
    .name { text-anchor: end }
    .tick { text-anchor: middle; font-size: 11px }
    .bar { fill: #2f81f7 }
    .over { fill: #bc7a1d }
    .hand { fill: #8c959f }
    .python { fill: #b9a75b }
    .goal { stroke: #2da44e; stroke-width: 3 }
    .floor { stroke: #6e7781; stroke-width: 1.2 }
    .grid { stroke: #8c959f; stroke-width: 0.6; stroke-dasharray: 2 3 }
    .upstream { fill: none; stroke: #d1242f; stroke-width: 2 }
    .grdb { fill: #a371f7 }
    .curve { fill: none; stroke-width: 2 }
    .c0 { stroke: #2f81f7 } .c1 { stroke: #2da44e } .c2 { stroke: #bc7a1d } .c3 { stroke: #a371f7 }
    .c4 { stroke: #d1242f } .c5 { stroke: #1b7c83 } .c6 { stroke: #8c959f } .c7 { stroke: #e85aad }
    .c8 { stroke: #57c4e5 }
    .d0 { fill: #2f81f7 } .d1 { fill: #2da44e } .d2 { fill: #bc7a1d } .d3 { fill: #a371f7 }
    .d4 { fill: #d1242f } .d5 { fill: #1b7c83 } .d6 { fill: #8c959f } .d7 { fill: #e85aad }
    .d8 { fill: #57c4e5 }
    @media (prefers-color-scheme: light) { text { fill: #1f2328 } }
    @media (prefers-color-scheme: dark) { text { fill: #e6edf3 } }
    </style>
    \(shapes.joined(separator: "\n"))
    </svg>

    """
  }

  private func number(_ value: Double) -> String {
    decimals(value, 1)
  }
}
