// Strings, vectors, and structs outside of tables.
//
// The elements of a vector are written as one block, aligned for the elements and for the count
// before them.

extension FlatBufferBuilder {
  /// Writes a string with its closing NUL.
  @inlinable
  public func string(_ string: String) -> Offset {
    if let offset = string.utf8.withContiguousStorageIfAvailable({
      self.string(utf8: UnsafeRawBufferPointer($0))
    }) {
      return offset
    }
    // A bridged string is copied first.
    var copy = string
    return copy.withUTF8 { self.string(utf8: UnsafeRawBufferPointer($0)) }
  }

  /// Writes a string, or nothing for nil.
  @inlinable
  public func string(_ string: String?) -> Offset {
    guard let string else { return .none }
    return self.string(string)
  }

  /// Writes a string from its UTF-8 bytes, which are not checked. They must not be the builder's
  /// own.
  @inlinable
  public func string(utf8: UnsafeRawBufferPointer) -> Offset {
    checkBetweenTables()
    guard let size = checkedExtent(count: utf8.count, stride: 1) else { return dropped() }
    // The count, the bytes, the NUL.
    let destination = allocate(4 &+ size &+ 1, alignment: 4)
    destination.storeBytes(of: UInt32(truncatingIfNeeded: size), as: UInt32.self)
    if let source = utf8.baseAddress { (destination + 4).copyMemory(from: source, byteCount: size) }
    destination.storeBytes(of: 0, toByteOffset: 4 &+ size, as: UInt8.self)
    return Offset(rawValue: UInt32(truncatingIfNeeded: used))
  }

  /// Writes a vector of scalars.
  @inlinable
  public func vector<T: FlatBufferScalar>(_ values: [T]) -> Offset {
    values.withUnsafeBytes {
      vector(bytes: $0, count: values.count, alignment: MemoryLayout<T>.size)
    }
  }

  /// Writes a vector from the bytes of its elements in their final form.
  ///
  /// - Parameters:
  ///   - bytes: `count` scalars or structs, little-endian, with zeroed padding. They must not be in
  ///     the builder's own memory.
  ///   - count: The number of elements; `bytes.count` is a multiple of it.
  ///   - alignment: An element's alignment in bytes; for a scalar, its size.
  @inlinable
  public func vector(bytes: UnsafeRawBufferPointer, count: Int, alignment: Int) -> Offset {
    checkBetweenTables()
    checkAlignment(alignment)
    guard count >= 0, count == 0 ? bytes.isEmpty : bytes.count % count == 0 else {
      misuse("the number of a vector's bytes must be a multiple of its count")
    }
    guard let size = checkedExtent(count: bytes.count, stride: 1) else { return dropped() }
    let destination = allocate(size, alignment: max(4, alignment))
    if let source = bytes.baseAddress { destination.copyMemory(from: source, byteCount: size) }
    return endVector(count: count)
  }

  /// Writes a vector of structs of `size` bytes. `fill` is called for each index in turn with that
  /// element's memory, zeroed, and stores the members.
  @inlinable
  public func vector(
    count: Int, size: Int, alignment: Int, fill: (Int, UnsafeMutableRawPointer) -> Void
  ) -> Offset {
    checkBetweenTables()
    checkAlignment(alignment)
    guard let extent = checkedExtent(count: count, stride: size) else { return dropped() }
    let destination = allocate(extent, alignment: max(4, alignment))
    destination.initializeMemory(as: UInt8.self, repeating: 0, count: extent)
    for index in 0..<count { fill(index, destination + index &* size) }
    return endVector(count: count)
  }

  /// Writes strings, and a vector of them.
  @inlinable
  public func vector(_ strings: [String]) -> Offset {
    startVector(count: strings.count)
    // In place: otherwise each string would be retained.
    strings.withUnsafeBufferPointer { strings in
      for index in strings.indices { push(string(strings[index])) }
    }
    return endVector()
  }

  /// Writes a vector of objects that were already written: strings, tables, or members of unions.
  @inlinable
  public func vector(_ offsets: [Offset]) -> Offset {
    startVector(count: offsets.count)
    for element in offsets { push(element) }
    return endVector()
  }

  /// Opens a vector of offsets, whose elements are written and pushed one by one, without an array.
  ///
  ///     builder.startVector(count: strings.count)
  ///     for element in strings { builder.push(builder.string(element)) }
  ///     let vector = builder.endVector()
  ///
  /// Vectors may be nested, and tables may be written while a vector is open.
  ///
  /// - Parameter count: The expected number of elements. The actual number may differ.
  @inlinable
  public func startVector(count: Int) {
    checkBetweenTables()
    guard count >= 0 else { misuse("a vector's count must not be negative") }
    if stackCapacity &- stackCount <= count {
      growStack(by: checkedExtent(count: count, stride: 4).map { $0 / 4 } ?? 0)
    }
    stack[stackCount] = UInt32(truncatingIfNeeded: vectorStart)
    stackCount &+= 1
    vectorStart = stackCount
  }

  /// Adds an element to the vector that was opened last. `.none` is an empty element, which only
  /// vectors of unions may contain.
  @inlinable @inline(__always)
  public func push(_ offset: Offset) {
    guard vectorStart > 0 else { misuse("push without startVector") }
    if stackCount == stackCapacity { growStack(by: 1) }
    stack[stackCount] = offset.rawValue
    stackCount &+= 1
  }

  /// Writes the vector that was opened last and closes it.
  @inlinable
  public func endVector() -> Offset {
    checkBetweenTables()
    guard vectorStart > 0 else { misuse("endVector without startVector") }
    let count = stackCount &- vectorStart
    guard let extent = checkedExtent(count: count, stride: 4) else {
      closeVector()
      return dropped()
    }
    let destination = allocate(extent, alignment: 4)
    let start = UInt32(truncatingIfNeeded: used)
    let elements = stack + vectorStart
    for index in 0..<count {
      let offset = elements[index]
      // An element is 4 * index bytes after the vector's start, so its distance from the end is
      // smaller by that amount.
      let here = start &- UInt32(truncatingIfNeeded: 4 &* index)
      let end = start &- UInt32(truncatingIfNeeded: 4 &* count)
      guard offset <= end else {
        _ = noDistance()
        break
      }
      destination.storeBytes(
        of: offset == 0 ? 0 : here &- offset, toByteOffset: 4 &* index, as: UInt32.self)
    }
    closeVector()
    return endVector(count: count)
  }

  @inlinable @inline(__always)
  func closeVector() {
    stackCount = vectorStart &- 1
    vectorStart = Int(stack[stackCount])
  }

  /// The offset of something that was too large to be written: any object.
  @usableFromInline
  @inline(never)
  func dropped() -> Offset {
    _ = allocate(4, alignment: 4)
    return Offset(rawValue: UInt32(truncatingIfNeeded: used))
  }

  /// Writes a struct outside of a table: a union's value, or the root. `fill` receives `size`
  /// zeroed bytes.
  @inlinable @inline(__always)
  public func indirectStructure(
    size: Int, alignment: Int, _ fill: (UnsafeMutableRawPointer) -> Void
  ) -> Offset {
    checkBetweenTables()
    checkAlignment(alignment)
    guard let extent = checkedExtent(count: 1, stride: size) else { return dropped() }
    let destination = allocate(extent, alignment: alignment)
    destination.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    fill(destination)
    return Offset(rawValue: UInt32(truncatingIfNeeded: used))
  }

  /// Writes the count before the elements that were just written.
  @inlinable @inline(__always)
  func endVector(count: Int) -> Offset {
    let destination = allocate(4, alignment: 4)
    destination.storeBytes(of: UInt32(truncatingIfNeeded: count), as: UInt32.self)
    return Offset(rawValue: UInt32(truncatingIfNeeded: used))
  }

  @usableFromInline
  @inline(never)
  func growStack(by count: Int) {
    let newCapacity = max(stackCapacity * 2, stackCount + count + 1)
    let newStack = UnsafeMutablePointer<UInt32>.allocate(capacity: newCapacity)
    newStack.update(from: stack, count: stackCount)
    stack.deallocate()
    stack = newStack
    stackCapacity = newCapacity
  }
}
