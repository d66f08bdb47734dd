// DflatTestSupport: what tests of workspaces stand on.
//
//  - `withTemporaryWorkspace` gives a workspace in a directory of its own and fails for every error nobody expected;
//  - `IndexState` puts the side tables of a file into any state, by a connection that the workspace knows nothing of;
//  - `ModelValue` and friends are the dullest possible model: objects in an array, conditions as closures with three values;
//  - `RandomItems` and `RandomConditions` make objects and conditions from a seed, which every failure names;
//  - `unsoundness(of:)` compares the side tables of a file with its objects.
//
// The model must not lean on what it judges: of the product it uses only the properties of objects.

/// The namespace of blog.fbs.
public enum Blog {}
/// The namespace of item.fbs, slot.fbs and shelf.fbs.
public enum Kit {}
/// `Kit` as a later version of a program has it, over the same tables.
public enum KIT {}
/// The namespace of article.fbs.
public enum Press {}
/// `Press` as a later version of a program has it, over the same table.
public enum PRESS {}
/// The namespace of everyday.fbs.
public enum Shop {}
/// The namespace of letter1.fbs.
public enum V1 {}
/// The namespace of letter2.fbs.
public enum V2 {}
/// The namespace of letter3.fbs.
public enum Mail {}
/// That of letter4.fbs: in names of tables it is the same.
public enum MAIL {}
