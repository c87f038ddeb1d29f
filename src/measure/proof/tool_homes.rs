//! Where version managers and package managers keep their programs: the variable that says it, and the
//! place below HOME where nothing does. A new tool is one row.

/// A tool that keeps its programs below HOME.
pub(super) struct ToolHome {
    pub(super) variable: &'static str,
    pub(super) usual: &'static str,
}

/// Read by shims and launchers in PATH. Their contents are programs and toolchains, not settings.
pub(super) const HOMES: [ToolHome; 13] = [
    ToolHome { variable: "RUSTUP_HOME", usual: ".rustup" },
    ToolHome { variable: "PYENV_ROOT", usual: ".pyenv" },
    ToolHome { variable: "RBENV_ROOT", usual: ".rbenv" },
    ToolHome { variable: "NVM_DIR", usual: ".nvm" },
    ToolHome { variable: "VOLTA_HOME", usual: ".volta" },
    ToolHome { variable: "FNM_DIR", usual: ".local/share/fnm" },
    ToolHome { variable: "ASDF_DATA_DIR", usual: ".asdf" },
    ToolHome { variable: "MISE_DATA_DIR", usual: ".local/share/mise" },
    ToolHome { variable: "SDKMAN_DIR", usual: ".sdkman" },
    ToolHome { variable: "UV_PYTHON_INSTALL_DIR", usual: ".local/share/uv/python" },
    ToolHome { variable: "COREPACK_HOME", usual: ".cache/node/corepack" },
    // npm compares every archive of its cache with the hash in the lock file.
    ToolHome { variable: "npm_config_cache", usual: ".npm" },
    ToolHome { variable: "PNPM_HOME", usual: ".local/share/pnpm" },
];
