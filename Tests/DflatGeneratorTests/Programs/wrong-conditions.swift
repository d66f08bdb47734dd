// Mistakes in conditions: each line with a mark must be an error that contains the text behind it, and no other.

import Dflat

private typealias I = Long.Item
private func use<C: QueryExpression<Bool, I>>(_ condition: C) {}

private func m0(_ n: Int) { use(I.number > n) } // ! both sides have one type
private func m1(_ n: Int) { use(I.number > n && I.flag) } // ! both sides have one type
private func m2(_ n: Int) { use(I.number > 1 && I.count < 100 && I.title == "a" && I.longNumber >= -5 && I.big <= 7 && I.tiny != 3 && I.small == 200 && I.otherNumber > n) } // ! both sides have one type
private func m3(_ n: Int) { use(I.number > n && I.count < 100 && I.title == "a" && I.longNumber >= -5 && I.big <= 7 && I.tiny != 3 && I.port > 80) } // ! both sides have one type
private func m4(_ n: Int) { use((I.number + n) % 2 == 0 && I.count < 100 && I.title == "a") } // ! both sides have one type
private func m5(_ n: Int) { use(n < I.number && I.flag) } // ! both sides have one type
private func m6(_ n: Int) { use(I.number > n + 1 && I.otherNumber > n * 2 && I.title == "a" && I.word != "b") } // ! both sides have one type
private func m7(_ n: Int) { use(I.number + 1 > n - 1 && I.otherNumber - n < 3 || I.flag) } // ! both sides have one type
private func m8() { use(I.title == 5 && I.flag) } // ! both sides have one type
private func m9() { use(I.number == "5" && I.flag) } // ! both sides have one type
private func m10() { use(I.number > 1.5 && I.flag) } // ! both sides have one type
private func m11(_ n: Int) { use(I.real > n && I.flag) } // ! both sides have one type
private func m12() { use(I.mood == "calm" && I.flag) } // ! both sides have one type
private func m13() { use(I.number > I.longNumber && I.flag) } // ! both sides have one type
private func m14() { use(I.title == I.number && I.flag) } // ! both sides have one type
private func m15(_ n: Int32?) { use(I.number < n && I.flag) } // ! both sides have one type
private func m16(_ n: Int?) { use(I.number == n && I.flag) } // ! both sides have one type
private func m17() { use(I.number * 2 > 3 && I.flag) } // ! CombinableWithAnotherType
private func m19() { use(I.nosuch == 3 && I.flag) } // ! no member 'nosuch'
private func m20() { use(I.branch.nosuch == 3 && I.flag) } // ! no member 'nosuch'
private func m21() { use(I.number && I.flag) } // ! 'Int32' and 'Bool'
private func m22() { use(I.flag == 1 && I.number > 3) } // ! both sides have one type
private func m23() { use(I.title > nil && I.flag) } // ! 'nil'
private func m24() { use(I.number.in([1, "a"]) && I.flag) } // ! 'String'
private func m25(_ x: I) { use(I.number > x.longNumber && I.flag) } // ! both sides have one type
