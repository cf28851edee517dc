//! What cf-monitord is made of: slots, samples of the machine, averages, promised measurements.

pub(super) mod averages;
pub(super) mod connections;
pub(super) mod histograms;
pub(super) mod kept;
pub(super) mod leaps;
pub(super) mod measure;
pub(super) mod ports;
pub(super) mod sample;
pub(super) mod slots;
pub(super) mod streams;
