// DflatTestSupport: the support library for tests of workspaces.
//
//  - `withTemporaryWorkspace` gives a workspace in its own directory and fails the test for every
//    unexpected error;
//  - `IndexState` puts the side tables of a file into any state, through a connection that the
//    workspace does not know;
//  - `ModelValue` and related types are the simplest possible model: objects in an array, and
//    conditions as three-valued closures;
//  - `RandomItems` and `RandomConditions` generate objects and conditions from a seed, which every
//    failure reports;
//  - `unsoundness(of:)` compares the side tables of a file with its objects.
//
// The model must be independent of the code under test: it uses only the properties of objects.

/// The namespace of blog.fbs.
public enum Blog {}
/// The namespace of item.fbs, slot.fbs and shelf.fbs.
public enum Kit {}
/// The namespace of the schemas with relations: writer.fbs, label.fbs, story.fbs and stamp.fbs.
public enum Guild {}
/// The namespace of two types that refer to each other: knot.fbs and rope.fbs.
public enum Ring {}
/// The namespace of the schemas with relations by compound keys: venue.fbs, concert.fbs and
/// ticket.fbs.
public enum Tour {}
/// The namespace of the entity `Memo`, which has compound indexes.
public enum Desk {}
/// The namespace of another version of `Memo`.
public enum DESK {}
/// `Kit` in a later version of a program, with the same tables.
public enum KIT {}
/// The namespace of sheet.fbs.
public enum Broad {}
/// The namespace of article.fbs.
public enum Press {}
/// `Press` in a later version of a program, with the same table.
public enum PRESS {}
/// The namespace of everyday.fbs.
public enum Shop {}
/// The namespace of letter1.fbs.
public enum V1 {}
/// The namespace of letter2.fbs.
public enum V2 {}
/// The namespace of letter3.fbs.
public enum Mail {}
/// The namespace of letter4.fbs. Its table names equal those of `Mail`.
public enum MAIL {}
/// The namespace of tale.fbs, whose texts are searched.
public enum Tale {}
/// `Tale` in another version of a program, with the same table.
public enum TALE {}
/// The namespace of essay.fbs, whose words are stemmed, and of review.fbs and critic.fbs, which
/// refer to it.
public enum Prose {}
/// The namespace of poem.fbs, whose texts are searched for any three characters.
public enum Verse {}
/// The namespace of entry.fbs, whose fields have different tokenizers.
public enum Mixed {}
/// `Mixed` in another version of a program, with the same table and other tokenizers.
public enum MIXED {}
