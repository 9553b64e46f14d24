//! `microformer new`: generated firmware builds and runs in QEMU as it is, for every kind of model.

mod support;

use std::path::Path;
use std::process::Command;
use support::{SENSOR, SOUND, TEXT, failure, folder, json, success, write_model};

/// Builds and runs a generated crate. All of them share one target folder, so each has a name of its own.
fn run(crate_folder: &Path) -> String {
    let output = Command::new(env!("CARGO"))
        .args(["run", "--release", "--quiet"])
        .env("CARGO_TARGET_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it lies in the target folder"))
        .env_remove("CARGO_BUILD_TARGET")
        .current_dir(crate_folder)
        .output()
        .expect("cargo can be started");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    stdout.into_owned() + &stderr
}

fn generate(test: &str, model: &str, more: &[&str]) -> String {
    let folder = folder(test);
    write_model(model, &folder.join("q.safetensors"));
    let repository = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
    success(&folder, &[&["new", test, "--model", "q.safetensors", "--path", repository], more].concat());
    run(&folder.join(test))
}

#[test]
fn firmware_of_a_sensor_model_runs() {
    let log = generate("new-sensor", SENSOR, &[]);
    assert!(log.contains("sensor: ") && log.contains("token 63: "), "{log}");
}

#[test]
fn firmware_of_a_token_model_runs() {
    let log = generate("new-text", TEXT, &["--board", "lm3s6965evb", "--prompt", "ab ca"]);
    assert!(log.contains("text: "), "{log}");
    // The chip writes what this machine writes.
    let sampling = ["--temperature", "0.7", "--top-k", "10", "--seed", "1", "--json"];
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-text");
    let run = [&["run", "q.safetensors", "--generate", "64", "--prompt", "ab ca"], &sampling[..]].concat();
    let text = json(&folder, &run)["text"].as_str().expect("a text").to_owned();
    assert!(text.len() == 64 && log.contains(&format!("\n{text}\n")), "{text:?} is not in {log:?}");
}

#[test]
fn firmware_of_a_sound_model_runs() {
    let log = generate("new-sound", SOUND, &[]);
    assert!(log.contains("at the end: "), "{log}");
}

#[test]
fn what_cannot_work_is_refused_and_leaves_nothing() {
    let folder = folder("new-refused");
    write_model(SENSOR, &folder.join("q.safetensors"));
    let refuse = |arguments: &[&str]| failure(&folder, &[&["new"], arguments].concat());
    assert!(refuse(&["1x", "--model", "q.safetensors"]).contains("cannot name a crate"));
    assert!(refuse(&["mine", "--model", "q.safetensors", "--board", "toaster"]).contains("no board toaster"));
    assert!(refuse(&["mine", "--model", "absent.safetensors"]).contains("absent.safetensors"));
    let wide = SENSOR.replace("\"width\":16", "\"width\":64").replace("\"window\":8", "\"window\":512");
    write_model(&wide, &folder.join("wide.safetensors"));
    let words = refuse(&["mine", "--model", "wide.safetensors", "--board", "microbit"]);
    assert!(words.contains("wide.safetensors cannot run on microbit: needs") && words.contains("RAM"), "{words}");
    assert!(!folder.join("mine").exists() && !folder.join("mine.unfinished").exists());
}

#[test]
fn an_emulated_chip_scores_as_this_machine_does() {
    let folder = folder("evaluate-qemu");
    for (model, data, text) in [
        (SENSOR, "x.csv", "a,b,c,label\n0.1,0.5,-1,walk\n0.3,-0.5,1,walk\n0.7,0.1,0,walk\n0.2,0.2,1,walk\n"),
        (TEXT, "x.txt", "abc cab\nbac"),
    ] {
        write_model(model, &folder.join("q.safetensors"));
        std::fs::write(folder.join(data), text).expect("data can be written");
        let report = json(&folder, &["evaluate", "q.safetensors", data, "--qemu", "1", "--json"]);
        assert_eq!((&report["qemu"]["identical"], &report["qemu"]["sequences"]), (&1.into(), &1.into()));
    }
}
