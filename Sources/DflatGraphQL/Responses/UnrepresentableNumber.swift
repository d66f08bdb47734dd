// UnrepresentableNumber: which number of a response does not fit the type of its field, in objects
// that are decoded without `GraphQLFieldReader`.
//
// For a number such as 3.5 in a field of type Int, or 256 in one of type UInt8, Foundation says
// that the JSON is not valid, and does not say where. The place is found by decoding again with
// some of the numbers replaced.

import Foundation

struct UnrepresentableNumber {
  private let path: [GraphQLPathElement]
  /// As it is shown.
  private let number: String

  var value: UnreadableValue { UnreadableValue(path: path, misfit: number) }

  /// The first number that keeps a response from being decoded; nil if there is another reason.
  init?<Data: Codable & Hashable & Sendable>(
    in json: Foundation.Data, of type: GraphQLResponse<Data>.Type
  ) {
    guard let whole = try? JSONDecoder().decode(GraphQLValue.self, from: json) else { return nil }
    var numbers: [UnrepresentableNumber] = []
    whole.collectNumbers(at: [], into: &numbers)
    func isReadable(without count: Int) -> Bool {
      var left = count
      guard let json = try? JSONEncoder().encode(whole.replacingNumbers(&left)) else {
        return false
      }
      do { _ = try JSONDecoder.graphQL.decode(type, from: json) } catch let error as DecodingError {
        return error.pathOfUnreadableValue == nil
      } catch {}
      return true
    }
    guard isReadable(without: numbers.count) else { return nil }
    var (low, high) = (0, numbers.count)
    while low < high {
      let middle = (low + high) / 2
      if isReadable(without: middle) { high = middle } else { low = middle + 1 }
    }
    guard low > 0 else { return nil }
    self = numbers[low - 1]
  }

  fileprivate init(path: [GraphQLPathElement], number: String) {
    self.path = path
    self.number = number
  }
}

extension GraphQLValue {
  /// The number, if there is a numeric type of fields that it does not fit.
  fileprivate var doubtfulNumber: String? {
    switch self {
    case .double(let number): "\(number)"
    case .int(let number): number < 0 || number > Int8.max ? "\(number)" : nil
    case .null, .bool, .string, .list, .object: nil
    }
  }

  /// Collects the numbers that may not fit.
  fileprivate func collectNumbers(
    at path: [GraphQLPathElement], into numbers: inout [UnrepresentableNumber]
  ) {
    switch self {
    case .list(let list):
      for (index, value) in list.enumerated() {
        value.collectNumbers(at: path + [.index(index)], into: &numbers)
      }
    case .object(let object):
      for (key, value) in object.sorted(by: { $0.key < $1.key }) {
        value.collectNumbers(at: path + [.key(key)], into: &numbers)
      }
    case .null, .bool, .int, .double, .string:
      if let number = doubtfulNumber {
        numbers.append(UnrepresentableNumber(path: path, number: number))
      }
    }
  }

  /// With 0 in place of the first of these numbers, in the same order.
  fileprivate func replacingNumbers(_ left: inout Int) -> GraphQLValue {
    switch self {
    case .list(let list): return .list(list.map { $0.replacingNumbers(&left) })
    case .object(let object):
      var result: [String: GraphQLValue] = [:]
      for (key, value) in object.sorted(by: { $0.key < $1.key }) {
        result[key] = value.replacingNumbers(&left)
      }
      return .object(result)
    case .null, .bool, .int, .double, .string:
      if left == 0 || doubtfulNumber == nil { return self }
      left -= 1
      return .int(0)
    }
  }
}
