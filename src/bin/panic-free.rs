//! Links only when no panic can be reached from the step of any baked model: what a panic would call does not exist.
//!
//! `cargo verify` links it in release, and once more with the feature `panic-control`, which adds one bounds check that
//! can fail: that must not link.
#![cfg_attr(target_os = "none", no_std, no_main)]
#![deny(unsafe_code)]

#[cfg(target_os = "none")]
#[allow(dead_code)]
mod chip {
    use core::hint::black_box;
    use core::panic::{Location, PanicInfo};
    use cortex_m as _;

    include!(concat!(env!("OUT_DIR"), "/models.rs"));

    // Nobody ever calls it, so its types need not suit C.
    #[allow(unsafe_code, improper_ctypes)]
    unsafe extern "C" {
        safe fn a_panic_can_be_reached_from_the_step(place: Option<&Location>) -> !;
    }

    /// The place is passed on so that it stays in the image, where the gate reads it when the link fails.
    #[panic_handler]
    fn panic(info: &PanicInfo) -> ! {
        a_panic_can_be_reached_from_the_step(info.location())
    }

    #[cortex_m_rt::entry]
    fn main() -> ! {
        macro_rules! step {
            ($module:ident, $name:literal) => {
                if let Some(state) = cortex_m::singleton!(: $module::State = $module::STATE) {
                    // Every way in, on input that the compiler knows nothing about: any length, any token.
                    let frame: &[i8] = black_box(&[]);
                    black_box(state.step(&$module::MODEL, frame));
                    black_box(state.step_token(&$module::MODEL, black_box(0)));
                    state.pass(&$module::MODEL, frame, |scores| {
                        black_box(scores);
                    });
                    state.pass_tokens(&$module::MODEL, black_box(&[]), |scores| {
                        black_box(scores);
                    });
                }
            };
        }
        for_each_model!(step);
        // The whole way from samples to events, on samples that the compiler knows nothing about.
        if let Some(pipeline) = cortex_m::singleton!(: chosen::Pipeline = chosen::PIPELINE) {
            let mut samples: &[i16] = black_box(&[]);
            black_box(pipeline.listen(&chosen::LISTENER, &mut samples));
        }
        #[cfg(feature = "panic-control")]
        black_box([0u8; 2][black_box(1)]);
        loop {
            cortex_m::asm::wfi();
        }
    }
}

/// There is nothing to prove on a laptop.
#[cfg(not(target_os = "none"))]
fn main() {}
