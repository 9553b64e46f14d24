//! Norm, activations, depthwise filter.

use crate::Room;

pub fn measure(_room: &mut Room) {}
