// What Apollo iOS 1.x makes of heroes.graphql in the namespace HeroesAPI, in its shape.
// As generated code, it has no documentation.
// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import ApolloAPI

public typealias ResultMap = [String: Any?]

public enum HeroesAPI {}

let anyCharacter = ParentType(objects: ["Human", "Droid"])
let onlyHuman = ParentType(objects: ["Human"])
let onlyDroid = ParentType(objects: ["Droid"])

extension HeroesAPI {
  public enum Episode: String, EnumType {
    case newhope = "NEWHOPE"
    case empire = "EMPIRE"
    case jedi = "JEDI"
  }

  public class HeroDetailsQuery {
    public struct Data {
      public struct Hero: SelectionSet {
        public let __data: DataDict
        public init(_dataDict: DataDict) { __data = _dataDict }
        public static var __parentType: ParentType { anyCharacter }
        public var id: String { __data["id"] }
        public var appearsIn: [GraphQLEnum<HeroesAPI.Episode>?] { __data["appearsIn"] }
        public var rank: Int? { __data["rank"] }
        public var friends: [Friend?]? { __data["friends"] }
        public var name: String { __data["name"] }
        public var asHuman: AsHuman? { _asInlineFragment() }
        public var asDroid: AsDroid? { _asInlineFragment() }

        public struct Fragments: FragmentContainer {
          public let __data: DataDict
          public init(_dataDict: DataDict) { __data = _dataDict }
          public var heroNames: HeroNames { _toFragment() }
        }
        public var fragments: Fragments { Fragments(_dataDict: __data) }

        public struct Friend: SelectionSet {
          public let __data: DataDict
          public init(_dataDict: DataDict) { __data = _dataDict }
          public static var __parentType: ParentType { anyCharacter }
          public var id: String { __data["id"] }
          public var name: String { __data["name"] }
        }

        public struct AsHuman: InlineFragment {
          public let __data: DataDict
          public init(_dataDict: DataDict) { __data = _dataDict }
          public static var __parentType: ParentType { onlyHuman }
          public var height: Double? { __data["height"] }
          public var homeWorld: HomeWorld? { __data["homeWorld"] }
          public var born: String? { __data["born"] }
          public var id: String { __data["id"] }
          public var appearsIn: [GraphQLEnum<HeroesAPI.Episode>?] { __data["appearsIn"] }
          public var rank: Int? { __data["rank"] }
          public var friends: [Friend?]? { __data["friends"] }
          public var name: String { __data["name"] }

          public struct Fragments: FragmentContainer {
            public let __data: DataDict
            public init(_dataDict: DataDict) { __data = _dataDict }
            public var heroNames: HeroNames { _toFragment() }
          }
          public var fragments: Fragments { Fragments(_dataDict: __data) }

          public struct HomeWorld: SelectionSet {
            public let __data: DataDict
            public init(_dataDict: DataDict) { __data = _dataDict }
            public static var __parentType: ParentType { ParentType(objects: ["Planet"]) }
            public var name: String { __data["name"] }
            public var grid: [[Int]?] { __data["grid"] }
            public var moons: [Moon]? { __data["moons"] }

            public struct Moon: SelectionSet {
              public let __data: DataDict
              public init(_dataDict: DataDict) { __data = _dataDict }
              public static var __parentType: ParentType { ParentType(objects: ["Planet"]) }
              public var name: String { __data["name"] }
            }
          }
        }

        public struct AsDroid: InlineFragment {
          public let __data: DataDict
          public init(_dataDict: DataDict) { __data = _dataDict }
          public static var __parentType: ParentType { onlyDroid }
          public var id: String { __data["id"] }
          public var appearsIn: [GraphQLEnum<HeroesAPI.Episode>?] { __data["appearsIn"] }
          public var rank: Int? { __data["rank"] }
          public var friends: [Friend?]? { __data["friends"] }
          public var name: String { __data["name"] }
          public var primaryFunction: String? { __data["primaryFunction"] }

          public struct Fragments: FragmentContainer {
            public let __data: DataDict
            public init(_dataDict: DataDict) { __data = _dataDict }
            public var droidDetails: DroidDetails { _toFragment() }
            public var heroNames: HeroNames { _toFragment() }
          }
          public var fragments: Fragments { Fragments(_dataDict: __data) }
        }
      }
    }
  }

  public class CrewQuery {
    public struct Data {
      public struct Hero: SelectionSet {
        public let __data: DataDict
        public init(_dataDict: DataDict) { __data = _dataDict }
        public static var __parentType: ParentType { anyCharacter }
        public var name: String { __data["name"] }
        public var friends: [Friend?]? { __data["friends"] }

        public struct Friend: SelectionSet {
          public let __data: DataDict
          public init(_dataDict: DataDict) { __data = _dataDict }
          public static var __parentType: ParentType { anyCharacter }
          public var id: String { __data["id"] }
        }
      }
    }
  }

  public class OneHumanQuery {
    public struct Data {
      public struct Human: SelectionSet {
        public let __data: DataDict
        public init(_dataDict: DataDict) { __data = _dataDict }
        public static var __parentType: ParentType { onlyHuman }
        public var id: String { __data["id"] }
        public var name: String { __data["name"] }
        public var feet: Double? { __data["feet"] }
      }
    }
  }

  public struct HeroNames: SelectionSet {
    public let __data: DataDict
    public init(_dataDict: DataDict) { __data = _dataDict }
    public static var __parentType: ParentType { anyCharacter }
    public var name: String { __data["name"] }
  }

  public struct DroidDetails: SelectionSet {
    public let __data: DataDict
    public init(_dataDict: DataDict) { __data = _dataDict }
    public static var __parentType: ParentType { onlyDroid }
    public var primaryFunction: String? { __data["primaryFunction"] }
    public var parts: [Part]? { __data["parts"] }

    public struct Part: SelectionSet {
      public let __data: DataDict
      public init(_dataDict: DataDict) { __data = _dataDict }
      public static var __parentType: ParentType { ParentType(objects: ["Wheel", "Arm"]) }
      public var asWheel: AsWheel? { _asInlineFragment() }
      public var asArm: AsArm? { _asInlineFragment() }

      public struct AsWheel: InlineFragment {
        public let __data: DataDict
        public init(_dataDict: DataDict) { __data = _dataDict }
        public static var __parentType: ParentType { ParentType(objects: ["Wheel"]) }
        public var size: Int { __data["size"] }
      }
      public struct AsArm: InlineFragment {
        public let __data: DataDict
        public init(_dataDict: DataDict) { __data = _dataDict }
        public static var __parentType: ParentType { ParentType(objects: ["Arm"]) }
        public var joints: Int { __data["joints"] }
      }
    }
  }
}

func hero(_ data: ResultMap) -> HeroesAPI.HeroDetailsQuery.Data.Hero {
  .init(_dataDict: DataDict(data))
}
func crew(_ data: ResultMap) -> HeroesAPI.CrewQuery.Data.Hero { .init(_dataDict: DataDict(data)) }
func human(_ data: ResultMap) -> HeroesAPI.OneHumanQuery.Data.Human {
  .init(_dataDict: DataDict(data))
}

/// What becomes of an unknown value in a list.
var unknownEpisode: [Character.Episode] { [.newhope] }
