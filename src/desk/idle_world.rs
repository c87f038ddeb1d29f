//! A world that begins nothing: what came from outside and what follows from it is recorded, and reaches the
//! mirrors. Other worlds of the desk that drive a run for one step keep the mirrors in the same way.

use crate::drive::{Performed, World};
use crate::world::wait::now;
use loop_base::time::Timestamp;
use loop_core::engine::{Effect, Event, News};
use loop_store::run::Run;
use loop_store::{Home, mirror};
use std::path::Path;

pub(crate) struct IdleWorld<'a> {
    home: &'a Home,
    place: &'a Path,
    news: Vec<(Timestamp, News)>,
}

impl<'a> IdleWorld<'a> {
    /// A world for a run whose work lies in `place`.
    pub(crate) fn new(home: &'a Home, place: &'a Path) -> IdleWorld<'a> {
        IdleWorld { home, place, news: Vec::new() }
    }

    pub(crate) fn with_news(self, news: impl IntoIterator<Item = (Timestamp, News)>) -> IdleWorld<'a> {
        IdleWorld { news: self.news.into_iter().chain(news).collect(), ..self }
    }

    pub(crate) fn with(self, news: News) -> IdleWorld<'a> {
        self.with_news([(now(), news)])
    }
}

impl World for IdleWorld<'_> {
    fn now(&self) -> Timestamp {
        now()
    }

    fn news(&mut self) -> Vec<(Timestamp, News)> {
        std::mem::take(&mut self.news)
    }

    fn takes(&self, _effect: &Effect) -> bool {
        false
    }

    fn perform(&mut self, _effect: &Effect, _run: &Run) -> anyhow::Result<Performed> {
        Ok(Performed::Elsewhere)
    }

    fn committed(&mut self, run: &Run, facts: &[(Timestamp, Event)]) -> Vec<News> {
        keep_mirrors(self.home, self.place, run, facts)
    }
}

/// Writes the mirrors by what has become durable.
pub(crate) fn keep_mirrors(home: &Home, place: &Path, run: &Run, facts: &[(Timestamp, Event)]) -> Vec<News> {
    if !facts.is_empty() {
        mirror::restore(home, &run.id, &run.workflow, &run.state, place);
    }
    Vec::new()
}
