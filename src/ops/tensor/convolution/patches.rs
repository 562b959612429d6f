//! The same convolutions as products of matrices: the weights of a group of channels, times the elements under the
//! window at each position of the result.

use ndarray::{ArrayD, IxDyn};

use super::Convolution;
use crate::ops::kernel::fail;
use crate::ops::kernel::lanes::Lane;
use crate::value::Stop;

/// How many elements of patches are held in memory at a time.
const PATCHES: usize = 1 << 17;

/// The place in a channel of the data under an element of the window, or `NOWHERE`.
type Place = usize;
const NOWHERE: Place = usize::MAX;

/// The sizes of a convolution.
struct Sizes {
    groups: usize,
    /// The channels of the data in a group, and those of the result.
    taken: usize,
    made: usize,
    /// The positions of the data, of the window and of the result, in a channel.
    data: Vec<usize>,
    window: Vec<usize>,
    out: Vec<usize>,
    batch: usize,
}

/// The result of a convolution of data and a weight in canonical order, whose shape is given. Each element adds up the
/// same terms as [`super::Sum`], in the same order; the padding contributes products with zero. `None` if these are not
/// the terms: where the transpose has no element, an infinite weight makes them NaN.
pub(super) fn convolved<T: Lane, const TRANSPOSED: bool>(
    convolution: &Convolution,
    data: &ArrayD<T>,
    weight: &ArrayD<T>,
    shape: &[usize],
) -> Result<Option<ArrayD<T>>, Stop> {
    if TRANSPOSED && weight.iter().any(|w| !w.is_finite()) {
        return Ok(None);
    }
    let Some(sizes) = Sizes::of::<TRANSPOSED>(convolution, data.shape(), weight.shape(), shape) else {
        return Ok(None);
    };
    let (data, weight) = (data.as_standard_layout(), weight.as_standard_layout());
    let (Some(data), Some(weight)) = (data.as_slice(), weight.as_slice()) else { return Ok(None) };
    let factors: Vec<Vec<T>> = (0..sizes.groups).map(|group| sizes.factor::<T, TRANSPOSED>(weight, group)).collect();
    let (places, per_channel) = (count(&sizes.out), count(&sizes.data));
    let mut out = vec![T::default(); count(shape)];
    let block = (PATCHES / sizes.terms().max(1)).clamp(16, places.max(16));
    for first in (0..places).step_by(block) {
        let positions = first..(first + block).min(places);
        let under = sizes.places::<TRANSPOSED>(convolution, positions.clone());
        for (batch, (group, factor)) in (0..sizes.batch).flat_map(|b| factors.iter().enumerate().map(move |g| (b, g))) {
            let channels = (batch * sizes.groups + group) * sizes.taken;
            let patches = patches(data, per_channel, channels..channels + sizes.taken, &under);
            let mut products = vec![T::default(); sizes.made * positions.len()];
            T::product(factor, &patches, &mut products, sizes.terms(), positions.len());
            let made = (batch * sizes.groups + group) * sizes.made;
            for (channel, products) in products.chunks_exact(positions.len()).enumerate() {
                let start = (made + channel) * places + positions.start;
                if let Some(out) = out.get_mut(start..start + products.len()) {
                    out.copy_from_slice(products);
                }
            }
        }
    }
    ArrayD::from_shape_vec(IxDyn(shape), out).map(Some).map_err(|error| fail(error.to_string()))
}

fn count(sizes: &[usize]) -> usize {
    sizes.iter().product()
}

/// The elements of the data under each element of the window (the rows) at each position (the columns), by channel.
fn patches<T: Lane>(data: &[T], size: usize, channels: std::ops::Range<usize>, under: &[Place]) -> Vec<T> {
    let mut patches = Vec::with_capacity(channels.len() * under.len());
    for channel in channels {
        let channel = data.get(channel * size..(channel + 1) * size).unwrap_or_default();
        patches.extend(under.iter().map(|place| channel.get(*place).copied().unwrap_or_default()));
    }
    patches
}

impl Sizes {
    /// `None` if they do not belong together.
    fn of<const TRANSPOSED: bool>(
        convolution: &Convolution,
        data: &[usize],
        weight: &[usize],
        out: &[usize],
    ) -> Option<Sizes> {
        let ([batch, channels, data @ ..], [first, second, window @ ..]) = (data, weight) else { return None };
        let [_, all_made, out @ ..] = out else { return None };
        let groups = usize::try_from(convolution.groups).ok()?.max(1);
        let (taken, made) = if TRANSPOSED { (first / groups, *second) } else { (*second, first / groups) };
        let sizes = Sizes {
            groups,
            taken,
            made,
            data: data.to_vec(),
            window: window.to_vec(),
            out: out.to_vec(),
            batch: *batch,
        };
        (taken * groups == *channels && made * groups == *all_made).then_some(sizes)
    }

    /// The number of terms of each sum.
    fn terms(&self) -> usize {
        self.taken * count(&self.window)
    }

    /// The weights of a group: a row for each channel that it makes, in the order of the terms.
    fn factor<T: Lane, const TRANSPOSED: bool>(&self, weight: &[T], group: usize) -> Vec<T> {
        let window = count(&self.window);
        let mut factor = Vec::with_capacity(self.made * self.terms());
        for made in 0..self.made {
            for taken in 0..self.taken {
                let outer = if TRANSPOSED {
                    (group * self.taken + taken) * self.made + made
                } else {
                    (group * self.made + made) * self.taken + taken
                };
                factor.extend_from_slice(weight.get(outer * window..(outer + 1) * window).unwrap_or_default());
            }
        }
        factor
    }

    /// The place under each element of the window (the rows) at each of these positions of the result (the columns).
    fn places<const TRANSPOSED: bool>(
        &self,
        convolution: &Convolution,
        positions: std::ops::Range<usize>,
    ) -> Vec<Place> {
        let mut places = Vec::with_capacity(count(&self.window) * positions.len());
        let positions: Vec<Vec<usize>> = positions.map(|position| index_of(position, &self.out)).collect();
        for element in 0..count(&self.window) {
            let element = index_of(element, &self.window);
            places.extend(positions.iter().map(|position| {
                let mut flat = 0;
                for (axis, size) in self.data.iter().enumerate() {
                    match convolution.under::<TRANSPOSED>(axis, position[axis], element[axis], *size) {
                        Some(found) => flat = flat * size + found,
                        None => return NOWHERE,
                    }
                }
                flat
            }));
        }
        places
    }
}

/// The index of a row-major position.
fn index_of(mut position: usize, sizes: &[usize]) -> Vec<usize> {
    let mut index = vec![0; sizes.len()];
    for (slot, size) in index.iter_mut().zip(sizes).rev() {
        *slot = position % (*size).max(1);
        position /= (*size).max(1);
    }
    index
}
