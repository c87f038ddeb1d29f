//! The pull request: opened with `gh`, else with `glab`, unless one is open already.

use super::Shipped;
use crate::tree::git::Git;
use loop_core::delivery_names::Message;
use loop_supervise::foreground;
use std::time::Duration;

/// The command line of a code host answers within seconds; a minute is a network that is gone.
const HOST_TIME: Duration = Duration::from_secs(60);

pub(super) fn open(git: &Git, branch: &str, message: &Message, shipped: &mut Shipped) -> anyhow::Result<()> {
    let text = [message.body.as_str(), &message.footer].join("\n\n");
    let Some((program, list, create)) = words(branch, &message.subject, text.trim()) else {
        shipped.warnings.push("neither gh nor glab is installed; no pull request was opened".to_owned());
        return Ok(());
    };
    let environment = git.environment_of_others()?;
    let place = git.work_tree();
    let ask = |words: &[&str]| foreground::run(program, words, place, environment.clone(), HOST_TIME);
    let open = ask(&list)?;
    if !open.is_done {
        anyhow::bail!("{program} could not be asked for open requests: {}", open.trouble);
    }
    if let Some(url) = url_in(&open.output) {
        shipped.warnings.push("a pull request is open already".to_owned());
        shipped.url = Some(url);
        return Ok(());
    }
    let made = ask(&create)?;
    if !made.is_done {
        // One that was killed may have asked for it a moment ago, and a host takes no second one. Its list
        // may be behind; where it refuses, it names the one that is open.
        let open = ask(&list)?;
        let listed = url_in(&open.output).filter(|_| open.is_done);
        if let Some(url) = listed.or_else(|| url_in(&made.trouble).filter(|it| is_request(it))) {
            shipped.warnings.push("a pull request is open already".to_owned());
            shipped.url = Some(url);
            return Ok(());
        }
        anyhow::bail!("{program} could not open a request: {}", made.trouble);
    }
    shipped.url = url_in(&made.output);
    Ok(())
}

/// Returns the program that is there, how it lists open requests, and how it opens one.
fn words<'a>(
    branch: &'a str,
    title: &'a str,
    text: &'a str,
) -> Option<(&'static str, Vec<&'a str>, Vec<&'a str>)> {
    if foreground::is_installed("gh") {
        let list =
            vec!["pr", "list", "--head", branch, "--state", "open", "--json", "url", "--jq", ".[].url"];
        return Some(("gh", list, vec!["pr", "create", "--head", branch, "--title", title, "--body", text]));
    }
    if foreground::is_installed("glab") {
        let list = vec!["mr", "list", "--source-branch", branch];
        let create =
            ["mr", "create", "--source-branch", branch, "--title", title, "--description", text, "--yes"];
        return Some(("glab", list, create.to_vec()));
    }
    None
}

/// Whether an address is one of a pull request or a merge request.
fn is_request(url: &str) -> bool {
    ["/pull/", "/merge_requests/"].iter().any(|it| url.contains(it))
}

fn url_in(text: &str) -> Option<String> {
    text.split_whitespace()
        .find(|it| it.starts_with("https://") || it.starts_with("http://"))
        .map(str::to_owned)
}
