//! Work that lands through a pull request, and gates that are asked there. A request that a person merged is
//! looked at like one of our own: the tree that came of it is checked unless it is the one that was proven.

use super::completion::{CompletionBox, boxes};
use super::github::{GitHub, PullRequest, RequestState, mark_of};
use super::land;
use super::merged::{self, Arrival, Judged, MergeJudge};
use super::remote::RemoteResult;
use super::train::merge::{Work, short};
use crate::tree::changes::is_ancestor;
use loop_base::files;
use loop_core::engine::{Answer, Choice, Event, Landing, Question};
use loop_core::workflow::model::{Gate, MergeBy};
use loop_store::Home;
use loop_store::mirror::domain_memory::system_folder;
use std::path::Path;

/// What came of a try to land: kept back and asked again later where the host could not be asked. Nothing where a
/// person wants something first.
type Landed = anyhow::Result<Option<Landing>>;

/// Brings the proven commit to its target through a pull request, as far as that depends on us.
pub(crate) fn land(hub: &GitHub<'_>, home: &Home, judge: &mut MergeJudge<'_>) -> Landed {
    let subject = land::subject(hub.run);
    let work = match land::work(hub.run, &subject) {
        Ok(work) => work,
        Err(landing) => return Ok(Some(landing)),
    };
    if let Some(landing) = land::barred(hub.run) {
        return Ok(Some(landing));
    }
    if let Some(changed) = work.changed(&hub.git)? {
        return Ok(Some(changed));
    }
    match request_of(hub, work.proven) {
        Ok(request) => follow(hub, home, &work, &request, judge),
        // A host that cannot be asked now is asked again, as often as one that waits for a person.
        Err(why) => Ok(Some(Landing::Requested { at: why })),
    }
}

fn follow(
    hub: &GitHub<'_>,
    home: &Home,
    work: &Work<'_>,
    request: &PullRequest,
    judge: &mut MergeJudge<'_>,
) -> Landed {
    let waits = |at: String| Ok(Some(Landing::Requested { at }));
    let not = |why: String, unreviewed: bool| Ok(Some(Landing::Not { why, unreviewed }));
    match request.state {
        RequestState::Merged => return arrived(hub, home, request, None, judge),
        RequestState::Closed => return not(format!("{} was closed without a merge", request.url), false),
        RequestState::Open => (),
    }
    let head = &request.head_ref_oid;
    if head != work.proven {
        let why = format!(
            "{} is at {}, and {} was proven: somebody pushed to {}; take those commits over here, or off the \
             branch there",
            request.url,
            short(head),
            short(work.proven),
            hub.plan.branch
        );
        return not(why, true);
    }
    if hub.run.workflow.merge.by == MergeBy::People {
        return waits(request.url.clone());
    }
    let tip = match hub.remote().fetch() {
        Ok(tip) => tip,
        Err(why) => return waits(why),
    };
    let merge = match work.merge_with(&hub.git, &tip)? {
        Ok(merge) => merge,
        Err(landing) => return Ok(Some(landing)),
    };
    match judge(&merge)? {
        Judged::Holds(_) => (),
        Judged::Red(why) => return Ok(Some(merged::sent_back(hub.run, &merge, why))),
        Judged::Unknown(why) => return not(why, false),
        Judged::Cut => return Ok(None),
    }
    match hub.merge(request.number, work.proven).and_then(|()| hub.view(request.number)) {
        Ok(merged) if merged.state == RequestState::Merged => {
            arrived(hub, home, &merged, Some(&merge.tree), judge)
        }
        Ok(open) => waits(format!("{}, which waits in the host's queue", open.url)),
        Err(why) => waits(format!("{} ({why})", request.url)),
    }
}

/// A request that is merged: its tree is the proven one, or is proven now, and the branch of the project follows.
fn arrived(
    hub: &GitHub<'_>,
    home: &Home,
    request: &PullRequest,
    proven: Option<&str>,
    judge: &mut MergeJudge<'_>,
) -> Landed {
    let commit = request.merge_commit.as_ref().map(|it| it.oid.clone()).unwrap_or_default();
    let unseen = |why: String| Ok(Some(Landing::Requested { at: format!("{}: {why}", request.url) }));
    let tip = match hub.remote().fetch() {
        Ok(tip) => tip,
        Err(why) => return unseen(why),
    };
    if !is_ancestor(&hub.git, &commit, &tip)? {
        return unseen(format!("merged as {}, which {} does not have yet", short(&commit), hub.target));
    }
    let who = request.merged_by.as_ref().map_or("somebody", |it| it.login.as_str());
    let by = format!("{} was merged by {who}", request.url);
    let arrival = Arrival { into: hub.target, commit: &commit, tip: &tip, by, proven };
    let landing = merged::arrived(hub.run, &hub.git, &arrival, judge)?;
    if let Some(Landing::Merged { .. }) = landing {
        let behind = merged::follow_remote(&hub.git, home, hub.target, &commit)?;
        hub.notes
            .borrow_mut()
            .extend(behind.map(|why| format!("{} does not have the merge yet: {why}", hub.target)));
    }
    Ok(landing)
}

/// Returns the request of a proven commit; opens it where there is none, and says on it what it is.
fn request_of(hub: &GitHub<'_>, commit: &str) -> RemoteResult<PullRequest> {
    let found = hub.find(commit)?;
    if let Some(over) = found.as_ref().filter(|it| it.state != RequestState::Open) {
        return Ok(over.clone());
    }
    if let Err(why) = hub.push(commit) {
        // The request shows whose commits are on the branch there, which a push never takes away.
        return found.filter(|_| hub.has_commits_of_others(commit)).ok_or(why);
    }
    let body = description(hub);
    let request = match found {
        Some(open) => {
            hub.describe(open.number, &body)?;
            hub.view(open.number)?
        }
        None => hub.open(&title(hub), &body)?,
    };
    hub.undress(&request, is_of_gate)?;
    let mark = mark(hub, "ready to merge");
    if request.comments.iter().any(|it| it.body.contains(&mark)) {
        return Ok(request);
    }
    let rules = &hub.run.workflow.merge;
    hub.dress(request.number, &rules.labels, &rules.reviewers)?;
    let proof = hub.run.state.closing(&hub.run.workflow).unwrap_or_default();
    let who = match rules.by {
        MergeBy::Loop => "The merged tree is checked first; then it is merged as it is.",
        MergeBy::People => "It waits for somebody to merge it.",
    };
    hub.comment(request.number, &format!("Ready to merge at {commit}.\n\n{proof}\n\n{who}\n\n{mark}"))?;
    Ok(request)
}

fn title(hub: &GitHub<'_>) -> String {
    let opening = &hub.run.state.opening;
    format!("{}: {}", opening.input, opening.beginning.title.as_deref().unwrap_or(&opening.input))
}

/// What the request says: what was measured first, then what the agents wrote for a reviewer.
fn description(hub: &GitHub<'_>) -> String {
    let (run, opening) = (hub.run, &hub.run.state.opening);
    let mut text = format!("{}\n", opening.beginning.about.as_deref().unwrap_or_default());
    if let Some(issue) = opening.beginning.issue {
        text.push_str(&format!("\nCloses #{issue}\n"));
    }
    let lines: Vec<String> = boxes(&run.workflow, &run.state)
        .iter()
        .map(CompletionBox::line)
        .map(|it| format!("- {it}"))
        .collect();
    text.push_str(&format!("\n## Complete when\n\n{}\n", lines.join("\n")));
    let folder = opening.beginning.domain.as_deref().map(|it| system_folder(it, &opening.input));
    let file = folder.map(|it| Path::new(&hub.plan.place).join(it).join("PULL_REQUEST.md"));
    if let Some(notes) = file.and_then(|it| files::text(&it).ok()) {
        text.push_str(&format!("\n## What the agents say\n\n{notes}\n"));
    }
    loop_base::secret::redact(&text).into_owned()
}

/// A line that people do not see, by which a comment of ours is known again.
fn mark(hub: &GitHub<'_>, what: &str) -> String {
    format!("{}{what} -->", mark_of(&hub.run.id))
}

/// The label of a gate that somebody has to answer.
fn label(gate: &str) -> String {
    format!("needs:{gate}-review")
}

fn is_of_gate(label: &str) -> bool {
    label.strip_prefix("needs:").is_some_and(|it| it.ends_with("-review"))
}

/// Takes the labels of gates off that were answered, wherever that was; one may still be open.
pub(crate) fn gates_are_over(hub: &GitHub<'_>, open: Option<&str>) -> RemoteResult<()> {
    let open = open.map(label);
    match hub.find("")? {
        Some(request) => hub.undress(&request, |it| is_of_gate(it) && open.as_deref() != Some(it)),
        None => Ok(()),
    }
}

/// Looks whether one of those who may answered a gate on the request. The request is opened and the gate is
/// asked there first.
pub(crate) fn look_at_gate(hub: &GitHub<'_>, question: &Question, name: &str, gate: &Gate) -> Event {
    match hear(hub, question, name, gate) {
        Ok((at, answer)) => Event::Heard { at: Some(at), answer, trouble: None },
        Err(why) => Event::Heard { at: None, answer: None, trouble: Some(why) },
    }
}

fn hear(
    hub: &GitHub<'_>,
    question: &Question,
    name: &str,
    gate: &Gate,
) -> RemoteResult<(String, Option<Answer>)> {
    let commit = question.about.as_ref().map(|it| it.commit.clone()).unwrap_or_default();
    if commit.is_empty() {
        return Err("nothing is committed that could be reviewed".to_owned());
    }
    let account = hub.account()?;
    let request = match hub.find(&commit)?.filter(|it| it.state == RequestState::Open) {
        Some(open) if open.head_ref_oid == commit => open,
        Some(open) => {
            hub.push(&commit)?;
            hub.view(open.number)?
        }
        None => {
            hub.push(&commit)?;
            hub.open(&title(hub), &description(hub))?
        }
    };
    let mark = mark(hub, &format!("gate {name}, question {}", question.id));
    let is_ours = |it: &&super::github::Comment| it.body.contains(&mark) && it.author.login == account;
    let Some(asked) = request.comments.iter().find(is_ours) else {
        hub.dress(request.number, &[label(name)], &gate.reviewers)?;
        let answers = "Answer with an approving review, or with a comment: `approve`, `changes: TEXT` or `reject: TEXT`.";
        let title = format!("{}{} review requested", name[..1].to_uppercase(), &name[1..]);
        let body = format!("## {title}\n\n{}\n\n{answers}\n\n{mark}", question.text);
        hub.comment(request.number, &loop_base::secret::redact(&body))?;
        return Ok((request.url, None));
    };
    if request.head_ref_oid != commit {
        return Err(format!(
            "{} is at {}, and the gate is about {}",
            request.url,
            short(&request.head_ref_oid),
            short(&commit)
        ));
    }
    let may = |login: &str| {
        !login.eq_ignore_ascii_case(&account)
            && gate.logins.iter().any(|it| it.trim_start_matches('@').eq_ignore_ascii_case(login))
    };
    let reviews = request.reviews.iter().filter(|it| may(&it.author.login) && it.commit.oid == commit);
    let reviews =
        reviews.filter_map(|it| Some((&it.submitted_at, &it.author.login, reviewed(&it.state, &it.body)?)));
    let comments = request.comments.iter().filter(|it| may(&it.author.login));
    let comments = comments.filter_map(|it| Some((&it.created_at, &it.author.login, said(&it.body, name)?)));
    // Times of one host in one format, so they are in order as texts.
    let last = reviews.chain(comments).filter(|it| asked.created_at <= *it.0).max_by_key(|it| it.0.clone());
    let answer = last.map(|(_, login, (choice, text))| Answer {
        question: question.id,
        choice,
        text,
        by: format!("{login} on GitHub"),
        signature: None,
    });
    Ok((request.url, answer))
}

fn reviewed(state: &str, body: &str) -> Option<(Choice, String)> {
    match state {
        "APPROVED" => Some((Choice::Approve, String::new())),
        "CHANGES_REQUESTED" => Some((Choice::Changes, body.trim().to_owned())),
        _ => None,
    }
}

/// What a comment says about a gate: the words that answer it here, too, and nothing else.
fn said(body: &str, gate: &str) -> Option<(Choice, String)> {
    let body = body.trim();
    let (word, text) = body.split_once(':').unwrap_or((body, ""));
    let word = word.trim().trim_end_matches(['.', '!']).to_ascii_lowercase();
    let text = text.trim().to_owned();
    match word.as_str() {
        "approve" | "approved" if text.is_empty() => Some((Choice::Approve, text)),
        "changes" if !text.is_empty() => Some((Choice::Changes, text)),
        "reject" | "rejected" => Some((Choice::Reject, text)),
        _ if text.is_empty() && (word == format!("{gate} approved") || word == format!("approve {gate}")) => {
            Some((Choice::Approve, text))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_words_that_answer_a_gate_answer_it() {
        let approves = ["approve", "Approved.", "security approved", "APPROVE security"];
        for text in approves {
            assert_eq!(said(text, "security"), Some((Choice::Approve, String::new())), "{text}");
        }
        assert_eq!(said("changes: hash it", "security"), Some((Choice::Changes, "hash it".to_owned())));
        assert_eq!(said("reject: no", "security"), Some((Choice::Reject, "no".to_owned())));
        for text in [
            "looks approved to me",
            "database approved",
            "approve: once it is hashed",
            "changes",
            "not approved",
            "",
        ] {
            assert_eq!(said(text, "security"), None, "{text}");
        }
    }
}
