//! Evaluating and proving dimensions equal (chapters Expressing Shape Dimensions and Proving Shapes Equivalent).
