//! Where version managers and package managers keep their programs: the variable that says it, and the
//! place below HOME where nothing does. A new tool is one row.

/// A tool that keeps its programs below HOME.
pub(crate) struct ToolHome {
    pub(crate) variable: &'static str,
    pub(crate) usual: &'static str,
    /// Where the programs and their libraries lie in it; nothing for a cache whose contents are compared
    /// with the lock file.
    pub(crate) programs: Option<&'static str>,
}

/// Read by shims and launchers in PATH. Their contents are programs and toolchains, not settings.
pub(crate) const HOMES: [ToolHome; 13] = [
    ToolHome { variable: "RUSTUP_HOME", usual: ".rustup", programs: Some("toolchains") },
    ToolHome { variable: "PYENV_ROOT", usual: ".pyenv", programs: Some("versions") },
    ToolHome { variable: "RBENV_ROOT", usual: ".rbenv", programs: Some("versions") },
    ToolHome { variable: "NVM_DIR", usual: ".nvm", programs: Some("versions") },
    ToolHome { variable: "VOLTA_HOME", usual: ".volta", programs: Some("tools") },
    ToolHome { variable: "FNM_DIR", usual: ".local/share/fnm", programs: Some("node-versions") },
    ToolHome { variable: "ASDF_DATA_DIR", usual: ".asdf", programs: Some("installs") },
    ToolHome { variable: "MISE_DATA_DIR", usual: ".local/share/mise", programs: Some("installs") },
    ToolHome { variable: "SDKMAN_DIR", usual: ".sdkman", programs: Some("candidates") },
    ToolHome { variable: "UV_PYTHON_INSTALL_DIR", usual: ".local/share/uv/python", programs: Some(".") },
    ToolHome { variable: "COREPACK_HOME", usual: ".cache/node/corepack", programs: None },
    // npm compares every archive of its cache with the hash in the lock file.
    ToolHome { variable: "npm_config_cache", usual: ".npm", programs: None },
    ToolHome { variable: "PNPM_HOME", usual: ".local/share/pnpm", programs: None },
];
