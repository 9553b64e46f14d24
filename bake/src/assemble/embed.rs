//! The three ways into the residual stream.

use microformer_packed::{Embed, LANES, Stem, padded};

use super::{
    Assembly,
    matrix::{Runs, pack_depthwise},
};
use crate::{Error, config};

impl Assembly<'_, '_> {
    pub fn embed(&mut self) -> Result<Embed<'static>, Error> {
        let width = Runs::whole(self.config.width);
        let features = self.config.features();
        match (&self.config.embed, self.config.input) {
            (config::Embed::Table {}, config::Input::Tokens(tokens)) => {
                Ok(Embed::Table { rows: self.stream_rows("embed.weight", tokens)? })
            }
            (&config::Embed::Linear { frames, stride }, _) => {
                let linear = self.linear(&["embed"], width, Runs::whole(frames * features))?;
                Ok(Embed::Linear { features, frames, stride, linear })
            }
            _ => self.stem(),
        }
    }

    fn stem(&mut self) -> Result<Embed<'static>, Error> {
        let Some(shape) = self.config.stem() else {
            return Err(Error::new("the configuration's `embed` does not fit its `input`"));
        };
        let column = column(&shape);
        let patch = Runs::turned(shape.wide.kernel, shape.frames, column);
        let convolution = self.linear(&["embed.convolution"], Runs::whole(shape.channels), patch)?;
        let taps = shape.depth_tokens * shape.depth.kernel;
        let depthwise = pack_depthwise("embed.depthwise", shape.channels, taps, self.tensors)?;
        let places = Runs::of(shape.depth.places, shape.channels);
        let projection = self.linear(&["embed.projection"], Runs::whole(self.config.width), places)?;
        debug_assert_eq!(convolution.rows, padded(shape.channels));
        Ok(Embed::Convolution(Stem {
            features: shape.features,
            frames: shape.frames,
            stride: shape.stride,
            kernel: shape.wide.kernel,
            hop: shape.wide.hop,
            padding: shape.wide.padding,
            places: shape.wide.places,
            column,
            convolution,
            depth_tokens: shape.depth_tokens,
            depth_kernel: shape.depth.kernel,
            depth_hop: shape.depth.hop,
            depth_padding: shape.depth.padding,
            depth_places: shape.depth.places,
            depthwise,
            projection,
        }))
    }
}

/// The frames of a kernel side by side, and as many zeros as it takes for every place to begin on a word.
fn column(shape: &config::StemShape) -> usize {
    let mut column = shape.frames;
    while !(column * shape.wide.hop).is_multiple_of(LANES) {
        column += 1;
    }
    column
}
