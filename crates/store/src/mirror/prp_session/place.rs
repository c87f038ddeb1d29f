//! Where the files of a session lie: where the user says, else in a `.prp-session/` that exists,
//! else in a folder of the user's that is named after the project. Two projects may have one name;
//! `loop-state.json` says which of them a folder belongs to, and the other gets a suffix.

use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// Returns the folder of a project's session. `told` is what a flag, the environment or the workflow
/// names; `user` is the user's own folder. Nothing is created here.
pub fn choose(told: Option<&Path>, project: &Path, user: Option<&Path>) -> Option<PathBuf> {
    if let Some(told) = told {
        return Some(real(&project.join(told)));
    }
    let here = project.join(".prp-session");
    if here.is_dir() {
        return Some(real(&here));
    }
    let sessions = user?.join(".bp-sessions");
    let name = project.file_name().map_or_else(|| "root".to_owned(), |it| it.to_string_lossy().into_owned());
    let plain = sessions.join(&name);
    let owner = owner(&plain);
    let is_ours = owner.is_none_or(|it| it == project.to_string_lossy());
    Some(real(&if is_ours { plain } else { sessions.join(format!("{name}-{}", suffix(project))) }))
}

/// Returns the project that a folder of files says it belongs to.
fn owner(folder: &Path) -> Option<String> {
    let text = loop_base::files::text(&folder.join("loop-state.json")).ok()?;
    let state: serde_json::Value = serde_json::from_str(&text).ok()?;
    state.get("project")?.as_str().map(str::to_owned)
}

fn suffix(project: &Path) -> String {
    let digest = Sha256::digest(project.as_os_str().as_encoded_bytes());
    digest.iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

/// The path without links, as far as it exists: a link that appears later is not followed.
fn real(path: &Path) -> PathBuf {
    for ancestor in path.ancestors() {
        if let Ok(found) = ancestor.canonicalize() {
            let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            return if rest.as_os_str().is_empty() { found } else { found.join(rest) };
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use super::choose;
    use std::path::Path;

    #[test]
    fn bp16_the_folder_is_chosen_in_order() {
        let sandbox = tempfile::tempdir().expect("a folder");
        let base = sandbox.path().canonicalize().expect("a path");
        let (user, project) = (base.join("user"), base.join("work/api"));
        std::fs::create_dir_all(&project).expect("a folder");
        let chosen = |told: Option<&str>| choose(told.map(Path::new), &project, Some(&user));
        assert_eq!(chosen(None), Some(user.join(".bp-sessions/api")));
        assert_eq!(chosen(Some("/x/y")), Some("/x/y".into()));
        assert_eq!(chosen(Some("state")), Some(project.join("state")));
        let central = user.join(".bp-sessions/api");
        std::fs::create_dir_all(&central).expect("a folder");
        for (text, folder) in [
            ("{}".to_owned(), "api".to_owned()),
            (format!("{{\"project\": \"{}\"}}", project.display()), "api".to_owned()),
            ("{\"project\": \"/elsewhere/api\"}".to_owned(), format!("api-{}", super::suffix(&project))),
        ] {
            std::fs::write(central.join("loop-state.json"), text).expect("written");
            assert_eq!(chosen(None), Some(user.join(".bp-sessions").join(folder)));
        }
        std::fs::create_dir(project.join(".prp-session")).expect("a folder");
        assert_eq!(chosen(None), Some(project.join(".prp-session")));
        assert_eq!(choose(None, Path::new("/no/such"), None), None);
    }
}
