// The source of a key's publisher, without Combine: see Observing/PublisherSources.swift.

/// Sends the values of a key into a buffer.
package struct DictionaryValueSource<Element: Equatable & Sendable>: Sendable {
  private let access: DictionaryAccess
  private let key: String
  private let coding: DictionaryCoding<Element>

  package init(_ access: DictionaryAccess, _ key: String, _ coding: DictionaryCoding<Element>) {
    self.access = access.withoutLifetime
    self.key = key
    self.coding = coding
  }

  package func start(
    _ buffer: DemandBuffer<SubscribedDictionaryValue<Element>>
  ) -> any WorkspaceSubscription {
    access.subscribe(key, coding) { [weak buffer] in buffer?.send($0) }
  }
}
