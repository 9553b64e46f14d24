//! Frame → scores.
