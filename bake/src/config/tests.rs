use super::*;

const KEYWORD: &str = r#"{"format":1,"name":"keyword","input":{"features":40},
    "embed":{"kind":"convolution","channels":16,"kernel":[6,5],"stride":[4,2],"depthwise_kernel":[3,3],"depthwise_stride":[1,2]},
    "width":48,"blocks":4,"heads":4,"hidden":96,"window":24,"positions":"alibi","norm":"layer","norm_first":true,
    "activation":"gelu","convolution":5,"pool":{"kind":"mean","tokens":25},"labels":["yes","no"],
    "signal":{"sample_rate":16000,"window_ms":30,"step_ms":20,"channels":40,"lower_hz":60,"upper_hz":7600,"log":{"scale_shift":6}},"normalize":{"mean":-4.3,"std":4.2}}"#;

const TEXT: &str = r#"{"format":1,"name":"text","input":{"tokens":96},"embed":{"kind":"table"},
    "width":64,"blocks":2,"heads":4,"hidden":128,"window":64,"positions":"learned","context":64,"norm":"rms",
    "norm_first":false,"final_norm":false,"activation":"silu","pool":{"kind":"each"},"labels":["a"]}"#;

fn sentence(json: &str) -> String {
    Config::from_json(json).unwrap_err().to_string()
}

#[test]
fn defaults_fill_what_is_left_out() {
    let config = Config::from_json(KEYWORD).unwrap();
    assert_eq!((config.norm_epsilon, config.final_norm, config.context), (1e-5, true, 0));
    let linear = KEYWORD.replace(
        r#""convolution","channels":16,"kernel":[6,5],"stride":[4,2],"depthwise_kernel":[3,3],"depthwise_stride":[1,2]"#,
        r#""linear""#,
    );
    assert_eq!(Config::from_json(&linear).unwrap().embed, Embed::Linear { frames: 1, stride: 1 });
}

#[test]
fn what_was_written_is_read_back() {
    for json in [KEYWORD, TEXT] {
        let config = Config::from_json(json).unwrap();
        assert_eq!(Config::from_json(&config.to_json()).unwrap(), config);
    }
}

#[test]
fn the_stem_halves_its_places_twice() {
    let stem = Config::from_json(KEYWORD).unwrap().stem().unwrap();
    assert_eq!((stem.wide.padding, stem.wide.places), (2, 20));
    assert_eq!((stem.depth.padding, stem.depth.places), (1, 10));
}

#[test]
fn slopes_fall_by_powers_of_two() {
    let config = Config::from_json(KEYWORD).unwrap();
    assert_eq!((config.slope(0), config.slope(3)), (0.25, 1.0 / 256.0));
}

#[test]
fn every_wrong_field_is_named() {
    for (right, wrong, field) in [
        (r#""format":1"#, r#""format":2"#, "`format` is 2"),
        (r#""name":"keyword""#, r#""name":"a b""#, "`name`"),
        (r#""width":48"#, r#""width":0"#, "`width` is 0"),
        (r#""width":48"#, r#""width":-1"#, "at `width`"),
        (r#""width":48"#, r#""width":"48""#, "at `width`"),
        (r#""width":48"#, r#""width":516"#, "between 1 and 512"),
        (r#""width":48,"#, "", "missing field `width`"),
        (r#""width":48"#, r#""widht":48"#, "unknown field `widht`"),
        (r#""blocks":4"#, r#""blocks":0"#, "`blocks`"),
        (r#""heads":4"#, r#""heads":5"#, "`heads` is 5, which does not divide the width 48"),
        (r#""hidden":96"#, r#""hidden":9999"#, "`hidden`"),
        (r#""window":24"#, r#""window":513"#, "`window`"),
        (r#""convolution":5"#, r#""convolution":33"#, "`convolution` is 33"),
        (r#""alibi""#, r#""rotary""#, "at `positions`"),
        (r#""alibi""#, r#""learned""#, "`context` is 0"),
        (r#""alibi""#, r#""alibi","context":3"#, "`context` is 3"),
        (r#""gelu""#, r#""tanh""#, "at `activation`"),
        (r#""features":40"#, r#""tokens":40"#, "`embed`"),
        (r#""features":40"#, r#""features":4"#, "`embed.kernel (frequency)` is 5"),
        (r#""features":40"#, r#""samples":40"#, "at `input"),
        (r#""stride":[4,2]"#, r#""stride":[7,2]"#, "`embed.stride (time)` is 7"),
        (
            r#""depthwise_kernel":[3,3]"#,
            r#""depthwise_kernel":[11,3]"#,
            "`embed.depthwise_kernel (time · frequency)` is 33",
        ),
        (r#""depthwise_stride":[1,2]"#, r#""depthwise_stride":[2,2]"#, "`embed.depthwise_stride (time)` is 2"),
        (r#""tokens":25"#, r#""frames":25"#, "at `pool"),
        (r#"["yes","no"]"#, "[]", "`number of labels` is 0"),
        (r#""std":4.2"#, r#""std":0"#, "`normalize.std` is 0"),
        (r#""std":4.2"#, r#""std":[1,2]"#, "`normalize.std` has 2 values for 40 features"),
        (r#""std":4.2"#, r#""std":"4""#, "at `normalize.std`: a number, or a list"),
        (r#""channels":40"#, r#""channels":39"#, "`signal.channels` is 39"),
        (r#""window_ms":30"#, r#""window_ms":300"#, "window_ms 300"),
        (r#""window_ms":30"#, r#""window_ms":4294967295"#, "`signal.window_ms`"),
        (r#""step_ms":20"#, r#""hop_ms":20"#, "unknown field `hop_ms`"),
        (r#""norm_first":true"#, r#""norm_first":true,"norm_epsilon":-1"#, "`norm_epsilon` is -1"),
    ] {
        assert!(KEYWORD.contains(right), "{right}");
        let sentence = sentence(&KEYWORD.replace(right, wrong));
        assert!(sentence.contains(field), "{wrong} gave: {sentence}");
    }
}

#[test]
fn a_table_takes_nothing_but_tokens() {
    assert!(sentence(&TEXT.replace(r#""kind":"table""#, r#""kind":"table","rows":3"#)).contains("rows"));
    assert!(sentence(&TEXT.replace(r#"{"tokens":96}"#, r#"{"features":96}"#)).contains("`embed`"));
    assert!(sentence("").contains("wrong"));
    assert!(sentence(&format!("{TEXT} {{}}")).contains("goes on after its end"));
}
