//! How many bits the weights of each matrix get: eight, or four where the user or a budget says so.

use std::collections::BTreeSet;

use microformer_bake::{Config, Error, config::Embed};
use microformer_packed::Bits;

/// The matrices with 4-bit weights; all others have 8 bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Precision {
    four: BTreeSet<String>,
}

/// Queries, keys and values are rows of one matrix, whose weights have one number of bits.
const SHARED: &str = "query_key_value";

impl Precision {
    /// Every matrix of a model that may have 4-bit weights, in the order of the data.
    #[must_use]
    pub fn matrices(config: &Config) -> Vec<String> {
        let mut names: Vec<String> = match config.embed {
            Embed::Linear { .. } => vec!["embed".into()],
            Embed::Table {} => Vec::new(),
            Embed::Convolution { .. } => vec!["embed.convolution".into(), "embed.projection".into()],
        };
        for block in 0..config.blocks {
            let parts = ["attention.query_key_value", "attention.output", "mlp.up", "mlp.down"];
            names.extend(parts.map(|part| format!("blocks.{block}.{part}")));
        }
        names.push("head".into());
        names
    }

    /// The matrices between embedding and head, which bear 4 bits best.
    #[must_use]
    pub fn inner_matrices(config: &Config) -> Vec<String> {
        Self::matrices(config).into_iter().filter(|name| name.starts_with("blocks.")).collect()
    }

    /// Gives matrices their bits: `4` or `8` for all inner ones, `NAME=4` for the matrix NAME or all that begin so.
    ///
    /// # Errors
    /// When there is no such matrix or no such number of bits.
    pub fn choose(&mut self, config: &Config, choice: &str) -> Result<(), Error> {
        let (name, bits) = choice.split_once('=').unwrap_or(("blocks", choice));
        let matrices = Self::matrices(config);
        let is_meant =
            |matrix: &&String| matrix.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        let meant: Vec<&String> = matrices.iter().filter(is_meant).collect();
        if meant.is_empty() {
            let known = matrices.join(", ");
            return Err(Error::new(format!("--bits {choice}: there is no matrix `{name}`; there are {known}")));
        }
        for matrix in meant {
            match bits {
                "4" => self.four.insert(matrix.clone()),
                "8" => self.four.remove(matrix),
                _ => return Err(Error::new(format!("--bits {choice}: weights have 4 or 8 bits"))),
            };
        }
        Ok(())
    }

    /// Gives one matrix of [`Precision::matrices`] 4 bits.
    pub fn set_four(&mut self, matrix: &str) {
        self.four.insert(matrix.to_owned());
    }

    /// Whether any matrix has 4 bits.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        !self.four.is_empty()
    }

    /// The bits of a matrix, or of the part of it that a file calls `name`.
    #[must_use]
    pub fn bits(&self, name: &str) -> Bits {
        let shared = ["query", "key", "value"].iter().find_map(|part| name.strip_suffix(part));
        let matrix = shared.filter(|rest| rest.ends_with(".attention.")).map(|rest| format!("{rest}{SHARED}"));
        if self.four.contains(matrix.as_deref().unwrap_or(name)) { Bits::Four } else { Bits::Eight }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        Config::from_json(
            r#"{"format":1,"name":"a","input":{"features":4},"embed":{"kind":"linear"},"width":8,"blocks":2,"heads":2,
            "hidden":8,"window":4,"positions":"none","norm":"layer","norm_first":true,"activation":"relu",
            "pool":{"kind":"last"},"labels":["a","b"]}"#,
        )
        .expect("a small model")
    }

    fn chosen(choices: &[&str]) -> Precision {
        let mut precision = Precision::default();
        choices.iter().for_each(|choice| precision.choose(&config(), choice).expect("a choice"));
        precision
    }

    #[test]
    fn four_bits_leave_embedding_and_head_alone() {
        let precision = chosen(&["4"]);
        assert_eq!(precision.bits("blocks.1.attention.key"), Bits::Four);
        assert_eq!(precision.bits("blocks.0.mlp.down"), Bits::Four);
        assert_eq!((precision.bits("embed"), precision.bits("head")), (Bits::Eight, Bits::Eight));
    }

    #[test]
    fn the_last_choice_counts() {
        let precision = chosen(&["4", "blocks.0=8", "blocks.0.mlp=4", "head=4"]);
        assert_eq!(precision.bits("blocks.0.attention.output"), Bits::Eight);
        assert_eq!(precision.bits("blocks.0.mlp.up"), Bits::Four);
        assert_eq!(precision.bits("head"), Bits::Four);
    }

    #[test]
    fn a_wrong_name_is_told_the_right_ones() {
        let error = Precision::default().choose(&config(), "blocks.0.attention.query=4").expect_err("half a matrix");
        assert!(error.to_string().contains("blocks.0.attention.query_key_value"), "{error}");
        assert!(Precision::default().choose(&config(), "head=5").is_err());
    }
}
