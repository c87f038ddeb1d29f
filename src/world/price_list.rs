//! The prices of models: those that come with the program, and the user's own in `prices.toml`.

use crate::config_folder::config_folder;
use loop_base::files;
use loop_core::prices::PriceList;
use std::io::ErrorKind;

/// Reads the prices, or says what is wrong with the user's own.
pub(crate) fn read() -> Result<PriceList, String> {
    let shipped = PriceList::shipped();
    let Some(path) = config_folder().map(|it| it.join("prices.toml")) else { return Ok(shipped) };
    match files::text(&path) {
        Ok(text) => shipped.with(&text).map_err(|why| format!("{}: {why}", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(shipped),
        Err(error) => Err(format!("{}: {error}", path.display())),
    }
}
