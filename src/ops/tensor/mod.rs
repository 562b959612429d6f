//! Tensor operators, with one module for each chapter of the operator reference.

mod activation;
mod attention;
mod binary;
mod comparison;
mod conversion;
mod convolution;
mod creation;
mod data_dependent;
mod gradient;
mod image;
mod indexing;
mod inspect;
mod linear_algebra;
mod logical;
mod loss;
mod manipulation;
mod marks;
pub(super) mod memory;
mod normalization;
mod pooling;
mod quantization;
mod reductions;
mod sampling;
mod search;
mod ternary;
mod unary;
mod vision;
mod workers;

use super::OpDef;

/// The chapters, each a list of operators.
const CHAPTERS: &[&[OpDef]] = &[
    activation::OPS,
    binary::OPS,
    comparison::OPS,
    conversion::OPS,
    convolution::OPS,
    data_dependent::OPS,
    inspect::OPS,
    logical::OPS,
    loss::OPS,
    marks::OPS,
    memory::OPS,
    pooling::OPS,
    quantization::OPS,
    sampling::OPS,
    search::OPS,
    ternary::OPS,
    unary::OPS,
    workers::OPS,
];

/// The chapters that are split into several lists.
const DIVIDED: &[&[&[OpDef]]] = &[
    attention::FAMILIES,
    creation::FAMILIES,
    gradient::FAMILIES,
    image::FAMILIES,
    indexing::FAMILIES,
    linear_algebra::FAMILIES,
    manipulation::FAMILIES,
    normalization::FAMILIES,
    reductions::FAMILIES,
    vision::FAMILIES,
];

pub(super) fn all() -> impl Iterator<Item = &'static OpDef> {
    let divided = DIVIDED.iter().flat_map(|families| families.iter());
    CHAPTERS.iter().chain(divided).flat_map(|chapter| chapter.iter())
}
