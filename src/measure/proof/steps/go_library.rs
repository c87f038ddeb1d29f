//! Puts the compiled standard library of Go into the build cache of a checkout, before anything of the project
//! is compiled there.

use crate::measure::proof::checkout::go_library::GoLibrary;
use crate::measure::proof::request::ProofError;
use crate::measure::proof::steps::overlay::Trees;
use crate::measure::proof::steps::prepared_checkout::PreparedCheckout;
use crate::measure::proof::storage::files::{self, Budget};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// Modules of a monorepo that are asked for what they import.
const MODULES_MOST: usize = 20;

/// Listing reads the sources; where modules have to be fetched, the check itself may do so.
const LIST_MS: u64 = 60_000;

/// The whole library takes a minute of a slow machine.
const COMPILE_MS: u64 = 300_000;

impl PreparedCheckout {
    /// Compiles what the project imports of the library and is not in the `library` folder yet. Where that
    /// cannot be done, the checks compile it as they always did.
    pub(crate) fn compile_go_library(
        &mut self,
        library: &Path,
        trees: &Trees,
        budget: &mut Budget,
    ) -> Result<(), ProofError> {
        let modules = trees.folders_with("go.mod");
        if modules.is_empty() {
            return Ok(());
        }
        let library = GoLibrary::hold(library)?;
        let cache = self.session.work.outside("go").join("build");
        let known = library.lend(&cache, budget)?;
        let wanted = self.imported(&modules)?;
        if !wanted.is_subset(&known) && self.compile(&wanted)? {
            library.take(&cache, &known.union(&wanted).cloned().collect(), budget)?;
        }
        // Go may have completed the sums of a workspace.
        self.note_files();
        Ok(())
    }

    /// The packages of the library that these modules, and what they depend on, import. Nothing of them is run.
    fn imported(&mut self, modules: &[String]) -> Result<BTreeSet<String>, ProofError> {
        let is_plain = |it: &&String| it.chars().all(|it| it.is_ascii_alphanumeric() || "/._-".contains(it));
        let ask = "go list -e -deps -test -f '{{if .Standard}}std {{.ImportPath}}{{end}}' ./...";
        let one = |it: &String| format!("(cd './{it}' && {ask})");
        let all: Vec<String> = modules.iter().filter(is_plain).take(MODULES_MOST).map(one).collect();
        let variables = self.environment.variables.clone();
        let (_, said) = self.session.shell("go-list", &all.join("; "), variables, LIST_MS)?;
        // Nobody outside of the library may import what is internal to it; it comes along by itself.
        let may_be_imported = |it: &&str| {
            let parts = |it: &str| it.split('/').any(|it| it == "internal" || it == "vendor");
            !it.is_empty() && !parts(it) && !["unsafe", "C"].contains(it) && !it.contains([' ', '"'])
        };
        let names = said.lines().filter_map(|it| it.strip_prefix("std ")).filter(may_be_imported);
        Ok(names.map(str::to_owned).collect())
    }

    /// Compiles packages of the library by an empty test of our own, in a module beside the checkout.
    fn compile(&mut self, packages: &BTreeSet<String>) -> Result<bool, ProofError> {
        let folder = self.session.work.outside("go-library");
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("go.mod"), "module library\n")?;
        let imports: String = packages.iter().map(|it| format!("\t_ \"{it}\"\n")).collect();
        let text = format!(
            "package library\n\nimport (\n{imports}\t\"testing\"\n)\n\nfunc TestNothing(t *testing.T) {{}}\n"
        );
        fs::write(folder.join("library_test.go"), text)?;
        let command = "cd \"$LOOP_GO_LIBRARY\" && go test -mod=mod -run='^$' .";
        let mut variables = self.environment.variables.clone();
        variables.push(("LOOP_GO_LIBRARY".into(), folder.clone().into_os_string()));
        let (ending, _) = self.session.shell("go-library", command, variables, COMPILE_MS)?;
        files::remove(&folder)?;
        Ok(ending.code == Some(0))
    }
}
