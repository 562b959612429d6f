//! Expectations from the two notations, and the readers of the world as witnesses.
