//! Data of every kind reach the model, and what is wrong with them is said in one sentence that names file and fix.

mod support;

use std::path::Path;
use support::{Array, SENSOR, SOUND, TEXT, failure, folder, json, success, wave, write_model, write_npz, write_wav};

fn write(folder: &Path, name: &str, text: &str) {
    std::fs::write(folder.join(name), text).expect("the file can be written");
}

/// Six sequences of ten frames of three features.
fn sensor_npz(path: &Path) {
    write_npz(
        path,
        &[
            ("x", Array::F32(&[6, 10, 3], wave(180))),
            ("y", Array::I64(&[6], vec![0, 1, 2, 0, 1, 2])),
            ("length", Array::I64(&[6], vec![10, 8, 10, 4, 10, 2])),
        ],
    );
}

#[test]
fn npz_and_csv_of_the_same_values_score_the_same() {
    let folder = folder("data-same");
    write_model(SENSOR, &folder.join("q.safetensors"));
    let values = wave(30);
    write_npz(&folder.join("x.npz"), &[("x", Array::F32(&[1, 10, 3], values.clone()))]);
    let mut table = "east,north,up,label\n".to_owned();
    for row in values.chunks(3) {
        table += &format!("{},{},{},run\n", row[0], row[1], row[2]);
    }
    write(&folder, "x.csv", &table);
    let npz = json(&folder, &["run", "q.safetensors", "x.npz", "--json"]);
    let csv = json(&folder, &["run", "q.safetensors", "x.csv", "--json"]);
    assert_eq!(npz["tokens"].as_array().expect("tokens").len(), 5);
    assert_eq!(npz["tokens"], csv["tokens"]);
    assert_eq!(csv["expected"], "run");
}

#[test]
fn lengths_cut_the_padding_off() {
    let folder = folder("data-lengths");
    write_model(SENSOR, &folder.join("q.safetensors"));
    sensor_npz(&folder.join("x.npz"));
    let short = json(&folder, &["run", "q.safetensors", "x.npz", "--index", "3", "--json"]);
    assert_eq!(short["tokens"].as_array().expect("tokens").len(), 2);
}

#[test]
fn one_table_holds_many_sequences() {
    let folder = folder("data-sequences");
    write_model(SENSOR, &folder.join("q.safetensors"));
    write(&folder, "x.csv", "sequence,a,b,c,label\n1,0,1,2,walk\n1,1,1,2,walk\n2,0,0,2,rest\n2,3,0,2,rest\n");
    let report = json(&folder, &["evaluate", "q.safetensors", "x.csv", "--json"]);
    assert_eq!(report["sequences"], 2);
    assert_eq!(report["integer"]["classes"][2]["total"], 1);
}

#[test]
fn a_label_that_changes_is_judged_at_every_token() {
    let folder = folder("data-changing");
    write_model(SENSOR, &folder.join("q.safetensors"));
    // Two rows to a token: walk, walk, run; then one without a label; then run, rest.
    let labels = ["walk", "walk", "walk", "walk", "walk", "run", "", "", "run", "run", "run", "rest"];
    let mut table = "a,b,c,label\n".to_owned();
    let values = wave(36);
    for (row, label) in values.chunks(3).zip(labels) {
        table += &format!("{},{},{},{label}\n", row[0], row[1], row[2]);
    }
    write(&folder, "x.csv", &table);
    let report = json(&folder, &["evaluate", "q.safetensors", "x.csv", "--json"]);
    assert_eq!((&report["sequences"], &report["unit"]), (&1.into(), &"time steps".into()));
    let found = json(&folder, &["run", "q.safetensors", "x.csv", "--json"]);
    let found: Vec<_> = found["tokens"].as_array().expect("tokens").iter().map(|token| &token["label"]).collect();
    let expected = ["walk", "walk", "run", "", "run", "rest"];
    let right = found.iter().zip(expected).filter(|(found, expected)| **found == expected).count();
    let integer = &report["integer"];
    assert_eq!((&integer["total"], &integer["correct"]), (&5.into(), &right.into()));
    let totals: Vec<_> = (0..3).map(|class| integer["classes"][class]["total"].clone()).collect();
    assert_eq!(totals, [2, 2, 1]);
    assert_eq!(integer["stretches"]["total"], 4, "walk, run, run again after the pause, rest");
    assert!(success(&folder, &["evaluate", "q.safetensors", "x.csv"]).contains("stretches of one label: "));
    // The same as an archive, one label for each step.
    let y =
        labels.map(|label| ["walk", "run", "rest"].iter().position(|&name| name == label).map_or(-1, |at| at as i64));
    write_npz(
        &folder.join("x.npz"),
        &[("x", Array::F32(&[1, 12, 3], values)), ("y", Array::I64(&[1, 12], y.to_vec()))],
    );
    let archive = json(&folder, &["evaluate", "q.safetensors", "x.npz", "--json"]);
    assert_eq!(archive["integer"], report["integer"]);
    write_npz(&folder.join("y.npz"), &[("x", Array::F32(&[1, 12, 3], wave(36))), ("y", Array::I64(&[5], vec![0; 5]))]);
    assert!(
        failure(&folder, &["evaluate", "q.safetensors", "y.npz"])
            .contains("one for each sequence, or one for each step")
    );
}

#[test]
fn a_folder_of_tables_is_labelled_by_its_folders() {
    let folder = folder("data-folders");
    write_model(SENSOR, &folder.join("q.safetensors"));
    for label in ["walk", "rest"] {
        std::fs::create_dir_all(folder.join("x").join(label)).expect("a folder");
        write(&folder.join("x").join(label), "1.csv", "0,1,2\n1,1,2\n");
    }
    let report = json(&folder, &["evaluate", "q.safetensors", "x", "--json"]);
    assert_eq!(report["integer"]["total"], 2);
}

#[test]
fn text_is_judged_by_its_next_characters() {
    let folder = folder("data-text");
    write_model(TEXT, &folder.join("q.safetensors"));
    write(&folder, "x.txt", "ab cab\n");
    let report = json(&folder, &["evaluate", "q.safetensors", "x.txt", "--json"]);
    assert_eq!((&report["unit"], &report["integer"]["total"]), (&"next tokens".into(), &6.into()));
    write(&folder, "odd.txt", "abx");
    assert!(
        failure(&folder, &["run", "q.safetensors", "odd.txt"]).contains("the character 'x' is not among the labels")
    );
}

#[test]
fn sound_becomes_features_by_the_models_own_front_end() {
    let folder = folder("data-sound");
    write_model(SOUND, &folder.join("q.safetensors"));
    write_wav(&folder.join("word.wav"), 16000, 0.5);
    write_wav(&folder.join("fast.wav"), 44100, 1.0);
    write(&folder, "clips.csv", "file,label\nword.wav,yes\nfast.wav,banana\n");
    // Half a second is padded to one: 98 frames, 24 tokens.
    let report = json(&folder, &["run", "q.safetensors", "word.wav", "--json"]);
    assert_eq!(report["tokens"].as_array().expect("tokens").len(), 24);
    let report = json(&folder, &["evaluate", "q.safetensors", "clips.csv", "--json"]);
    let totals: Vec<_> = (0..3).map(|class| report["integer"]["classes"][class]["total"].clone()).collect();
    assert_eq!(totals, [1, 0, 1], "banana is an unknown word");
    // The way by a file of features gives the same.
    success(&folder, &["features", "clips.csv", "--seconds", "1", "-o", "f.safetensors", "--labels", "yes,no,banana"]);
    let words = failure(&folder, &["evaluate", "q.safetensors", "f.safetensors"]);
    assert!(words.contains("label \"banana\" is none of model `sound`, which has yes, no, _unknown_"), "{words}");
    write(&folder, "clips.csv", "file,label\nword.wav,yes\nfast.wav,no\n");
    success(&folder, &["features", "clips.csv", "--seconds", "1", "-o", "f.safetensors"]);
    let direct = json(&folder, &["run", "q.safetensors", "clips.csv", "--json"]);
    let stored = json(&folder, &["run", "q.safetensors", "f.safetensors", "--json"]);
    assert_eq!(direct["tokens"], stored["tokens"]);
    success(&folder, &["features", "clips.csv", "--noise", "-o", "g.safetensors"]);
    assert!(failure(&folder, &["run", "q.safetensors", "g.safetensors"]).contains("other front-end settings"));
}

#[test]
fn bad_data_are_named() {
    let folder = folder("data-bad");
    write_model(SENSOR, &folder.join("q.safetensors"));
    let refuse = |file: &str, expected: &str| {
        let words = failure(&folder, &["run", "q.safetensors", file]);
        assert!(words.contains(file) && words.contains(expected), "{words:?} should name {file} and say {expected:?}");
    };
    refuse("absent.csv", "does not exist");
    for name in ["empty.csv", "empty.npz", "empty.safetensors", "empty.txt"] {
        write(&folder, name, "");
        refuse(name, "is empty (0 bytes)");
    }
    write(&folder, "header.csv", "a,b,c\n");
    refuse("header.csv", "no rows of numbers");
    write(&folder, "text.csv", "a,b,c\n1,2,3\n1,left,3\n");
    refuse("text.csv", "row 3, column \"b\": \"left\" is not a number");
    write(&folder, "text-first.csv", "1,left,3\n1,left,3\n");
    refuse("text-first.csv", "row 1, column 1: \"left\" is text");
    write(&folder, "nan.csv", "a,b,c\n1,NaN,3\n");
    refuse("nan.csv", "row 2, column \"b\" is NaN");
    write(&folder, "ragged.csv", "1,2,3\n1,2\n");
    refuse("ragged.csv", "cannot read");
    write(&folder, "narrow.csv", "1,2\n3,4\n");
    refuse("narrow.csv", "a frame has 2 values, but model `sensor` takes 3");
    write(&folder, "short.csv", "1,2,3\n");
    refuse("short.csv", "1 frames are fewer than one token, which takes 2");
    write(&folder, "what.xyz", "1,2,3\n");
    refuse("what.xyz", "no kind that is known");
    write(&folder, "word.wav", "RIFF");
    refuse("word.wav", "has no front end");
    write(&folder, "words.txt", "abc");
    refuse("words.txt", "takes features, not text");
}

#[test]
fn bad_archives_are_named() {
    let folder = folder("data-archives");
    write_model(SENSOR, &folder.join("q.safetensors"));
    let refuse = |file: &str, expected: &str| {
        let words = failure(&folder, &["evaluate", "q.safetensors", file]);
        assert!(words.contains(file) && words.contains(expected), "{words:?} should name {file} and say {expected:?}");
    };
    sensor_npz(&folder.join("whole.npz"));
    let bytes = std::fs::read(folder.join("whole.npz")).expect("the archive");
    std::fs::write(folder.join("cut.npz"), &bytes[..bytes.len() / 2]).expect("a cut archive");
    refuse("cut.npz", "damaged");
    let mut values = wave(30);
    values[13] = f32::NAN;
    write_npz(&folder.join("nan.npz"), &[("x", Array::F32(&[1, 10, 3], values)), ("y", Array::I64(&[1], vec![0]))]);
    refuse("nan.npz", "NaN in frame 4, feature 1");
    write_npz(
        &folder.join("turned.npz"),
        &[("x", Array::F32(&[1, 3, 10], wave(30))), ("y", Array::I64(&[1], vec![0]))],
    );
    refuse("turned.npz", "a frame has 10 values");
    write_npz(&folder.join("flat.npz"), &[("x", Array::F32(&[1, 1, 10, 3], wave(30)))]);
    refuse("flat.npz", "shape [1, 1, 10, 3]");
    write_npz(&folder.join("nothing.npz"), &[("z", Array::F32(&[1, 10, 3], wave(30)))]);
    refuse("nothing.npz", "no array x (N, T, C); it has z");
    write_npz(&folder.join("label.npz"), &[("x", Array::F32(&[1, 10, 3], wave(30))), ("y", Array::I64(&[1], vec![3]))]);
    refuse("label.npz", "label \"3\" is none of model `sensor`");
    write_npz(&folder.join("blank.npz"), &[("x", Array::F32(&[1, 10, 3], wave(30)))]);
    refuse("blank.npz", "has no label");
    std::fs::copy(folder.join("q.safetensors"), folder.join("model.safetensors")).expect("a copy");
    refuse("model.safetensors", "is a model, not data");
    std::fs::write(folder.join("cut.safetensors"), [9u8; 20]).expect("a file");
    refuse("cut.safetensors", "damaged");
}
