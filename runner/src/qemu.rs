//! Runs an image in QEMU: its arguments and files go in by semihosting, its log comes out decoded, its end has a name.
//!
//! Whatever happens, the run ends: a firmware that says nothing for too long is stopped.

use crate::defmt::Strings;
use crate::image::Image;
use anyhow::{Context, Result, bail};
use std::io::Read;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

pub const PROGRAM: &str = "qemu-system-arm";

/// What src/board/emulator.rs looks for.
const MARK: u64 = u64::from_le_bytes(*b"in QEMU\n");
const MARK_SYMBOL: &str = "_EMULATOR_MARK";

/// Stands for a space inside an argument; src/board/semihosting.rs turns it back.
const INNER_SPACE: &str = "\u{1f}";

/// Longest silence of a firmware that still works; MICROFORMER_SILENCE_SECONDS changes it.
const SILENCE: Duration = Duration::from_secs(60);

pub struct Run<'i> {
    image: &'i Image,
    machine: &'static str,
    arguments: Vec<String>,
    plugin: Option<String>,
    silence: Duration,
}

pub struct Outcome {
    pub lines: Vec<String>,
    pub end: End,
}

/// How a run ended.
#[derive(Debug, PartialEq, Eq)]
pub enum End {
    /// The firmware itself ended it.
    Exit(u8),
    /// It said nothing for so long.
    Silence(Duration),
    /// A fault inside the fault handler.
    Lockup,
    /// QEMU itself failed, with its last words.
    Emulator(String),
}

impl End {
    pub fn code(&self) -> u8 {
        match self {
            End::Exit(code) => *code,
            End::Silence(_) | End::Lockup | End::Emulator(_) => 1,
        }
    }

    /// Nothing, or the reason of an end that the firmware's own log does not tell.
    pub fn verdict(&self) -> Result<(), String> {
        match self {
            End::Exit(_) => Ok(()),
            End::Silence(silence) => Err(format!(
                "the firmware hangs: no word for {} s (MICROFORMER_SILENCE_SECONDS=N allows more)",
                silence.as_secs()
            )),
            End::Lockup => Err("the processor locked up: a fault inside the fault handler".to_owned()),
            End::Emulator(words) => Err(format!("QEMU failed: {words}")),
        }
    }
}

enum Event {
    Output(Vec<u8>),
    Closed,
}

impl<'i> Run<'i> {
    /// On the machine that the image was linked for.
    pub fn new(image: &'i Image) -> Result<Self> {
        let board = image.board()?;
        let Some(machine) = board.machine else {
            bail!("QEMU has no machine for the board {}: connect one and say `-- --probe`", board.name);
        };
        let silence = std::env::var("MICROFORMER_SILENCE_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
        Ok(Self {
            image,
            machine,
            arguments: Vec::new(),
            plugin: None,
            silence: silence.map_or(SILENCE, Duration::from_secs),
        })
    }

    pub fn arguments(mut self, arguments: Vec<String>) -> Self {
        self.arguments = arguments;
        self
    }

    /// Loads a TCG plugin: its path, and its options after commas.
    pub fn plugin(mut self, plugin: String) -> Self {
        self.plugin = Some(plugin);
        self
    }

    pub fn silence(mut self, silence: Duration) -> Self {
        self.silence = silence;
        self
    }

    fn command(&self) -> Result<Command> {
        let mark = self.image.address_of(MARK_SYMBOL).with_context(|| {
            format!("{} has no {MARK_SYMBOL}: it was built without src/board", self.image.path.display())
        })?;
        let mut semihosting = "enable=on,target=native,arg=firmware".to_owned();
        for argument in &self.arguments {
            // A comma ends an option of QEMU unless it stands twice.
            let argument = argument.replace(' ', INNER_SPACE).replace(',', ",,");
            semihosting.push_str(&format!(",arg={argument}"));
        }
        let mut command = Command::new(PROGRAM);
        command.args(["-machine", self.machine, "-nographic", "-monitor", "none", "-serial", "none"]);
        command.args(["-semihosting-config", &semihosting]);
        // Every instruction takes 2⁶ ns, so that the firmware's own clock (src/board/cycles.rs) counts instructions.
        command.args(["-icount", "shift=6"]);
        command.args(["-device", &format!("loader,addr={mark:#x},data={MARK:#x},data-len=8,cpu-num=0")]);
        if let Some(plugin) = &self.plugin {
            command.args(["-plugin", plugin]);
        }
        command.arg("-kernel").arg(self.image.path.canonicalize()?);
        Ok(command)
    }

    /// Runs to the end; `line` sees every line of the log as it comes.
    pub fn execute(self, mut line: impl FnMut(&str)) -> Result<Outcome> {
        let strings = Strings::of(self.image)?;
        let mut decoder = strings.decoder();
        let mut child = self
            .command()?
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .with_context(|| format!("{PROGRAM} cannot be started"))?;
        let output = listen(child.stdout.take().context("the output of QEMU is a pipe")?);
        let mut complaints = child.stderr.take().context("the errors of QEMU are a pipe")?;
        let complaints = thread::spawn(move || {
            let mut text = String::new();
            complaints.read_to_string(&mut text).map(|_| text)
        });
        let mut lines = Vec::new();
        let silent = loop {
            match output.recv_timeout(self.silence) {
                Ok(Event::Output(bytes)) => decoder.take(&bytes, |text| {
                    line(&text);
                    lines.push(text);
                }),
                Ok(Event::Closed) | Err(RecvTimeoutError::Disconnected) => break false,
                Err(RecvTimeoutError::Timeout) => break true,
            }
        };
        if silent {
            stop(&mut child);
            return Ok(Outcome { lines, end: End::Silence(self.silence) });
        }
        let status = child.wait().context("QEMU cannot be waited for")?;
        let complaints = complaints.join().ok().and_then(Result::ok).unwrap_or_default();
        Ok(Outcome { lines, end: end_of(status, &complaints) })
    }
}

/// Kills QEMU; that it may already be gone is no error.
fn stop(child: &mut Child) {
    let _ = child.kill();
    let _ = child.wait();
}

fn listen(mut pipe: impl Read + Send + 'static) -> Receiver<Event> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let mut buffer = [0; 4096];
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            if sender.send(Event::Output(buffer[..count].to_vec())).is_err() {
                return;
            }
        }
        let _ = sender.send(Event::Closed);
    });
    receiver
}

fn end_of(status: ExitStatus, complaints: &str) -> End {
    if complaints.contains("Lockup") {
        return End::Lockup;
    }
    // QEMU leaves with 1 when its own command line is wrong, as a failing firmware does, but then it signs its words.
    let mut signed = complaints.lines().filter(|line| line.starts_with("qemu"));
    match (status.code().and_then(|code| u8::try_from(code).ok()), signed.next()) {
        (Some(0), _) => End::Exit(0),
        (Some(code), None) => End::Exit(code),
        (_, words) => End::Emulator(words.unwrap_or("without a word").to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lockup_is_never_a_success() {
        let success = ExitStatus::default();
        assert_eq!(end_of(success, "qemu: fatal: Lockup: can't escalate 3 to HardFault"), End::Lockup);
        assert_eq!(end_of(success, ""), End::Exit(0));
    }

    #[test]
    fn every_bad_end_has_a_failing_code() {
        for end in [End::Silence(SILENCE), End::Lockup, End::Emulator(String::new())] {
            assert_ne!(end.code(), 0);
            assert!(end.verdict().is_err());
        }
    }
}
