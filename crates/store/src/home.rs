//! The home: a folder of mode 0700 with `loop.db`, the turnstile, and a folder for each run. This
//! file finds it, creates it, opens its database and says by name what is wrong with one that cannot
//! be used. Every access of the store goes through [`Home::read`] or [`Home::write`]. Opening costs
//! the same for a home of any age: whole databases are checked by `verify`, not here.

use super::error::StoreError;
use super::lost_file::{self, DatabaseFile};
use super::schema::{self, DATABASE};
use super::tables;
use super::turn::{self, HeldTurn};
use loop_base::files::ours;
use loop_core::agent_table::AgentTable;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, TransactionBehavior};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::cell::OnceCell;
use std::ffi::OsString;
use std::fs::{DirBuilder, File, Permissions};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

const TURNSTILE: &str = "turnstile";
pub(super) const RUNS: &str = "runs";

/// How long SQLite itself waits for its lock. Our own writers queue at the turnstile, so only a
/// foreign program (a shell on the database) can be in the way; ten seconds outlast its statement.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Page cache of a connection in KiB. A commit touches under ten pages and a list reads each page
/// once, so more than this would only be resident for nothing.
const CACHE_KIB: i64 = 1024;

/// What the write-ahead log is cut back to after a long reader made it grow: twice the size at which
/// SQLite checkpoints by itself (1,000 pages of 4 KiB), so that in daily use nothing is ever cut.
const WAL_LIMIT_BYTES: i64 = 8 << 20;

/// The size of the log between two checkpoints: 1,000 pages of 4 KiB with their frame headers, and
/// the commit that goes beyond them.
const LOG_BYTES: u64 = 4_200_000;

/// A log of this size is read in a fraction of a millisecond.
const LEFT_BYTES: u64 = 400_000;

/// An open home. It may move between threads, and each thread that works at once opens its own.
#[derive(Debug)]
pub struct Home {
    path: PathBuf,
    connection: Connection,
    /// The file that is open, as it was found under its name.
    file: Option<DatabaseFile>,
    turnstile: OnceCell<Arc<File>>,
    agents: AgentTable,
}

impl Home {
    /// Says where the home is: `flag`, else `$LOOP_HOME`, else `$XDG_STATE_HOME/loop`, else
    /// `~/.local/state/loop`. An empty variable counts as unset, and so does a relative
    /// `$XDG_STATE_HOME`, as its specification asks.
    pub fn locate(flag: Option<&Path>, env: impl Fn(&str) -> Option<OsString>) -> PathBuf {
        let variable = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let path = flag
            .map(Path::to_path_buf)
            .or_else(|| variable("LOOP_HOME"))
            .or_else(|| {
                variable("XDG_STATE_HOME").filter(|path| path.is_absolute()).map(|path| path.join("loop"))
            })
            .unwrap_or_else(|| {
                let user = variable("HOME").or_else(std::env::home_dir).unwrap_or_else(|| PathBuf::from("/"));
                user.join(".local/state/loop")
            });
        std::path::absolute(&path).unwrap_or(path)
    }

    /// Opens the home, and creates what is missing of it.
    pub fn open(path: &Path) -> Result<Home, StoreError> {
        claim(path)?;
        refuse_lost_database(path)?;
        private_database(path)?;
        Home::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_CREATE)
    }

    /// Opens the home if there is one, and creates nothing. One that cannot be written, and one on a full disk, is
    /// opened for reading.
    pub fn open_existing(path: &Path) -> Result<Option<Home>, StoreError> {
        refuse_lost_database(path)?;
        match std::fs::metadata(path.join(DATABASE)) {
            Ok(metadata) if metadata.len() == 0 => Ok(None),
            Ok(_) if is_read_only(path) => Home::connect_to_read(path).map(Some),
            Ok(_) => match Home::connect(path, OpenFlags::SQLITE_OPEN_READ_WRITE) {
                Err(full @ StoreError::Full { .. }) => {
                    Home::connect_to_read(path).map_err(|_| full).map(Some)
                }
                connected => connected.map(Some),
            },
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StoreError::file(&path.join(DATABASE), &error)),
        }
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the agents of whoever opened it known to the workflows that are read from it.
    #[must_use]
    pub fn knowing(self, agents: AgentTable) -> Home {
        Home { agents, ..self }
    }

    pub fn agents(&self) -> &AgentTable {
        &self.agents
    }

    /// The folder of a run: prompts, transcripts, check logs, its lock and its FIFO.
    pub fn folder(&self, run: &str) -> PathBuf {
        self.path.join(RUNS).join(run)
    }

    /// Writes a consistent copy of the database while others continue working.
    pub fn backup(&self, to: &Path) -> Result<(), StoreError> {
        let failed = |error: std::io::Error| StoreError::file(to, &error);
        // SQLite would create the file readable for everybody; it accepts an empty one.
        let file = File::options().write(true).create_new(true).mode(0o600).open(to).map_err(failed)?;
        let name =
            to.to_str().ok_or(StoreError::Other { path: to.into(), why: "the path is not UTF-8".into() })?;
        let copied = self.connection.execute("vacuum into ?1", [name]);
        // `vacuum into` does not sync what it wrote.
        let done = copied.map_err(StoreError::from).and_then(|_| file.sync_all().map_err(failed));
        if done.is_err() {
            let _ = std::fs::remove_file(to);
        }
        done
    }

    /// Brings the write-ahead log to the size that it would reach anyway. A log that still grows makes
    /// every sync write the file's metadata too, which costs as much again; one that is overwritten
    /// does not. It takes some milliseconds, so it is for a controller that will commit many times,
    /// not for a command that commits once.
    pub fn grow_log(&self) -> Result<(), StoreError> {
        let log = self.path.join(DATABASE).with_extension("db-wal");
        if std::fs::metadata(log).is_ok_and(|metadata| metadata.len() >= LOG_BYTES) {
            return Ok(());
        }
        let _turn = self.turn()?;
        let attempt = || {
            // SQLite writes pages that do not fit its cache to the log before they are committed.
            // These never are: what remains of them is the log's length.
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let bytes = LOG_BYTES as i64 + CACHE_KIB * 1024;
            transaction
                .execute("insert into snapshot values(-1, 0, zeroblob(?1), x'', '', 0, null)", [bytes])?;
            transaction.rollback()
        };
        attempt().map_err(|error| StoreError::from(error).within(&self.path))
    }

    /// Leaves the write-ahead log to whoever comes next, for a process that commits once and ends.
    /// Closing would write the log into the database, delete it, and have the next process make
    /// another: four syncs for each that a commit needs. A log that takes a while to read at every
    /// opening is folded in by closing as usual. A checkpoint would not do: whoever opens the log
    /// alone cannot know of it, and writes on behind what was folded in already.
    pub fn leave_log(&self) -> Result<(), StoreError> {
        let log = self.path.join(DATABASE).with_extension("db-wal");
        if std::fs::metadata(log).is_ok_and(|metadata| LEFT_BYTES < metadata.len()) {
            return Ok(());
        }
        let left = self.connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true);
        left.map(|_| ()).map_err(|error| StoreError::from(error).within(&self.path))
    }

    /// Reads. Several statements see one state only inside a transaction of their own.
    pub(super) fn read<T>(
        &self,
        work: impl FnOnce(&Connection) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        work(&self.connection).map_err(|error| self.placed(error))
    }

    /// Gives an error its place. A run whose folder is there was in the list once.
    fn placed(&self, error: StoreError) -> StoreError {
        match error.within(&self.path) {
            StoreError::NoRun { run } if crate::chain::is_lost(&self.folder(&run)) => {
                StoreError::missing_run(&run, self.folder(&run)).within(&self.path)
            }
            other => other,
        }
    }

    /// Runs one write transaction: durable when this returns, or without any effect.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let _turn = self.turn()?;
        if self.file.is_some() && self.file != DatabaseFile::of(&self.path) {
            return Err(lost_file::keep(&self.path, &self.connection));
        }
        let attempt = || {
            let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        };
        attempt().map_err(|error: StoreError| self.placed(error))
    }

    /// Looks whether the database still has its name, as every write does. Where it does not, what is open
    /// is kept.
    pub fn refuse_lost_file(&self) -> Result<(), StoreError> {
        let _turn = self.turn()?;
        match self.file.is_some() && self.file != DatabaseFile::of(&self.path) {
            true => Err(lost_file::keep(&self.path, &self.connection)),
            false => Ok(()),
        }
    }

    fn connect(path: &Path, flags: OpenFlags) -> Result<Home, StoreError> {
        let attempt = || {
            let connection = Connection::open_with_flags(
                path.join(DATABASE),
                flags | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE,
            )?;
            let home = Home::connected(path, connection)?;
            home.connection.set_prepared_statement_cache_capacity(48);
            // One look: a home that somebody makes at this moment is empty or complete, never half.
            let look = Transaction::new_unchecked(&home.connection, TransactionBehavior::Deferred)?;
            let current = home.is_current()?;
            drop(look);
            if !current {
                home.upgrade()?;
            }
            // A restored backup is not in WAL mode; on a database that is, the pragma writes nothing.
            // `cell_size_check` finds a damaged page when it is read instead of when it is used.
            home.connection.execute_batch(&format!(
                "pragma journal_mode = wal; pragma synchronous = full; pragma cell_size_check = on; \
                 pragma cache_size = -{CACHE_KIB}; pragma journal_size_limit = {WAL_LIMIT_BYTES};"
            ))?;
            Ok(home)
        };
        attempt().map_err(|error: StoreError| error.within(path))
    }

    /// A home whose database was just opened. What lies in its schema starts nothing.
    fn connected(path: &Path, connection: Connection) -> Result<Home, StoreError> {
        connection.busy_timeout(BUSY_TIMEOUT)?;
        // Else a statement whose range could change its plan is compiled again whenever its values are bound.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
        tables::disarm(&connection)?;
        let file = DatabaseFile::of(path);
        let (turnstile, agents) = (OnceCell::new(), AgentTable::default());
        Ok(Home { path: path.to_path_buf(), connection, file, turnstile, agents })
    }

    /// Opens a database that nobody here can write. Without a log beside it nobody writes it at all, so
    /// SQLite need not make the files by which it would notice.
    fn connect_to_read(path: &Path) -> Result<Home, StoreError> {
        let attempt = || {
            let database = path.join(DATABASE);
            let has_log = std::fs::metadata(database.with_extension("db-wal")).is_ok_and(|it| 0 < it.len());
            let escaped: String =
                database
                    .to_string_lossy()
                    .chars()
                    .map(|it| {
                        if matches!(it, '%' | '?' | '#') { format!("%{:02x}", it as u32) } else { it.into() }
                    })
                    .collect();
            let suffix = if has_log { "" } else { "?immutable=1" };
            let connection = Connection::open_with_flags(
                format!("file:{escaped}{suffix}"),
                OpenFlags::SQLITE_OPEN_READ_ONLY
                    | OpenFlags::SQLITE_OPEN_URI
                    | OpenFlags::SQLITE_OPEN_NO_MUTEX
                    | OpenFlags::SQLITE_OPEN_PRIVATE_CACHE,
            )?;
            let home = Home::connected(path, connection)?;
            if home.is_current()? {
                return Ok(home);
            }
            let why = "it was written by an earlier version of loop and cannot be brought up to date, \
                       because it cannot be written";
            Err(StoreError::Other { path: database, why: why.into() })
        };
        attempt().map_err(|error: StoreError| error.within(path))
    }

    /// Whether the database is ours and of the version that this program knows. An empty one and
    /// one of an earlier version are not current; anything else is an error that names it.
    fn is_current(&self) -> Result<bool, StoreError> {
        let number = |sql: &str| self.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let application = number("pragma application_id")?;
        let version = number("pragma user_version")?;
        if application == 0 && version == 0 && number("select count(*) from sqlite_schema")? == 0 {
            return Ok(false);
        }
        let path = PathBuf::from(DATABASE);
        if application != schema::APPLICATION_ID {
            return Err(StoreError::Foreign { path, why: format!("its application id is {application:#x}") });
        }
        tables::refuse_armed(&self.connection)?;
        match version {
            1.. if version == schema::VERSION => Ok(true),
            1.. if version < schema::VERSION => Ok(false),
            1.. => Err(StoreError::Newer { path, found: version, known: schema::VERSION }),
            ..=0 => Err(StoreError::damaged(format!("its schema version is {version}"))),
        }
    }

    fn upgrade(&self) -> Result<(), StoreError> {
        let _turn = self.turn()?;
        self.connection.execute_batch("pragma journal_mode = wal; pragma synchronous = full;")?;
        let transaction = Transaction::new_unchecked(&self.connection, TransactionBehavior::Immediate)?;
        // Somebody else may have done it while we stood at the turnstile.
        if !self.is_current()? {
            let version: i64 = transaction.query_row("pragma user_version", [], |row| row.get(0))?;
            for step in &schema::STEPS[usize::try_from(version).unwrap_or(0)..] {
                transaction.execute_batch(step).map_err(|error| match StoreError::from(error) {
                    // A step that SQLite understands and cannot do: the tables are of another version.
                    StoreError::Other { why, .. } => StoreError::damaged(format!(
                        "its schema version is {version}, its tables are not: {why}"
                    )),
                    other => other,
                })?;
            }
            transaction.pragma_update(None, "application_id", schema::APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", schema::VERSION)?;
        }
        Ok(transaction.commit()?)
    }

    /// Queues for the right to write. SQLite's own busy handler sleeps and starves; the kernel hands
    /// this lock on the moment that it is free.
    fn turn(&self) -> Result<HeldTurn, StoreError> {
        let path = self.path.join(TURNSTILE);
        let file = match self.turnstile.get() {
            Some(file) => file,
            None => {
                let opened = ours().write(true).create(true).truncate(false).open(&path);
                let opened = opened.map_err(|error| StoreError::file(&path, &error))?;
                self.turnstile.get_or_init(|| Arc::new(opened))
            }
        };
        turn::take(file, &path)
    }
}

/// What stands in a home. A folder that holds anything else, and no database of ours, is somebody's.
pub(super) const OURS: [&str; 9] =
    [DATABASE, "loop.db-wal", "loop.db-shm", "loop.db-journal", TURNSTILE, RUNS, "trees", "proof", "looks"];

/// Makes the home where there is none. A folder that exists is taken as it is, its mode included, and
/// only if it is empty or has been a home before.
fn claim(path: &Path) -> Result<(), StoreError> {
    let failed = |error: std::io::Error| StoreError::file(path, &error);
    let refused = |why: String| Err(StoreError::NotAHome { path: path.to_owned(), why });
    let found = match std::fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            if std::fs::symlink_metadata(path).is_ok_and(|it| it.is_symlink()) {
                return refused("it is a link that leads nowhere".to_owned());
            }
            return DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed);
        }
        Err(error) => return Err(failed(error)),
    };
    if !found.is_dir() {
        return refused("it is not a folder".to_owned());
    }
    let database = path.join(DATABASE);
    let is_link = std::fs::symlink_metadata(&database).is_ok_and(|it| it.is_symlink());
    if is_link {
        return refused(format!("{DATABASE} in it is a link"));
    }
    // Another user could replace files in a folder that they own.
    let mine = geteuid().as_raw();
    if found.uid() != mine || std::fs::metadata(&database).is_ok_and(|it| it.uid() != mine) {
        return refused("it belongs to another user".to_owned());
    }
    if database.exists() {
        return Ok(());
    }
    if found.permissions().mode() & 0o002 != 0 {
        return refused("anybody may write into it".to_owned());
    }
    for entry in std::fs::read_dir(path).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name();
        if !OURS.iter().any(|it| name == *it) && !lost_file::is_copy(&name) {
            return refused(format!("it holds other files, such as {}", name.to_string_lossy()));
        }
    }
    Ok(())
}

/// SQLite would create the file readable for everybody; it accepts an empty one, and gives its mode to
/// the files beside it.
fn private_database(path: &Path) -> Result<(), StoreError> {
    let database = path.join(DATABASE);
    match ours().write(true).create_new(true).open(&database) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(StoreError::file(&database, &error)),
    }
}

/// Whether neither the database nor its folder can be written, by mode or because the disk is mounted
/// so.
fn is_read_only(path: &Path) -> bool {
    use rustix::fs::{Access, access};
    let refused = |path: &Path| matches!(access(path, Access::WRITE_OK), Err(Errno::ACCESS | Errno::ROFS));
    refused(path) || refused(&path.join(DATABASE))
}

/// Creates a folder of ours inside the home that only its owner may enter, or makes an existing one
/// so. A link in its place leads out of the home and is damage.
pub(super) fn private_folder(path: &Path) -> Result<(), StoreError> {
    let failed = |error: std::io::Error| StoreError::file(path, &error);
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)
        }
        Err(error) => Err(failed(error)),
        Ok(found) if !found.is_dir() => Err(StoreError::Damaged {
            path: path.to_owned(),
            what: "a link or a file is where a folder of ours was".into(),
        }),
        Ok(found) if found.permissions().mode() & 0o077 != 0 => {
            std::fs::set_permissions(path, Permissions::from_mode(0o700)).map_err(failed)
        }
        Ok(_) => Ok(()),
    }
}

/// Run folders without a database mean that the truth was lost. Creating an empty one in its place
/// would be a silent reset.
fn refuse_lost_database(path: &Path) -> Result<(), StoreError> {
    let present = std::fs::metadata(path.join(DATABASE)).is_ok_and(|metadata| metadata.len() > 0);
    let orphaned = || std::fs::read_dir(path.join(RUNS)).is_ok_and(|mut folders| folders.next().is_some());
    if present || !orphaned() {
        return Ok(());
    }
    Err(StoreError::Damaged {
        path: path.join(DATABASE),
        what: format!("it is missing or empty although {} has runs", path.join(RUNS).display()),
    })
}
