//! What is known about money while a run is driven.

use loop_core::prices::PriceList;
use std::cell::OnceCell;

#[derive(Default)]
pub(crate) struct Money {
    /// What is left of the day's cap for the call that begins or is under way.
    pub(crate) day_left: Option<f64>,
    /// Why the call that is under way was asked to end, where a cap is why.
    pub(crate) cut_off: Option<String>,
    /// The prices of models, once a call has cost something.
    pub(crate) prices: OnceCell<PriceList>,
}
