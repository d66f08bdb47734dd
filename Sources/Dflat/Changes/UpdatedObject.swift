// UpdatedObject: what a submitted request did.

/// What a submitted request did.
public enum UpdatedObject<Element: Atom>: Sendable {
  /// Created; `_rowid` is its new row.
  case inserted(_: Element)
  /// Changed; the row is the same as before.
  case updated(_: Element)
  /// An update whose content equals what is stored: nothing was written.
  case identity(_: Element)
  /// Removed; the payload is the row id.
  case deleted(_: Int64)
}

extension UpdatedObject {
  @inlinable
  init(_ row: SubmittedRow) {
    switch row {
    case .inserted(let row): self = .inserted(Element(_row: row))
    case .updated(let row): self = .updated(Element(_row: row))
    case .identity(let row): self = .identity(Element(_row: row))
    case .deleted(let id): self = .deleted(id)
    }
  }
}
