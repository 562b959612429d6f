//! Time and memory of what is deep or large, in a program of its own: the other tests would be in the way.

mod deep;
mod growth;
mod large;
