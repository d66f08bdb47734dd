// What apollo-codegen made before Apollo iOS 1.0 of heroes.graphql, in its shape.

/// What Apollo calls `ResultMap`.
public typealias ResultMap = [String: Any?]
/// What Apollo calls `GraphQLID`.
public typealias GraphQLID = String

/// What all structures of a response are.
public protocol GraphQLSelectionSet {
  var resultMap: ResultMap { get }
  init(unsafeResultMap: ResultMap)
}

func object<T: GraphQLSelectionSet>(_ value: Any??) -> T? {
  ((value ?? nil) as? ResultMap).map { T(unsafeResultMap: $0) }
}

func objects<T: GraphQLSelectionSet>(_ value: Any??) -> [T?]? {
  ((value ?? nil) as? [ResultMap?])?.map { $0.map { T(unsafeResultMap: $0) } }
}

/// The enum `Episode`.
public enum Episode: RawRepresentable {
  case newhope, empire, jedi
  case __unknown(String)

  /// As Apollo makes it.
  public init?(rawValue: String) {
    switch rawValue {
    case "NEWHOPE": self = .newhope
    case "EMPIRE": self = .empire
    case "JEDI": self = .jedi
    default: self = .__unknown(rawValue)
    }
  }

  /// The value of `rawValue`.
  public var rawValue: String {
    switch self {
    case .newhope: "NEWHOPE"
    case .empire: "EMPIRE"
    case .jedi: "JEDI"
    case .__unknown(let value): value
    }
  }
}

func episodes(_ value: Any??) -> [Episode?] {
  ((value ?? nil) as! [String?]).map { $0.flatMap { Episode(rawValue: $0) } }
}

/// The operation `HeroDetailsQuery`.
public final class HeroDetailsQuery {
  /// The selected fields at `Data`.
  public struct Data: GraphQLSelectionSet {
    /// The fields as JSON has them.
    public private(set) var resultMap: ResultMap
    /// As Apollo makes it.
    public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
    /// The value of `hero`.
    public var hero: Hero? { object(resultMap["hero"]) }

    /// The selected fields at `Hero`.
    public struct Hero: GraphQLSelectionSet {
      /// The fields as JSON has them.
      public private(set) var resultMap: ResultMap
      /// As Apollo makes it.
      public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
      /// The value of `__typename`.
      public var __typename: String { resultMap["__typename"]! as! String }
      /// The value of `id`.
      public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
      /// The value of `name`.
      public var name: String { resultMap["name"]! as! String }
      /// The value of `appearsIn`.
      public var appearsIn: [Episode?] { episodes(resultMap["appearsIn"]) }
      /// The value of `rank`.
      public var rank: Int? { resultMap["rank"] as? Int }
      /// The value of `friends`.
      public var friends: [Friend?]? { objects(resultMap["friends"]) }
      /// The value of `fragments`.
      public var fragments: Fragments { Fragments(unsafeResultMap: resultMap) }

      /// The selected fields at `Fragments`.
      public struct Fragments {
        /// The fields as JSON has them.
        public private(set) var resultMap: ResultMap
        /// As Apollo makes it.
        public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
        /// The value of `heroNames`.
        public var heroNames: HeroNames { HeroNames(unsafeResultMap: resultMap) }
        /// The value of `droidDetails`.
        public var droidDetails: DroidDetails? {
          DroidDetails.possibleTypes.contains(resultMap["__typename"]! as! String)
            ? DroidDetails(unsafeResultMap: resultMap) : nil
        }
      }

      /// The selected fields at `Friend`.
      public struct Friend: GraphQLSelectionSet {
        /// The fields as JSON has them.
        public private(set) var resultMap: ResultMap
        /// As Apollo makes it.
        public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
        /// The value of `__typename`.
        public var __typename: String { resultMap["__typename"]! as! String }
        /// The value of `id`.
        public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
        /// The value of `name`.
        public var name: String { resultMap["name"]! as! String }
      }

      /// The value of `asHuman`.
      public var asHuman: AsHuman? {
        AsHuman.possibleTypes.contains(__typename) ? AsHuman(unsafeResultMap: resultMap) : nil
      }

      /// The selected fields at `AsHuman`.
      public struct AsHuman: GraphQLSelectionSet {
        /// The value of `possibleTypes`.
        public static let possibleTypes = ["Human"]
        /// The fields as JSON has them.
        public private(set) var resultMap: ResultMap
        /// As Apollo makes it.
        public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
        /// The value of `__typename`.
        public var __typename: String { resultMap["__typename"]! as! String }
        /// The value of `id`.
        public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
        /// The value of `name`.
        public var name: String { resultMap["name"]! as! String }
        /// The value of `appearsIn`.
        public var appearsIn: [Episode?] { episodes(resultMap["appearsIn"]) }
        /// The value of `rank`.
        public var rank: Int? { resultMap["rank"] as? Int }
        /// The value of `height`.
        public var height: Double? { resultMap["height"] as? Double }
        /// The value of `homeWorld`.
        public var homeWorld: HomeWorld? { object(resultMap["homeWorld"]) }
        /// The value of `born`.
        public var born: String? { resultMap["born"] as? String }
        /// The value of `friends`.
        public var friends: [Friend?]? { objects(resultMap["friends"]) }
        /// The value of `fragments`.
        public var fragments: Fragments { Fragments(unsafeResultMap: resultMap) }

        /// The selected fields at `Fragments`.
        public struct Fragments {
          /// The fields as JSON has them.
          public private(set) var resultMap: ResultMap
          /// As Apollo makes it.
          public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
          /// The value of `heroNames`.
          public var heroNames: HeroNames { HeroNames(unsafeResultMap: resultMap) }
        }

        /// The selected fields at `HomeWorld`.
        public struct HomeWorld: GraphQLSelectionSet {
          /// The fields as JSON has them.
          public private(set) var resultMap: ResultMap
          /// As Apollo makes it.
          public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
          /// The value of `__typename`.
          public var __typename: String { resultMap["__typename"]! as! String }
          /// The value of `name`.
          public var name: String { resultMap["name"]! as! String }
          /// The value of `grid`.
          public var grid: [[Int]?] { resultMap["grid"]! as! [[Int]?] }
          /// The value of `moons`.
          public var moons: [Moon]? {
            let all: [Moon?]? = objects(resultMap["moons"])
            return all?.compactMap { $0 }
          }

          /// The selected fields at `Moon`.
          public struct Moon: GraphQLSelectionSet {
            /// The fields as JSON has them.
            public private(set) var resultMap: ResultMap
            /// As Apollo makes it.
            public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
            /// The value of `__typename`.
            public var __typename: String { resultMap["__typename"]! as! String }
            /// The value of `name`.
            public var name: String { resultMap["name"]! as! String }
          }
        }

        /// The selected fields at `Friend`.
        public struct Friend: GraphQLSelectionSet {
          /// The fields as JSON has them.
          public private(set) var resultMap: ResultMap
          /// As Apollo makes it.
          public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
          /// The value of `__typename`.
          public var __typename: String { resultMap["__typename"]! as! String }
          /// The value of `id`.
          public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
          /// The value of `name`.
          public var name: String { resultMap["name"]! as! String }
        }
      }
    }
  }
}

/// The operation `CrewQuery`.
public final class CrewQuery {
  /// The selected fields at `Data`.
  public struct Data: GraphQLSelectionSet {
    /// The fields as JSON has them.
    public private(set) var resultMap: ResultMap
    /// As Apollo makes it.
    public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }

    /// The selected fields at `Hero`.
    public struct Hero: GraphQLSelectionSet {
      /// The fields as JSON has them.
      public private(set) var resultMap: ResultMap
      /// As Apollo makes it.
      public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
      /// The value of `__typename`.
      public var __typename: String { resultMap["__typename"]! as! String }
      /// The value of `name`.
      public var name: String { resultMap["name"]! as! String }
      /// The value of `friends`.
      public var friends: [Friend?]? { objects(resultMap["friends"]) }

      /// The selected fields at `Friend`.
      public struct Friend: GraphQLSelectionSet {
        /// The fields as JSON has them.
        public private(set) var resultMap: ResultMap
        /// As Apollo makes it.
        public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
        /// The value of `__typename`.
        public var __typename: String { resultMap["__typename"]! as! String }
        /// The value of `id`.
        public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
      }
    }
  }
}

/// The operation `OneHumanQuery`.
public final class OneHumanQuery {
  /// The selected fields at `Data`.
  public struct Data: GraphQLSelectionSet {
    /// The fields as JSON has them.
    public private(set) var resultMap: ResultMap
    /// As Apollo makes it.
    public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }

    /// The selected fields at `Human`.
    public struct Human: GraphQLSelectionSet {
      /// The fields as JSON has them.
      public private(set) var resultMap: ResultMap
      /// As Apollo makes it.
      public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
      /// The value of `__typename`.
      public var __typename: String { resultMap["__typename"]! as! String }
      /// The value of `id`.
      public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
      /// The value of `name`.
      public var name: String { resultMap["name"]! as! String }
      /// The value of `feet`.
      public var feet: Double? { resultMap["feet"] as? Double }
    }
  }
}

/// The selected fields at `HeroNames`.
public struct HeroNames: GraphQLSelectionSet {
  /// The fields as JSON has them.
  public private(set) var resultMap: ResultMap
  /// As Apollo makes it.
  public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
  /// The value of `__typename`.
  public var __typename: String { resultMap["__typename"]! as! String }
  /// The value of `name`.
  public var name: String { resultMap["name"]! as! String }
}

/// The selected fields at `DroidDetails`.
public struct DroidDetails: GraphQLSelectionSet {
  /// The value of `possibleTypes`.
  public static let possibleTypes = ["Droid"]
  /// The fields as JSON has them.
  public private(set) var resultMap: ResultMap
  /// As Apollo makes it.
  public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
  /// The value of `__typename`.
  public var __typename: String { resultMap["__typename"]! as! String }
  /// The value of `primaryFunction`.
  public var primaryFunction: String? { resultMap["primaryFunction"] as? String }
  /// The value of `parts`.
  public var parts: [Part]? {
    let all: [Part?]? = objects(resultMap["parts"])
    return all?.compactMap { $0 }
  }

  /// The selected fields at `Part`.
  public struct Part: GraphQLSelectionSet {
    /// The fields as JSON has them.
    public private(set) var resultMap: ResultMap
    /// As Apollo makes it.
    public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
    /// The value of `__typename`.
    public var __typename: String { resultMap["__typename"]! as! String }
    /// The value of `asWheel`.
    public var asWheel: AsWheel? {
      __typename == "Wheel" ? AsWheel(unsafeResultMap: resultMap) : nil
    }
    /// The value of `asArm`.
    public var asArm: AsArm? { __typename == "Arm" ? AsArm(unsafeResultMap: resultMap) : nil }

    /// The selected fields at `AsWheel`.
    public struct AsWheel: GraphQLSelectionSet {
      /// The fields as JSON has them.
      public private(set) var resultMap: ResultMap
      /// As Apollo makes it.
      public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
      /// The value of `size`.
      public var size: Int { resultMap["size"]! as! Int }
    }
    /// The selected fields at `AsArm`.
    public struct AsArm: GraphQLSelectionSet {
      /// The fields as JSON has them.
      public private(set) var resultMap: ResultMap
      /// As Apollo makes it.
      public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
      /// The value of `joints`.
      public var joints: Int { resultMap["joints"]! as! Int }
    }
  }
}

func hero(_ data: ResultMap) -> HeroDetailsQuery.Data.Hero { .init(unsafeResultMap: data) }
func crew(_ data: ResultMap) -> CrewQuery.Data.Hero { .init(unsafeResultMap: data) }
func human(_ data: ResultMap) -> OneHumanQuery.Data.Human { .init(unsafeResultMap: data) }

/// What becomes of an unknown value in a list.
var unknownEpisode: [Character.Episode] { [.newhope] }
