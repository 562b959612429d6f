//! Tensor operators, a module for each chapter of the reference of tensor operators, under its name.

mod activation;
mod attention;
mod binary;
mod comparison;
mod conversion;
mod convolution;
mod creation;
mod data_dependent;
mod image;
mod indexing;
mod linear_algebra;
mod logical;
mod loss;
mod manipulation;
mod normalization;
mod pooling;
mod reductions;
mod search;
mod unary;
mod vision;

use super::OpDef;

/// The chapters, each a list of operators.
const CHAPTERS: &[&[OpDef]] = &[
    activation::OPS,
    attention::OPS,
    binary::OPS,
    comparison::OPS,
    conversion::OPS,
    convolution::OPS,
    data_dependent::OPS,
    logical::OPS,
    loss::OPS,
    pooling::OPS,
    search::OPS,
    unary::OPS,
];

/// The chapters that are divided.
const DIVIDED: &[&[&[OpDef]]] = &[
    creation::FAMILIES,
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
