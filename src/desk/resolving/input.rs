//! What a run works on: a document, a sentence that becomes one, or nothing.

use crate::desk::caller::{Caller, refuse_hidden};
use crate::desk::note::Note;
use crate::desk::refusal::{NO_INPUT_STEP, NextStep, Refusal, WHAT_TO_BUILD, why_unreadable};
use crate::desk::request::RunRequest;
use crate::desk::resolving::design_file;
use crate::desk::resolving::job::{self, JobInput};
use crate::desk::resolving::planning::{self, PhaseInput};
use crate::tree::git::Git;
use crate::world::wait::now;
use loop_base::secret::redact;
use loop_core::documents::input;
use loop_core::engine::Opening;
use loop_core::workflow::model::{InputKind, Workflow};
use std::path::{Path, PathBuf};

/// What a run works on.
pub(crate) struct RunInput {
    /// How it is named, and what makes two runs the same.
    pub name: String,
    /// The other name: a sentence's design, a design's sentence.
    pub alias: Option<String>,
    /// What a sentence's design is called.
    pub document: Option<String>,
    /// The document, where it is one.
    pub path: Option<PathBuf>,
    pub text: String,
    /// The phase of a planning folder, where it is one.
    pub phase: Option<Box<PhaseInput>>,
    /// The system of the queue, where it is one.
    pub job: Option<Box<JobInput>>,
}

/// What an input is where the workflow does not say it.
fn usual_words(kind: InputKind) -> &'static str {
    match kind {
        InputKind::Text | InputKind::Design => "what to build, in a sentence",
        InputKind::File => "the file to work on",
        InputKind::Phase => "the number of a phase",
        InputKind::Job => "a system of the queue",
        InputKind::None => "nothing",
    }
}

impl RunInput {
    pub(crate) fn find(
        caller: &Caller,
        request: &RunRequest,
        project: &Path,
        workflow: &mut Workflow,
    ) -> anyhow::Result<RunInput> {
        let kind = workflow.input.kind;
        let needed = |about: &str| {
            // A sentence will do, so the command can be shown; the name of a file is nobody's but theirs.
            let next = match kind {
                InputKind::Design | InputKind::Text => NextStep::from(NO_INPUT_STEP),
                InputKind::File | InputKind::Phase | InputKind::Job | InputKind::None => {
                    NextStep::by_hand("name it in the same command, after loop run")
                }
            };
            let about = if about.trim().is_empty() { usual_words(kind) } else { about };
            Refusal::usage(format!("{} needs an input: {about}", workflow.name), next)
        };
        let given = request.input.clone();
        let is_named = matches!(kind, InputKind::Design | InputKind::Text | InputKind::File);
        if is_named
            && given.is_none()
            && let Some(home) = caller.existing_home()?
        {
            // An unfinished run would be meant, which the list may call finished.
            refuse_hidden(&home, &caller.runs_of_project(&home)?)?;
        }
        match workflow.input.kind {
            InputKind::None => Ok(RunInput {
                name: String::new(),
                alias: None,
                document: None,
                path: None,
                text: String::new(),
                phase: None,
                job: None,
            }),
            InputKind::File => {
                let name = given.ok_or_else(|| needed(&workflow.input.about))?;
                RunInput::document(caller, project, &name)
            }
            InputKind::Design => match given {
                Some(name) if looks_like_a_file(&caller.dir.join(&name)) => {
                    RunInput::document(caller, project, &name)
                }
                Some(text) => match design_file::of_sentence(project, &text) {
                    Some(path) => RunInput::document(caller, project, &path.to_string_lossy())?.called(&text),
                    None => RunInput::sentence(text),
                },
                None => match design_file::newest(project) {
                    Some(path) => RunInput::document(caller, project, &path.to_string_lossy()),
                    None => Err(needed(&workflow.input.about)),
                },
            },
            InputKind::Phase => {
                let today: String = now().to_string().chars().take(10).collect();
                let phase = planning::find(request, project, workflow, &today)?;
                let name = phase.number.to_string();
                let (alias, document, path, text) = (None, None, None, String::new());
                Ok(RunInput { name, alias, document, path, text, phase: Some(Box::new(phase)), job: None })
            }
            InputKind::Job => {
                let job = job::find(caller, request, project, workflow)?;
                let name = job.job.system.id.clone();
                let (alias, document, path, text) = (None, None, None, String::new());
                Ok(RunInput { name, alias, document, path, text, phase: None, job: Some(Box::new(job)) })
            }
            InputKind::Text => {
                let text = given.ok_or_else(|| needed(&workflow.input.about))?;
                refuse_missing_file(&caller.dir, &text)?;
                RunInput::sentence(text)
            }
        }
    }

    pub(crate) fn sentence(text: String) -> anyhow::Result<RunInput> {
        if text.trim().is_empty() {
            return Err(Refusal::usage("the input is empty", NO_INPUT_STEP));
        }
        refuse_placeholder(&text)?;
        // It is written down wherever the run is named.
        let text = redact(&text).into_owned();
        Ok(RunInput {
            name: text.clone(),
            alias: None,
            document: None,
            path: None,
            text,
            phase: None,
            job: None,
        })
    }

    /// What has no design yet gets one where the workflow works on designs.
    pub(crate) fn into_design(
        self,
        caller: &Caller,
        project: &Path,
        git: &Git,
        workflow: &Workflow,
        notes: &mut Vec<Note>,
    ) -> anyhow::Result<RunInput> {
        if workflow.input.kind != InputKind::Design || self.path.is_some() {
            return Ok(self);
        }
        let path = design_file::for_sentence(project, &self.text)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        notes.push(Note::usual(format!("wrote the sentence to {name}; loop design writes a fuller one")));
        if let Ok(inside) = path.strip_prefix(git.work_tree()) {
            // Nobody has asked for a file, so none is to be committed or in the way.
            git.exclude(&[&format!("/{}", inside.display())])?;
        }
        RunInput::document(caller, project, &path.to_string_lossy())?.called(&self.name)
    }

    /// The document of a sentence goes by the sentence.
    pub(crate) fn called(self, sentence: &str) -> anyhow::Result<RunInput> {
        let document = Some(self.name);
        Ok(RunInput { alias: document.clone(), document, name: redact(sentence).into_owned(), ..self })
    }

    pub(crate) fn document(caller: &Caller, project: &Path, name: &str) -> anyhow::Result<RunInput> {
        if name.trim().is_empty() {
            return Err(Refusal::usage("the input is empty", NO_INPUT_STEP));
        }
        let path = caller.dir.join(name);
        let unreadable = |why: String| {
            Refusal::usage(format!("{name} {why}"), NextStep::by_hand("name a text file that can be read"))
        };
        let meta = std::fs::metadata(&path).map_err(|error| unreadable(why_unreadable(&error)))?;
        if !meta.is_file() {
            return Err(unreadable("is not a file".to_owned()));
        }
        if input::LARGEST < meta.len() {
            return Err(unreadable(format!("is larger than {} MB", input::LARGEST >> 20)));
        }
        let text = loop_base::files::text(&path).map_err(|error| unreadable(why_unreadable(&error)))?;
        if text.trim().is_empty() {
            return Err(unreadable("is empty".to_owned()));
        }
        let path = path.canonicalize()?;
        let name = path.strip_prefix(project).unwrap_or(&path).to_string_lossy().into_owned();
        Ok(RunInput {
            name,
            alias: loop_core::documents::design::sentence_of(&text),
            document: None,
            path: Some(path),
            text,
            phase: None,
            job: None,
        })
    }

    pub(crate) fn opening(&self, request: &RunRequest, workflow: &Workflow) -> Opening {
        let found = input::criteria(&self.text).total;
        let lock = self.path.as_ref().filter(|_| workflow.input.lock).map(|_| input::lock(&self.text));
        let promise = request.promise.clone().unwrap_or_else(|| input::promise(&self.text).to_owned());
        let opening = Opening {
            input: self.name.clone(),
            document: self.document.clone(),
            path: self.path.as_ref().map(|it| it.to_string_lossy().into_owned()),
            promise: Some(promise),
            criteria: request.criteria.or((found != 0).then_some(found)),
            unverified: request.unverified,
            lock,
            text: self.path.as_ref().map(|_| input::lock(&self.text)),
            ..Opening::default()
        };
        match (&self.phase, &self.job) {
            (Some(phase), _) => phase.add_to(opening),
            (None, Some(job)) => job.add_to(opening),
            (None, None) => opening,
        }
    }
}

/// Our hints have these words where a person writes their own; nobody is to pay for an agent that works on them.
pub(crate) fn refuse_placeholder(text: &str) -> anyhow::Result<()> {
    if text.trim() != WHAT_TO_BUILD {
        return Ok(());
    }
    let text = format!("\"{WHAT_TO_BUILD}\" stands for a sentence of your own");
    Err(Refusal::usage(
        text,
        NextStep::by_hand("say what to build, such as loop run \"fix the date parser\""),
    ))
}

/// A word that can only be a path names no work.
fn refuse_missing_file(dir: &Path, text: &str) -> anyhow::Result<()> {
    let is_word = !text.contains(char::is_whitespace);
    let is_path = text.contains('/') || text.ends_with(".md");
    if !(is_word && is_path) || text.contains("://") || dir.join(text).exists() {
        return Ok(());
    }
    let help = "name a file that exists, or say what to build in a sentence";
    Err(Refusal::usage(format!("there is no file {text}"), NextStep::by_hand(help)))
}

fn looks_like_a_file(path: &Path) -> bool {
    path.exists() || path.extension().is_some_and(|it| it == "md")
}
