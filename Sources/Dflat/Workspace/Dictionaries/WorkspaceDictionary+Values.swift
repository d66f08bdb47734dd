// The subscripts: a value under a key, with its type written, inferred, or with a default.
//
// Values of several groups are `Codable`. Where a value fits more than one group, Swift prefers the
// one that requires more protocols; therefore the group for scalars names all protocols of the
// `Codable` group, and generated values, which are `Codable` and `FlatBuffersCodable`, have a group
// that names both. DictionaryFormsTests checks that Swift chooses as intended.

// MARK: Scalars

extension WorkspaceDictionary {
  /// The value under a key; assigning nil removes the key.
  ///
  ///     dflat.dictionary["volume", Double.self] = 1
  ///     let volume = dflat.dictionary["volume", Double.self]
  ///
  /// Reading a key whose value has another type gives nil and is reported to the error hook.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  @inlinable
  public subscript<T: DictionaryScalar & Codable & Equatable & Sendable>(_ key: String,
    _ type: T.Type
  ) -> T? {
    @inline(__always) get { scalar(key) }
    @inline(__always) set { set(key, newValue?._dictionaryStored ?? ._absent) }
  }

  /// The value under a key, with its type inferred; assigning nil removes the key.
  ///
  ///     dflat.dictionary["theme"] = "dark"
  ///     let theme: String? = dflat.dictionary["theme"]
  ///
  /// Reading a key whose value has another type gives nil and is reported to the error hook.
  /// - Parameter key: The key.
  @inlinable
  public subscript<T: DictionaryScalar & Codable & Equatable & Sendable>(_ key: String) -> T? {
    @inline(__always) get { scalar(key) }
    @inline(__always) set { set(key, newValue?._dictionaryStored ?? ._absent) }
  }

  /// The value under a key, or a default, which is not stored.
  ///
  ///     dflat.dictionary["launches"] = dflat.dictionary["launches", default: 0] + 1
  ///
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The result if the key has no value of this type.
  @inlinable
  public subscript<T: DictionaryScalar & Codable & Equatable & Sendable>(_ key: String,
    default value: T
  ) -> T {
    @inline(__always) get { scalar(key) ?? value }
  }

  @inlinable @inline(__always)
  func scalar<T: DictionaryScalar>(_ key: String) -> T? {
    let stored = _contents(of: key)
    if let value = T._dictionaryValue(stored) { return value }
    reportIfPresent(stored, key, as: T.self)
    return nil
  }

  @usableFromInline
  func reportIfPresent(_ stored: DictionaryStored, _ key: String, as type: Any.Type) {
    if stored.contents.isAbsent { return }
    _access.reportWrongType(of: stored.contents, key, as: type)
  }

  @usableFromInline
  func set(_ key: String, _ stored: DictionaryStored) { _access.set(key, stored.contents) }
}

// MARK: Codable

extension WorkspaceDictionary {
  /// The value under a key; assigning nil removes the key. It is stored as a binary property list.
  ///
  /// Reading a key whose value has another type gives nil and is reported to the error hook.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript<T: Codable & Equatable & Sendable>(_ key: String, _ type: T.Type) -> T? {
    get { _access.get(key, .codable) }
    set { _access.set(key, newValue, .codable) }
  }

  /// The value under a key, with its type inferred; assigning nil removes the key. It is stored as
  /// a binary property list.
  ///
  /// Reading a key whose value has another type gives nil and is reported to the error hook.
  /// - Parameter key: The key.
  public subscript<T: Codable & Equatable & Sendable>(_ key: String) -> T? {
    get { _access.get(key, .codable) }
    set { _access.set(key, newValue, .codable) }
  }

  /// The value under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The result if the key has no value of this type.
  public subscript<T: Codable & Equatable & Sendable>(_ key: String, default value: T) -> T {
    _access.get(key, .codable) ?? value
  }
}

// MARK: FlatBuffersCodable

extension WorkspaceDictionary {
  /// The FlatBuffers value under a key; assigning nil removes the key.
  ///
  /// Reading a key whose value has another type, or another version of its schema, gives nil and is
  /// reported to the error hook.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript<T: FlatBuffersCodable & Equatable & Sendable>(_ key: String, _ type: T.Type)
    -> T?
  {
    get { _access.get(key, .flatBuffers) }
    set { _access.set(key, newValue, .flatBuffers) }
  }

  /// The FlatBuffers value under a key, with its type inferred; assigning nil removes the key.
  ///
  /// Reading a key whose value has another type, or another version of its schema, gives nil and is
  /// reported to the error hook.
  /// - Parameter key: The key.
  public subscript<T: FlatBuffersCodable & Equatable & Sendable>(_ key: String) -> T? {
    get { _access.get(key, .flatBuffers) }
    set { _access.set(key, newValue, .flatBuffers) }
  }

  /// The FlatBuffers value under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The result if the key has no value of this type.
  public subscript<T: FlatBuffersCodable & Equatable & Sendable>(_ key: String, default value: T)
    -> T
  {
    _access.get(key, .flatBuffers) ?? value
  }
}

// MARK: Generated values, which are both

extension WorkspaceDictionary {
  /// The generated value under a key; assigning nil removes the key. It is stored as FlatBuffers.
  ///
  /// Reading a key whose value has another type, or another version of its schema, gives nil and is
  /// reported to the error hook.
  /// - Parameters:
  ///   - key: The key.
  ///   - type: The type of the value.
  public subscript<T: Codable & FlatBuffersCodable & Equatable & Sendable>(_ key: String,
    _ type: T.Type
  ) -> T? {
    get { _access.get(key, .flatBuffers) }
    set { _access.set(key, newValue, .flatBuffers) }
  }

  /// The generated value under a key, with its type inferred; assigning nil removes the key. It is
  /// stored as FlatBuffers.
  ///
  /// Reading a key whose value has another type, or another version of its schema, gives nil and is
  /// reported to the error hook.
  /// - Parameter key: The key.
  public subscript<T: Codable & FlatBuffersCodable & Equatable & Sendable>(_ key: String) -> T? {
    get { _access.get(key, .flatBuffers) }
    set { _access.set(key, newValue, .flatBuffers) }
  }

  /// The generated value under a key, or a default, which is not stored.
  /// - Parameters:
  ///   - key: The key.
  ///   - value: The result if the key has no value of this type.
  public subscript<T: Codable & FlatBuffersCodable & Equatable & Sendable>(_ key: String,
    default value: T
  ) -> T {
    _access.get(key, .flatBuffers) ?? value
  }
}
