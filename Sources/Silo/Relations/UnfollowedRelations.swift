// The places where silos do not follow relations: there the compiler refuses them.
//
// The macro refuses a relation that it can read there. It sees the spelling of a type only, so one
// that a typealias hides is refused by these conformances, which may not be used.

/// None: a relation is no part of other types.
@available(
  *, unavailable,
  message: """
    silos follow a relation only if it is a property of the '@Persistable' struct and its type \
    is spelled RelatedItem, without a typealias; elsewhere store the id
    """
)
extension RelatedItem: PersistablePart, IndexableProperty {}

/// None: a relation is no part of other types.
@available(
  *, unavailable,
  message: """
    silos follow a relation only if it is a property of the '@Persistable' struct and its type \
    is spelled RelatedItems, without a typealias; elsewhere store the id
    """
)
extension RelatedItems: PersistablePart {}

/// None: a relation is no part of other types.
@available(
  *, unavailable,
  message: """
    silos follow a relation only if it is a property of the '@Persistable' struct and its type \
    is spelled RelatedList, without a typealias; elsewhere store the id
    """
)
extension RelatedList: PersistablePart {}
