//! The prices of models: those that come with the program, and the user's own in `prices.toml`.

use crate::config_folder::config_folder;
use loop_base::files;
use loop_core::prices::PriceList;
use std::io::{self, ErrorKind};

/// Why there are no prices.
pub(crate) enum PriceTrouble {
    /// What the user wrote is wrong.
    Wrong(String),
    /// The machine could not read it.
    Unread(io::Error),
}

/// Reads the prices, or says what is wrong with the user's own.
pub(crate) fn read() -> Result<PriceList, PriceTrouble> {
    let shipped = PriceList::shipped();
    let Some(path) = config_folder().map(|it| it.join("prices.toml")) else { return Ok(shipped) };
    match files::text(&path) {
        Ok(text) => {
            shipped.with(&text).map_err(|why| PriceTrouble::Wrong(format!("{}: {why}", path.display())))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(shipped),
        Err(error) if is_of_the_machine(&error) => {
            Err(PriceTrouble::Unread(io::Error::new(error.kind(), format!("{}: {error}", path.display()))))
        }
        Err(error) => Err(PriceTrouble::Wrong(format!("{}: {error}", path.display()))),
    }
}

/// Whether the same file could be read another time.
fn is_of_the_machine(error: &io::Error) -> bool {
    error.raw_os_error().is_some()
        && !matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::IsADirectory)
}
