//! The tables of `loop.db`, as a list of steps: the database of version N has had the first N steps.
//! A released step is never edited; a change is a further step. Rows refer to a run by its integer
//! key, which keeps the event table small and in order of opening. No foreign keys are declared: a
//! run's rows are removed together in one place, and a check on every event insert would cost a
//! lookup for nothing.

/// The file in a home.
pub(super) const DATABASE: &str = "loop.db";

/// Marks the file as ours: "LOOP" in ASCII.
pub(super) const APPLICATION_ID: i64 = 0x4c4f_4f50;

/// The schema version that this program knows.
pub(super) const VERSION: i64 = STEPS.len() as i64;

pub(super) const STEPS: [&str; 8] = [FIRST, PLAN, VERSIONS, SEAL, UNSEALED, MONEY, QUEUE_FILE, SLOTS];

// `run` holds everything that a list shows, so that lists never touch another table; the large texts
// (snapshot, definition) live apart. Of the columns that change with every commit none is indexed:
// an index entry would be one more page in every commit.
const FIRST: &str = "
create table run(
    key integer primary key,
    id text not null unique,
    project text not null,
    workflow text not null,
    input text not null,
    status text not null,
    reason text,
    next_step text,
    phase text,
    iteration integer not null default 0,
    iterations_total integer not null default 0,
    calls_total integer not null default 0,
    progress integer,
    verified integer not null default 0,
    place text not null,
    branch text,
    opened_at integer not null,
    updated_at integer not null,
    epoch integer not null default 0,
    owner text,
    exit integer
) strict;
create index run_by_project on run(project);
create index run_by_input on run(project, workflow, input);
create index run_by_status on run(status);

create table definition(run integer primary key, body text not null) strict;

create table event(
    run integer not null,
    seq integer not null,
    epoch integer not null,
    at integer not null,
    kind text not null,
    body text not null,
    prev blob not null,
    hash blob not null,
    primary key(run, seq)
) strict, without rowid;

create table snapshot(
    run integer primary key,
    seq integer not null,
    hash blob not null,
    state_hash blob not null,
    state text not null
) strict;

create table command(
    id integer primary key autoincrement,
    run integer not null,
    at integer not null,
    body text not null,
    taken_seq integer
) strict;
create index command_waiting on command(run) where taken_seq is null;

create table question(
    run integer not null,
    id text not null,
    kind text not null,
    text text not null,
    choices text not null,
    asked_at integer not null,
    answered_at integer,
    primary key(run, id)
) strict, without rowid;
create index question_open on question(run) where answered_at is null;

create table job(
    key integer primary key,
    project text not null,
    queue text not null,
    id text not null,
    name text not null,
    status text not null,
    priority integer not null,
    waits_for integer not null default 0,
    run text,
    body text not null,
    created_at integer not null,
    started_at integer,
    completed_at integer,
    unique(project, queue, id)
) strict;
create index job_ready on job(project, queue, priority, key)
    where waits_for = 0 and status in ('specified', 'ready');
create table job_edge(job integer not null, needs integer not null, primary key(job, needs)) strict, without rowid;
create index job_needed_by on job_edge(needs, job);

create table hold(
    account text primary key,
    until integer not null,
    reason text not null,
    at integer not null
) strict, without rowid;

create table spend(
    day text not null,
    project text not null,
    calls integer not null,
    tokens integer not null,
    micro_usd integer not null,
    primary key(day, project)
) strict, without rowid;

create table call(
    project text not null,
    at integer not null,
    run text not null,
    seq integer not null,
    primary key(project, at, run, seq)
) strict, without rowid;
";

/// What agents say about plans that are nearly used up; for people only.
const PLAN: &str = "
create table plan(
    account text primary key,
    warning text not null,
    until integer,
    at integer not null
) strict, without rowid;
";

/// Which version of the program's data a snapshot and a definition hold; definitions as they were
/// before a person had them reloaded, with the last event that each was in force for; and the way to
/// the events that make up the list of items, which are read without the others.
const VERSIONS: &str = "
alter table snapshot add column version integer not null default 1;
alter table definition add column version integer not null default 1;

create table earlier_definition(
    run integer not null,
    until integer not null,
    body text not null,
    version integer not null,
    primary key(run, until)
) strict, without rowid;

create index event_of_list on event(run, seq) where kind in ('listed', 'item-done');
";

/// Binds what a run was opened with to the head of its chain.
const SEAL: &str = "alter table snapshot add column seal blob;";

/// The runs whose snapshot a program wrote that did not seal. Every other snapshot has a seal, so one
/// without is damage.
const UNSEALED: &str = "
create table unsealed(run integer primary key) strict;
insert into unsealed select run from snapshot where seal is null;
";

/// What runs and days cost, by class of token, with the calls of which nobody knows it; and what is set
/// aside for calls that are running, where runs share a cap.
const MONEY: &str = "
alter table run add column tokens integer not null default 0;
alter table run add column micro_usd integer;
alter table run add column computed integer not null default 0;
alter table run add column unknown_calls integer not null default 0;

alter table spend add column input integer not null default 0;
alter table spend add column cache_write integer not null default 0;
alter table spend add column cache_read integer not null default 0;
alter table spend add column output integer not null default 0;
alter table spend add column unknown_calls integer not null default 0;
alter table spend add column assumed_micro_usd integer not null default 0;

create table reservation(
    run text not null,
    call integer not null,
    attempt integer not null,
    day text not null,
    micro_usd integer not null,
    at integer not null,
    primary key(run, call, attempt)
) strict, without rowid;
create index reservation_of_day on reservation(day);
";

/// The file of a queue as it was last read or written: what it says beside its systems, how it looked, and
/// each system in it. A job that differs from the file is written to it by the next command.
const QUEUE_FILE: &str = "
create table queue(
    project text not null,
    domain text not null,
    header text not null,
    stamp text not null,
    primary key(project, domain)
) strict, without rowid;
alter table job add column filed text;
create index job_unfiled on job(project, queue) where filed is null or filed <> body;
create index job_of_run on job(run) where run is not null;
";

/// Calls that have a slot of their account, and runs that stand in line for one, whose call is null. Where
/// no workflow has `slots`, nothing is in here.
const SLOTS: &str = "
create table slot(
    key integer primary key,
    account text not null,
    run text not null unique,
    call integer,
    holder text not null,
    at integer not null
) strict;
";
