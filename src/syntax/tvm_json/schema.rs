//! The meaning of an integer in a field, which the JSON does not determine: the number itself, or the node of that
//! number.

/// The fields that contain integers directly, for a type of attributes. They are the same in 0.25, 0.26 and 0.27.
pub(super) fn plain_integers(attrs: &str) -> &'static [&'static str] {
    match attrs {
        "AllGatherAttrs" => &["num_workers"],
        "ArgsortAttrs"
        | "BatchNormAttrs"
        | "FlipAttrs"
        | "GatherElementsAttrs"
        | "PReluAttrs"
        | "QuantizeAttrs"
        | "ScatterElementsAttrs"
        | "SliceScatterAttrs"
        | "SoftmaxAttrs"
        | "SortAttrs"
        | "SplitAttrs" => &["axis"],
        "Conv1DAttrs"
        | "Conv1DTransposeAttrs"
        | "Conv2DAttrs"
        | "Conv2DTransposeAttrs"
        | "Conv3DAttrs"
        | "Conv3DTransposeAttrs" => &["groups"],
        "GatherNDAttrs" => &["batch_dims"],
        "GetValidCountsAttrs" => &["id_index", "score_index"],
        "GroupNormAttrs" => &["channel_axis", "num_groups"],
        "HintOnDeviceAttrs" => &["device_type", "index"],
        "InstanceNormAttrs" => &["channel_axis"],
        "NLLLossAttrs" => &["ignore_index"],
        "NonMaximumSuppressionAttrs" => &["coord_start", "id_index", "max_output_size", "score_index", "top_k"],
        "OneHotAttrs" => &["axis", "depth"],
        "PixelShuffleAttrs" => &["upscale_factor"],
        "ROIAlignAttrs" => &["sample_ratio"],
        "RepeatAttrs" => &["repeats"],
        "Resize2DAttrs" => &["cubic_exclude"],
        "ReverseSequenceAttrs" => &["batch_axis", "seq_axis"],
        "ScatterCollectiveAttrs" => &["axis", "num_workers"],
        "TopKAttrs" => &["axis", "k"],
        "TriluAttrs" => &["k"],
        _ => &[],
    }
}
