// What apollo-codegen made before Apollo iOS 1.0 of heroes.graphql, in its shape.

public typealias ResultMap = [String: Any?]
public typealias GraphQLID = String

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

public enum Episode: RawRepresentable {
  case newhope, empire, jedi
  case __unknown(String)

  public init?(rawValue: String) {
    switch rawValue {
    case "NEWHOPE": self = .newhope
    case "EMPIRE": self = .empire
    case "JEDI": self = .jedi
    default: self = .__unknown(rawValue)
    }
  }

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

public final class HeroDetailsQuery {
  public struct Data: GraphQLSelectionSet {
    public private(set) var resultMap: ResultMap
    public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
    public var hero: Hero? { object(resultMap["hero"]) }

    public struct Hero: GraphQLSelectionSet {
      public private(set) var resultMap: ResultMap
      public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
      public var __typename: String { resultMap["__typename"]! as! String }
      public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
      public var name: String { resultMap["name"]! as! String }
      public var appearsIn: [Episode?] { episodes(resultMap["appearsIn"]) }
      public var rank: Int? { resultMap["rank"] as? Int }
      public var friends: [Friend?]? { objects(resultMap["friends"]) }
      public var fragments: Fragments { Fragments(unsafeResultMap: resultMap) }

      public struct Fragments {
        public private(set) var resultMap: ResultMap
        public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
        public var heroNames: HeroNames { HeroNames(unsafeResultMap: resultMap) }
        public var droidDetails: DroidDetails? {
          DroidDetails.possibleTypes.contains(resultMap["__typename"]! as! String)
            ? DroidDetails(unsafeResultMap: resultMap) : nil
        }
      }

      public struct Friend: GraphQLSelectionSet {
        public private(set) var resultMap: ResultMap
        public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
        public var __typename: String { resultMap["__typename"]! as! String }
        public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
        public var name: String { resultMap["name"]! as! String }
      }

      public var asHuman: AsHuman? {
        AsHuman.possibleTypes.contains(__typename) ? AsHuman(unsafeResultMap: resultMap) : nil
      }

      public struct AsHuman: GraphQLSelectionSet {
        public static let possibleTypes = ["Human"]
        public private(set) var resultMap: ResultMap
        public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
        public var __typename: String { resultMap["__typename"]! as! String }
        public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
        public var name: String { resultMap["name"]! as! String }
        public var appearsIn: [Episode?] { episodes(resultMap["appearsIn"]) }
        public var rank: Int? { resultMap["rank"] as? Int }
        public var height: Double? { resultMap["height"] as? Double }
        public var homeWorld: HomeWorld? { object(resultMap["homeWorld"]) }
        public var born: String? { resultMap["born"] as? String }
        public var friends: [Friend?]? { objects(resultMap["friends"]) }
        public var fragments: Fragments { Fragments(unsafeResultMap: resultMap) }

        public struct Fragments {
          public private(set) var resultMap: ResultMap
          public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
          public var heroNames: HeroNames { HeroNames(unsafeResultMap: resultMap) }
        }

        public struct HomeWorld: GraphQLSelectionSet {
          public private(set) var resultMap: ResultMap
          public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
          public var __typename: String { resultMap["__typename"]! as! String }
          public var name: String { resultMap["name"]! as! String }
          public var grid: [[Int]?] { resultMap["grid"]! as! [[Int]?] }
          public var moons: [Moon]? {
            let all: [Moon?]? = objects(resultMap["moons"])
            return all?.compactMap { $0 }
          }

          public struct Moon: GraphQLSelectionSet {
            public private(set) var resultMap: ResultMap
            public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
            public var __typename: String { resultMap["__typename"]! as! String }
            public var name: String { resultMap["name"]! as! String }
          }
        }

        public struct Friend: GraphQLSelectionSet {
          public private(set) var resultMap: ResultMap
          public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
          public var __typename: String { resultMap["__typename"]! as! String }
          public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
          public var name: String { resultMap["name"]! as! String }
        }
      }
    }
  }
}

public final class CrewQuery {
  public struct Data: GraphQLSelectionSet {
    public private(set) var resultMap: ResultMap
    public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }

    public struct Hero: GraphQLSelectionSet {
      public private(set) var resultMap: ResultMap
      public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
      public var __typename: String { resultMap["__typename"]! as! String }
      public var name: String { resultMap["name"]! as! String }
      public var friends: [Friend?]? { objects(resultMap["friends"]) }

      public struct Friend: GraphQLSelectionSet {
        public private(set) var resultMap: ResultMap
        public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
        public var __typename: String { resultMap["__typename"]! as! String }
        public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
      }
    }
  }
}

public final class OneHumanQuery {
  public struct Data: GraphQLSelectionSet {
    public private(set) var resultMap: ResultMap
    public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }

    public struct Human: GraphQLSelectionSet {
      public private(set) var resultMap: ResultMap
      public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
      public var __typename: String { resultMap["__typename"]! as! String }
      public var id: GraphQLID { resultMap["id"]! as! GraphQLID }
      public var name: String { resultMap["name"]! as! String }
      public var feet: Double? { resultMap["feet"] as? Double }
    }
  }
}

public struct HeroNames: GraphQLSelectionSet {
  public private(set) var resultMap: ResultMap
  public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
  public var __typename: String { resultMap["__typename"]! as! String }
  public var name: String { resultMap["name"]! as! String }
}

public struct DroidDetails: GraphQLSelectionSet {
  public static let possibleTypes = ["Droid"]
  public private(set) var resultMap: ResultMap
  public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
  public var __typename: String { resultMap["__typename"]! as! String }
  public var primaryFunction: String? { resultMap["primaryFunction"] as? String }
  public var parts: [Part]? {
    let all: [Part?]? = objects(resultMap["parts"])
    return all?.compactMap { $0 }
  }

  public struct Part: GraphQLSelectionSet {
    public private(set) var resultMap: ResultMap
    public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
    public var __typename: String { resultMap["__typename"]! as! String }
    public var asWheel: AsWheel? {
      __typename == "Wheel" ? AsWheel(unsafeResultMap: resultMap) : nil
    }
    public var asArm: AsArm? { __typename == "Arm" ? AsArm(unsafeResultMap: resultMap) : nil }

    public struct AsWheel: GraphQLSelectionSet {
      public private(set) var resultMap: ResultMap
      public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
      public var size: Int { resultMap["size"]! as! Int }
    }
    public struct AsArm: GraphQLSelectionSet {
      public private(set) var resultMap: ResultMap
      public init(unsafeResultMap: ResultMap) { resultMap = unsafeResultMap }
      public var joints: Int { resultMap["joints"]! as! Int }
    }
  }
}

func hero(_ data: ResultMap) -> HeroDetailsQuery.Data.Hero { .init(unsafeResultMap: data) }
func crew(_ data: ResultMap) -> CrewQuery.Data.Hero { .init(unsafeResultMap: data) }
func human(_ data: ResultMap) -> OneHumanQuery.Data.Human { .init(unsafeResultMap: data) }
