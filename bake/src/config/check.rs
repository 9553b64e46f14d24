//! Every field of a configuration against what the engine can compute; the first that does not fit is named.

use super::{Config, Embed, FORMAT, Input, PerFeature, Pool, Positions};
use crate::Error;

/// Values of the residual stream: the sums of a norm are proved for so many (`kernels::norm`).
pub const MAX_WIDTH: usize = 512;

/// Keys in one row of attention: the sum of so many weights times values stays inside 32 bits (`kernels::mix`).
pub const MAX_WINDOW: usize = 512;

/// Columns of any matrix. Up to 512 every row is safe; beyond, `bake` proves each row from its actual weights.
pub const MAX_COLUMNS: usize = 8192;

/// Values under one depthwise kernel.
const MAX_TAPS: usize = 32;

const MAX_SAMPLE_RATE: usize = 192_000;
const MAX_BLOCKS: usize = 256;
const MAX_VOCABULARY: usize = 65_536;
const MAX_CONTEXT: usize = 8192;
const MAX_POOL: usize = 65_536;

impl Config {
    /// Whether the engine can compute this model at all.
    ///
    /// # Errors
    /// One sentence that names the field.
    pub fn check(&self) -> Result<(), Error> {
        if self.format != FORMAT {
            return wrong("format", format!("is {}; this version reads format {FORMAT}", self.format));
        }
        if self.name.is_empty() || !self.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_') {
            return wrong("name", format!("is {:?}; it is made of letters, digits, - and _", self.name));
        }
        within("width", self.width, 1, MAX_WIDTH)?;
        within("blocks", self.blocks, 1, MAX_BLOCKS)?;
        within("heads", self.heads, 1, self.width)?;
        if !self.width.is_multiple_of(self.heads) {
            return wrong("heads", format!("is {}, which does not divide the width {}", self.heads, self.width));
        }
        within("hidden", self.hidden, 1, MAX_COLUMNS)?;
        within("window", self.window, 1, MAX_WINDOW)?;
        within("convolution", self.convolution, 0, MAX_TAPS)?;
        if !(self.norm_epsilon >= 0.0 && self.norm_epsilon < 1.0) {
            return wrong("norm_epsilon", format!("is {}; it lies between 0 and 1", self.norm_epsilon));
        }
        self.check_positions()?;
        self.check_embed()?;
        if let Pool::Mean { tokens } = self.pool {
            within("pool.tokens", tokens, 0, MAX_POOL)?;
        }
        within("number of labels", self.labels.len(), 1, MAX_VOCABULARY)?;
        self.check_signal()?;
        self.check_decide()?;
        self.check_normalize()
    }

    fn check_positions(&self) -> Result<(), Error> {
        match self.positions {
            Positions::Learned | Positions::Sinusoidal => within("context", self.context, 1, MAX_CONTEXT),
            Positions::None | Positions::Alibi if self.context != 0 => {
                wrong("context", format!("is {}, but these positions have no table; leave it out", self.context))
            }
            Positions::None | Positions::Alibi => Ok(()),
        }
    }

    fn check_embed(&self) -> Result<(), Error> {
        match (&self.embed, self.input) {
            (Embed::Table {}, Input::Tokens(tokens)) => within("input.tokens", tokens, 1, MAX_VOCABULARY),
            (Embed::Table {}, Input::Features(_)) => {
                wrong("embed", "is a table, which needs `input` to be {\"tokens\": …}".into())
            }
            (_, Input::Tokens(_)) => wrong("embed", "must be {\"kind\": \"table\"} where `input` is tokens".into()),
            (&Embed::Linear { frames, stride }, Input::Features(features)) => {
                within("input.features", features, 1, MAX_COLUMNS)?;
                within("embed.frames", frames, 1, MAX_COLUMNS)?;
                within("embed.frames · input.features", frames * features, 1, MAX_COLUMNS)?;
                within("embed.stride", stride, 1, frames)
            }
            (Embed::Convolution { .. }, Input::Features(features)) => self.check_stem(features),
        }
    }

    fn check_stem(&self, features: usize) -> Result<(), Error> {
        let Embed::Convolution { channels, kernel, stride, depthwise_kernel, depthwise_stride } = self.embed else {
            return Ok(());
        };
        within("input.features", features, 1, MAX_COLUMNS)?;
        within("embed.channels", channels, 1, MAX_COLUMNS)?;
        within("embed.kernel (time)", kernel[0], 1, MAX_COLUMNS)?;
        within("embed.kernel (frequency)", kernel[1], 1, features)?;
        within("embed.kernel (time · frequency)", kernel[0] * kernel[1], 1, MAX_COLUMNS)?;
        within("embed.stride (time)", stride[0], 1, kernel[0])?;
        within("embed.stride (frequency)", stride[1], 1, features)?;
        within("embed.depthwise_kernel (time)", depthwise_kernel[0], 1, MAX_TAPS)?;
        within("embed.depthwise_kernel (frequency)", depthwise_kernel[1], 1, MAX_TAPS)?;
        within("embed.depthwise_kernel (time · frequency)", depthwise_kernel[0] * depthwise_kernel[1], 1, MAX_TAPS)?;
        within("embed.depthwise_stride (time)", depthwise_stride[0], 1, 1)?;
        within("embed.depthwise_stride (frequency)", depthwise_stride[1], 1, features)?;
        match self.stem() {
            Some(stem) if stem.depth.places > 0 => {
                within("embed: places · channels", stem.depth.places * channels, 1, MAX_COLUMNS)
            }
            _ => wrong("embed.depthwise_kernel", "is wider than what the convolution leaves of a frame".into()),
        }
    }

    fn check_decide(&self) -> Result<(), Error> {
        let Some(decide) = &self.decide else { return Ok(()) };
        if self.signal.is_none() {
            return wrong("decide", "is for models that listen; this one has no `signal`".into());
        }
        within("decide.smoothing_ms", decide.smoothing_ms as usize, 0, 60_000)?;
        within("decide.hold_off_ms", decide.hold_off_ms as usize, 0, 60_000)?;
        let named =
            decide.thresholds.iter().map(|(label, threshold)| (format!("decide.thresholds.{label}"), *threshold));
        for (field, threshold) in [("decide.threshold".to_owned(), decide.threshold)].into_iter().chain(named) {
            if !(0.0..=1.0).contains(&threshold) {
                return wrong(&field, format!("is {threshold}; it lies between 0 and 1"));
            }
        }
        match decide.thresholds.keys().find(|label| !self.labels.contains(label)) {
            Some(label) => wrong("decide.thresholds", format!("names `{label}`, which is none of the labels")),
            None => Ok(()),
        }
    }

    fn check_signal(&self) -> Result<(), Error> {
        let Some(signal) = &self.signal else { return Ok(()) };
        // Bounded first, as the tables multiply them.
        within("signal.sample_rate", signal.sample_rate as usize, 1, MAX_SAMPLE_RATE)?;
        within("signal.window_ms", signal.window_ms as usize, 1, 1000)?;
        within("signal.step_ms", signal.step_ms as usize, 1, 1000)?;
        signal.tables().map_err(|error| Error::new(format!("the configuration's front end does not work: {error}")))?;
        if self.input != Input::Features(signal.channels) {
            return wrong("signal.channels", format!("is {}, which is not what `input` takes", signal.channels));
        }
        Ok(())
    }

    fn check_normalize(&self) -> Result<(), Error> {
        let Some(normalize) = &self.normalize else { return Ok(()) };
        let Input::Features(features) = self.input else {
            return wrong("normalize", "is for features; a model of tokens has none".into());
        };
        for (name, values) in [("normalize.mean", &normalize.mean), ("normalize.std", &normalize.std)] {
            if let PerFeature::Each(values) = values
                && values.len() != features
            {
                return wrong(name, format!("has {} values for {features} features", values.len()));
            }
        }
        for feature in 0..features {
            let (mean, std) = (normalize.mean.at(feature), normalize.std.at(feature));
            if !mean.is_finite() {
                return wrong("normalize.mean", format!("is {mean} for feature {feature}"));
            }
            if !(std.is_finite() && std > 0.0) {
                return wrong("normalize.std", format!("is {std} for feature {feature}; it must be above 0"));
            }
        }
        Ok(())
    }
}

fn within(field: &str, value: usize, least: usize, most: usize) -> Result<(), Error> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    wrong(field, format!("is {value}; it must lie between {least} and {most}"))
}

fn wrong<T>(field: &str, what: String) -> Result<T, Error> {
    Err(Error::new(format!("the configuration's `{field}` {what}")))
}
