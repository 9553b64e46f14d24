//! A QEMU plugin that counts instructions, and models the cycles of a Cortex-M4, in the regions that a firmware marks.
//!
//! Enters: every instruction that the emulated chip executes. Leaves: a text file with a line for each region, in the
//! order in which the regions ended: `region DEPTH INSTRUCTIONS CYCLES`. Regions nest; a mark counts nothing.

pub mod instruction;
pub mod meter;
#[cfg(not(test))]
mod plugin;
