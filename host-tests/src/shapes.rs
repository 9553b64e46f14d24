//! Configurations that between them use every operator, at widths that no kernel likes, and one that kernels like.

/// Name and configuration. The first two are small enough for a chip with 16 KB of RAM.
pub const SHAPES: [(&str, &str); 7] = [
    (
        "gelu-alibi",
        r#"{"format":1,"name":"gelu-alibi","input":{"features":13},"embed":{"kind":"linear"},"width":24,"blocks":2,
        "heads":3,"hidden":50,"window":7,"positions":"alibi","norm":"layer","norm_first":true,"activation":"gelu",
        "pool":{"kind":"mean","tokens":5},"labels":["a","b","c","d","e"]}"#,
    ),
    (
        "relu-learned-norm-last",
        r#"{"format":1,"name":"relu-learned-norm-last","input":{"features":6},
        "embed":{"kind":"linear","frames":3,"stride":2},"width":20,"blocks":2,"heads":2,"hidden":42,"window":16,
        "positions":"learned","context":300,"norm":"layer","norm_first":false,"final_norm":false,"activation":"relu",
        "pool":{"kind":"last"},"labels":["a","b","c"]}"#,
    ),
    (
        "gelu-sinusoidal-norm-last",
        r#"{"format":1,"name":"gelu-sinusoidal-norm-last","input":{"features":9},"embed":{"kind":"linear"},"width":30,
        "blocks":2,"heads":3,"hidden":50,"window":40,"positions":"sinusoidal","context":300,"norm":"layer",
        "norm_first":false,"activation":"gelu","pool":{"kind":"mean","tokens":0},"labels":["a","b"]}"#,
    ),
    (
        "silu-rms-tokens",
        r#"{"format":1,"name":"silu-rms-tokens","input":{"tokens":57},"embed":{"kind":"table"},"width":32,"blocks":3,
        "heads":4,"hidden":64,"window":24,"positions":"alibi","norm":"rms","norm_first":true,"activation":"silu",
        "pool":{"kind":"each"},"labels":["a","b","c","d","e","f","g"]}"#,
    ),
    (
        "stem-convolution",
        r#"{"format":1,"name":"stem-convolution","input":{"features":20},"embed":{"kind":"convolution","channels":7,
        "kernel":[6,5],"stride":[4,2],"depthwise_kernel":[3,3],"depthwise_stride":[1,2]},"width":24,"blocks":2,
        "heads":2,"hidden":54,"window":12,"positions":"alibi","norm":"layer","norm_first":true,"activation":"gelu",
        "convolution":5,"pool":{"kind":"mean","tokens":10},"labels":["a","b","c","d"]}"#,
    ),
    (
        "one-head-one-token",
        r#"{"format":1,"name":"one-head-one-token","input":{"features":5},"embed":{"kind":"linear"},"width":11,
        "blocks":1,"heads":1,"hidden":17,"window":1,"positions":"none","norm":"rms","norm_first":true,
        "activation":"relu","convolution":3,"pool":{"kind":"each"},"labels":["a","b","c"]}"#,
    ),
    // The shape on which kernels are compared with those of others: docs/measurements.md.
    (
        "two-blocks-of-64",
        r#"{"format":1,"name":"two-blocks-of-64","input":{"features":40},"embed":{"kind":"linear"},"width":64,
        "blocks":2,"heads":4,"hidden":256,"window":49,"positions":"alibi","norm":"layer","norm_first":true,
        "activation":"gelu","pool":{"kind":"last"},"labels":["a","b","c","d","e","f","g","h","i","j","k","l"]}"#,
    ),
];

/// A model whose blocks and head have 4-bit weights: name, configuration, and what `--bits` would say.
pub const FOUR_BITS: (&str, &str, [&str; 2]) = (
    "four-bits",
    r#"{"format":1,"name":"four-bits","input":{"features":7},"embed":{"kind":"linear","frames":2,"stride":2},"width":22,
    "blocks":2,"heads":2,"hidden":37,"window":9,"positions":"alibi","norm":"layer","norm_first":true,"activation":"gelu",
    "convolution":3,"pool":{"kind":"mean","tokens":4},"labels":["a","b","c"]}"#,
    ["4", "head=4"],
);
