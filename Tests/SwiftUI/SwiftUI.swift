// A stand-in for Apple's SwiftUI: as much of it as Dflat's property wrapper and its tests use, for
// tests on systems that have none.
//
// `Host` renders a view as SwiftUI does: it gives the view's properties their environment, keeps
// their state when the view is made again, updates them, and renders again when something that the
// body has read has changed.

import Foundation
import Observation

/// A view.
@MainActor public protocol View {
  /// What it shows.
  associatedtype Body
  /// Makes what it shows.
  var body: Body { get }
}

/// A property of a view that is updated before the view is rendered.
public protocol DynamicProperty {
  /// Called before the view is rendered.
  mutating func update()
}

extension DynamicProperty {
  /// Nothing.
  public mutating func update() {}
}

/// A value of the environment.
public protocol EnvironmentKey {
  /// The type of the value.
  associatedtype Value
  /// What it is unless it was set.
  static var defaultValue: Value { get }
}

/// What a view is surrounded by.
public struct EnvironmentValues {
  private var values: [ObjectIdentifier: Any] = [:]

  /// An environment of default values.
  public init() {}

  /// The value of a key.
  public subscript<K: EnvironmentKey>(key: K.Type) -> K.Value {
    get { values[ObjectIdentifier(key)] as? K.Value ?? K.defaultValue }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}

/// What a host connects with a view.
@MainActor private protocol Connected {
  func connect(_ environment: EnvironmentValues, _ old: (any Connected)?)
}

/// A property from the environment.
@propertyWrapper
@MainActor public struct Environment<Value> {
  private final class Place { var values = EnvironmentValues() }
  private let place = Place()
  private let path: KeyPath<EnvironmentValues, Value>

  /// Reads a value of the environment.
  public init(_ path: KeyPath<EnvironmentValues, Value>) { self.path = path }

  /// The value.
  public var wrappedValue: Value { place.values[keyPath: path] }
}

extension Environment: Connected {
  fileprivate func connect(_ environment: EnvironmentValues, _ old: (any Connected)?) {
    place.values = environment
  }
}

/// State that stays when the view is made again.
@propertyWrapper
@MainActor public struct State<Value> {
  private final class Place {
    var value: Value
    init(_ value: Value) { self.value = value }
  }
  private final class Link {
    var place: Place
    init(_ place: Place) { self.place = place }
  }
  private let link: Link

  /// Begins with a value.
  public init(wrappedValue: Value) { link = Link(Place(wrappedValue)) }

  /// The value.
  public var wrappedValue: Value {
    get { link.place.value }
    nonmutating set { link.place.value = newValue }
  }
}

extension State: Connected {
  fileprivate func connect(_ environment: EnvironmentValues, _ old: (any Connected)?) {
    if let old = old as? State { link.place = old.link.place }
  }
}

/// Renders a view, and again when something that it has read has changed.
@MainActor public final class Host<V: View> {
  private let make: () -> V
  private let rendered: (V.Body) -> Void
  private var view: V?
  /// The environment from the next rendering on.
  public var environment: EnvironmentValues

  /// Renders the view for the first time.
  /// - Parameters:
  ///   - environment: The environment.
  ///   - make: Makes the view, each time that it is rendered.
  ///   - rendered: Gets each body.
  public init(
    _ environment: EnvironmentValues, _ make: @escaping () -> V,
    rendered: @escaping (V.Body) -> Void
  ) {
    self.environment = environment
    self.make = make
    self.rendered = rendered
    render()
  }

  /// Renders the view now, as its parent does when it has changed.
  public func render() {
    let view = make()
    connect(view, self.view)
    self.view = view
    let body = withObservationTracking {
      view.body
    } onChange: {
      // The change is about to happen.
      DispatchQueue.main.async { MainActor.assumeIsolated { [weak self] in self?.render() } }
    }
    rendered(body)
  }

  private func connect(_ new: Any, _ old: Any?) {
    let before = old.map { Array(Mirror(reflecting: $0).children) }
    for (index, child) in Mirror(reflecting: new).children.enumerated() {
      let former = before.flatMap { $0.indices.contains(index) ? $0[index].value : nil }
      if let property = child.value as? any Connected {
        property.connect(environment, former as? any Connected)
      } else if var property = child.value as? any DynamicProperty {
        connect(property, former)
        property.update()
      }
    }
  }
}
