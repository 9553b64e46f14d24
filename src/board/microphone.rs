//! The microphone of an nRF52840: its PDM unit fills two halves of a buffer in turn, and the interrupt hands each full
//! half to a lock-free queue, from which the program reads.
//!
//! 1.28 MHz / 80 = 16,000 samples a second, from the crystal. Samples that find the queue full are counted, and so are
//! halves that went by while interrupts were off. A dozen registers are all it takes, so there is no HAL.
#![allow(unsafe_code)]

use super::queue::{Queue, Reader, Writer, missed};
use super::sound::Source;
use core::cell::{RefCell, UnsafeCell};
use critical_section::Mutex;
use nrf52840_pac::{Interrupt, NVIC, P0, P1, PDM, Peripherals, TIMER0, interrupt};

/// Samples of a half: 10 ms.
const HALF: usize = 160;
const HALF_MICROSECONDS: u32 = 10_000;

/// A little more than twelve halves: the time that a step may be late.
const QUEUE: usize = 2048;

/// A pin of the chip: P1.10 is `Pin { port: 1, number: 10 }`.
#[derive(Clone, Copy)]
pub struct Pin {
    pub port: u8,
    pub number: u8,
}

/// How a PDM microphone is connected. Its channel select is wired to ground: left.
pub struct Pins {
    pub clock: Pin,
    pub data: Pin,
    /// Set high before the start, on boards that switch their microphone.
    pub power: Option<Pin>,
}

/// What the DMA writes and the interrupt reads.
struct Halves(UnsafeCell<[[i16; HALF]; 2]>);

// SAFETY: the DMA writes one half while the interrupt reads the other; nothing else touches them.
unsafe impl Sync for Halves {}

static HALVES: Halves = Halves(UnsafeCell::new([[0; HALF]; 2]));

/// What the interrupt works with, until its first run takes it.
static SERVICE: Mutex<RefCell<Option<Service>>> = Mutex::new(RefCell::new(None));

struct Service {
    pdm: PDM,
    clock: TIMER0,
    writer: Writer<'static>,
    /// The half that was full last, and when, in microseconds.
    full: usize,
    last: Option<u32>,
}

pub struct Microphone {
    reader: Reader<'static>,
}

impl Source for Microphone {
    fn read<'b>(&mut self, buffer: &'b mut [i16]) -> &'b [i16] {
        let mut used = 0;
        loop {
            let (_, rest) = buffer.split_at_mut(used);
            used += self.reader.read(rest);
            if used == buffer.len() {
                return buffer;
            }
            cortex_m::asm::wfi();
        }
    }

    fn overruns(&self) -> u32 {
        self.reader.lost()
    }
}

/// Starts the microphone, for ever.
pub fn start(pins: &Pins) -> Result<Microphone, &'static str> {
    let queue = cortex_m::singleton!(: Queue<QUEUE> = Queue::new()).ok_or("the microphone is started twice")?;
    let (writer, reader) = queue.split();
    let peripherals = Peripherals::take().ok_or("the chip's peripherals are taken twice")?;
    let Peripherals { CLOCK: crystal, P0: p0, P1: p1, PDM: pdm, TIMER0: clock, .. } = peripherals;
    crystal.tasks_hfclkstart.write(|w| w.tasks_hfclkstart().set_bit());
    while crystal.events_hfclkstarted.read().bits() == 0 {}
    if let Some(power) = pins.power {
        drive(&p0, &p1, power, true);
    }
    drive(&p0, &p1, pins.clock, false);
    listen(&p0, &p1, pins.data);
    run_clock(&clock);
    prepare(&pdm, pins);
    let service = Service { pdm, clock, writer, full: 1, last: None };
    critical_section::with(|token| {
        service.pdm.tasks_start.write(|w| w.tasks_start().set_bit());
        SERVICE.borrow_ref_mut(token).replace(service);
    });
    // SAFETY: no critical section relies on this interrupt being masked.
    unsafe { NVIC::unmask(Interrupt::PDM) };
    Ok(Microphone { reader })
}

/// Makes a pin an output of this level.
fn drive(p0: &P0, p1: &P1, pin: Pin, is_high: bool) {
    let block = if pin.port == 0 { &**p0 } else { &**p1 };
    let mask = 1 << pin.number;
    match is_high {
        // SAFETY: one bit for each pin; ones set, zeros change nothing.
        true => block.outset.write(|w| unsafe { w.bits(mask) }),
        // SAFETY: as above; ones clear.
        false => block.outclr.write(|w| unsafe { w.bits(mask) }),
    }
    if let Some(configuration) = block.pin_cnf.get(usize::from(pin.number)) {
        configuration.write(|w| w.dir().output().input().disconnect());
    }
}

/// Makes a pin an input.
fn listen(p0: &P0, p1: &P1, pin: Pin) {
    let block = if pin.port == 0 { &**p0 } else { &**p1 };
    if let Some(configuration) = block.pin_cnf.get(usize::from(pin.number)) {
        configuration.write(|w| w.dir().input().input().connect());
    }
}

/// Microseconds, in 32 bits.
fn run_clock(clock: &TIMER0) {
    clock.bitmode.write(|w| w.bitmode()._32bit());
    // SAFETY: 16 MHz / 2⁴ = 1 MHz; the field takes 0 to 9.
    clock.prescaler.write(|w| unsafe { w.prescaler().bits(4) });
    clock.tasks_start.write(|w| w.tasks_start().set_bit());
}

/// Everything but the start.
fn prepare(pdm: &PDM, pins: &Pins) {
    let select = |pin: Pin| u32::from(pin.port) << 5 | u32::from(pin.number);
    // SAFETY: port in bit 5, number below it; the highest bit is zero: connected.
    pdm.psel.clk.write(|w| unsafe { w.bits(select(pins.clock)) });
    // SAFETY: as above.
    pdm.psel.din.write(|w| unsafe { w.bits(select(pins.data)) });
    pdm.pdmclkctrl.write(|w| w.freq()._1280k());
    pdm.ratio.write(|w| w.ratio().ratio80());
    pdm.mode.write(|w| w.operation().mono().edge().left_falling());
    // SAFETY: samples of one half, which is as long as the buffer that the address below names.
    pdm.sample.maxcnt.write(|w| unsafe { w.bits(HALF as u32) });
    point(pdm, 0);
    pdm.intenset.write(|w| w.started().set().end().set());
    pdm.enable.write(|w| w.enable().enabled());
}

/// The half that the DMA fills after the current one.
fn point(pdm: &PDM, half: usize) {
    let address = HALVES.0.get() as u32 + (half * HALF * size_of::<i16>()) as u32;
    // SAFETY: the address of one half of a static in RAM, which the DMA can reach.
    pdm.sample.ptr.write(|w| unsafe { w.bits(address) });
}

impl Service {
    fn serve(&mut self) {
        if self.pdm.events_end.read().bits() != 0 {
            self.pdm.events_end.reset();
            self.full ^= 1;
            self.take_time();
            // SAFETY: this half is full and the DMA fills the other one for the next 10 ms; it is read here only.
            let halves = unsafe { &*HALVES.0.get() };
            let [first, second] = halves;
            self.writer.write(if self.full == 0 { first } else { second });
        }
        if self.pdm.events_started.read().bits() != 0 {
            self.pdm.events_started.reset();
            // The other half is being filled now; the one that was full last comes after it.
            point(&self.pdm, if self.last.is_none() { 1 } else { self.full });
        }
    }

    /// Counts the halves that nobody saw.
    fn take_time(&mut self) {
        self.clock.tasks_capture[0].write(|w| w.tasks_capture().set_bit());
        let now = self.clock.cc[0].read().bits();
        if let Some(last) = self.last.replace(now) {
            self.writer.lose(missed(now.wrapping_sub(last), HALF_MICROSECONDS) * HALF as u32);
        }
    }
}

#[interrupt]
fn PDM() {
    static mut MINE: Option<Service> = None;
    if MINE.is_none() {
        *MINE = critical_section::with(|token| SERVICE.borrow_ref_mut(token).take());
    }
    if let Some(service) = MINE {
        service.serve();
    }
}
