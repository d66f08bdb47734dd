// The forms of call: each kind of value under a key, with its type written, inferred, or with a default.
//
// The concrete kinds are `Codable`, too; Swift prefers the concrete form. A generated value is of both generic kinds; the last group,
// which says so, is preferred to both.

// MARK: Codable

extension WorkspaceDictionary {
  /// The value under a key; nil removes the key. It is nil as well if the key holds another kind of value, and the error hook hears.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript<T: Codable & Equatable & Sendable>(_ key: String, _ type: T.Type) -> T? {
    get { _access.get(key, .codable) }
    set { _access.set(key, newValue, .codable) }
  }

  /// The value under a key, its type inferred.
  /// - Parameter key: The key.
  public subscript<T: Codable & Equatable & Sendable>(_ key: String) -> T? {
    get { _access.get(key, .codable) }
    set { _access.set(key, newValue, .codable) }
  }

  /// The value under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: What is given if there is no such value.
  public subscript<T: Codable & Equatable & Sendable>(_ key: String, default value: T) -> T {
    _access.get(key, .codable) ?? value
  }
}

// MARK: FlatBuffersCodable

extension WorkspaceDictionary {
  /// The generated value under a key; nil removes the key. It is nil as well if the key holds another kind of value, and the error hook hears.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript<T: FlatBuffersCodable & Equatable & Sendable>(_ key: String, _ type: T.Type)
    -> T?
  {
    get { _access.get(key, .flatBuffers) }
    set { _access.set(key, newValue, .flatBuffers) }
  }

  /// The generated value under a key, its type inferred.
  /// - Parameter key: The key.
  public subscript<T: FlatBuffersCodable & Equatable & Sendable>(_ key: String) -> T? {
    get { _access.get(key, .flatBuffers) }
    set { _access.set(key, newValue, .flatBuffers) }
  }

  /// The generated value under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: What is given if there is no such value.
  public subscript<T: FlatBuffersCodable & Equatable & Sendable>(_ key: String, default value: T)
    -> T
  {
    _access.get(key, .flatBuffers) ?? value
  }
}

// MARK: Codable & FlatBuffersCodable

extension WorkspaceDictionary {
  /// The generated value under a key; nil removes the key. It is nil as well if the key holds another kind of value, and the error hook hears.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript<T: Codable & FlatBuffersCodable & Equatable & Sendable>(_ key: String,
    _ type: T.Type
  ) -> T? {
    get { _access.get(key, .flatBuffers) }
    set { _access.set(key, newValue, .flatBuffers) }
  }

  /// The generated value under a key, its type inferred.
  /// - Parameter key: The key.
  public subscript<T: Codable & FlatBuffersCodable & Equatable & Sendable>(_ key: String) -> T? {
    get { _access.get(key, .flatBuffers) }
    set { _access.set(key, newValue, .flatBuffers) }
  }

  /// The generated value under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: What is given if there is no such value.
  public subscript<T: Codable & FlatBuffersCodable & Equatable & Sendable>(_ key: String,
    default value: T
  ) -> T {
    _access.get(key, .flatBuffers) ?? value
  }
}

// MARK: Bool

extension WorkspaceDictionary {
  /// The `Bool` under a key; nil removes the key. It is nil as well if the key holds another kind of value, and the error hook hears.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript(_ key: String, _ type: Bool.Type) -> Bool? {
    get { scalar(key, .bool) }
    set { _access.set(key, newValue, .bool) }
  }

  /// The `Bool` under a key, its type inferred.
  /// - Parameter key: The key.
  public subscript(_ key: String) -> Bool? {
    get { scalar(key, .bool) }
    set { _access.set(key, newValue, .bool) }
  }

  /// The `Bool` under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: What is given if there is no such value.
  public subscript(_ key: String, default value: Bool) -> Bool {
    scalar(key, .bool) ?? value
  }
}

// MARK: Int

extension WorkspaceDictionary {
  /// The `Int` under a key; nil removes the key. It is nil as well if the key holds another kind of value, and the error hook hears.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript(_ key: String, _ type: Int.Type) -> Int? {
    get { scalar(key, .int) }
    set { _access.set(key, newValue, .int) }
  }

  /// The `Int` under a key, its type inferred.
  /// - Parameter key: The key.
  public subscript(_ key: String) -> Int? {
    get { scalar(key, .int) }
    set { _access.set(key, newValue, .int) }
  }

  /// The `Int` under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: What is given if there is no such value.
  public subscript(_ key: String, default value: Int) -> Int {
    scalar(key, .int) ?? value
  }
}

// MARK: UInt

extension WorkspaceDictionary {
  /// The `UInt` under a key; nil removes the key. It is nil as well if the key holds another kind of value, and the error hook hears.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript(_ key: String, _ type: UInt.Type) -> UInt? {
    get { scalar(key, .uint) }
    set { _access.set(key, newValue, .uint) }
  }

  /// The `UInt` under a key, its type inferred.
  /// - Parameter key: The key.
  public subscript(_ key: String) -> UInt? {
    get { scalar(key, .uint) }
    set { _access.set(key, newValue, .uint) }
  }

  /// The `UInt` under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: What is given if there is no such value.
  public subscript(_ key: String, default value: UInt) -> UInt {
    scalar(key, .uint) ?? value
  }
}

// MARK: Float

extension WorkspaceDictionary {
  /// The `Float` under a key; nil removes the key. It is nil as well if the key holds another kind of value, and the error hook hears.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript(_ key: String, _ type: Float.Type) -> Float? {
    get { scalar(key, .float) }
    set { _access.set(key, newValue, .float) }
  }

  /// The `Float` under a key, its type inferred.
  /// - Parameter key: The key.
  public subscript(_ key: String) -> Float? {
    get { scalar(key, .float) }
    set { _access.set(key, newValue, .float) }
  }

  /// The `Float` under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: What is given if there is no such value.
  public subscript(_ key: String, default value: Float) -> Float {
    scalar(key, .float) ?? value
  }
}

// MARK: Double

extension WorkspaceDictionary {
  /// The `Double` under a key; nil removes the key. It is nil as well if the key holds another kind of value, and the error hook hears.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript(_ key: String, _ type: Double.Type) -> Double? {
    get { scalar(key, .double) }
    set { _access.set(key, newValue, .double) }
  }

  /// The `Double` under a key, its type inferred.
  /// - Parameter key: The key.
  public subscript(_ key: String) -> Double? {
    get { scalar(key, .double) }
    set { _access.set(key, newValue, .double) }
  }

  /// The `Double` under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: What is given if there is no such value.
  public subscript(_ key: String, default value: Double) -> Double {
    scalar(key, .double) ?? value
  }
}

// MARK: String

extension WorkspaceDictionary {
  /// The `String` under a key; nil removes the key. It is nil as well if the key holds another kind of value, and the error hook hears.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript(_ key: String, _ type: String.Type) -> String? {
    get { scalar(key, .string) }
    set { _access.set(key, newValue, .string) }
  }

  /// The `String` under a key, its type inferred.
  /// - Parameter key: The key.
  public subscript(_ key: String) -> String? {
    get { scalar(key, .string) }
    set { _access.set(key, newValue, .string) }
  }

  /// The `String` under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: What is given if there is no such value.
  public subscript(_ key: String, default value: String) -> String {
    scalar(key, .string) ?? value
  }
}
