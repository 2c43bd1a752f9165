//! Control variables: environment variables that programs read as settings: which code they run, with which options.

/// What a variable decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// It decides which code a program runs, with which options, or where it looks for settings that do.
    Decides,
    /// Its name looks like those of such variables.
    Sounds,
    Free,
}

/// Names, in upper case.
const DECIDE: &[&str] = &[
    "AR",
    "AS",
    "AWS_CONFIG_FILE",
    "AWS_SHARED_CREDENTIALS_FILE",
    "BASHOPTS",
    "BASH_ENV",
    "BASH_LOADABLES_PATH",
    "BROWSER",
    "BUNDLE_GEMFILE",
    "CC",
    "CDPATH",
    "CLASSPATH",
    "CPP",
    "CURL_HOME",
    "CVS_RSH",
    "CXX",
    "DOCKER_CONFIG",
    "DOCKER_HOST",
    "EDITOR",
    "EMACSLOADPATH",
    "ENV",
    "EXINIT",
    "FCEDIT",
    "FPATH",
    "GCONV_PATH",
    "GEM_HOME",
    "GEM_PATH",
    "GETCONF_DIR",
    "GLIBC_TUNABLES",
    "GLOBIGNORE",
    "GNUMAKEFLAGS",
    "GNUPGHOME",
    "GOFLAGS",
    "GTK_MODULES",
    "GVIMINIT",
    "HOME",
    "HOSTALIASES",
    "IFS",
    "INPUTRC",
    "JAVA_HOME",
    "JAVA_OPTIONS",
    "JAVA_OPTS",
    "JAVA_TOOL_OPTIONS",
    "JDK_JAVA_OPTIONS",
    "KUBECONFIG",
    "LD",
    "LESS",
    "LESSCLOSE",
    "LESSKEY",
    "LESSOPEN",
    "LOCPATH",
    "MAKEFILES",
    "MAKEFLAGS",
    "MANOPT",
    "MANPAGER",
    "MANPATH",
    "MFLAGS",
    "MORE",
    "NLSPATH",
    "NODE_OPTIONS",
    "NODE_PATH",
    "NODE_REPL_EXTERNAL_MODULE",
    "OPENSSL_CONF",
    "OPENSSL_ENGINES",
    "OPENSSL_MODULES",
    "PAGER",
    "PATH",
    "PGSERVICEFILE",
    "PGSYSCONFDIR",
    "PHPRC",
    "PHP_INI_SCAN_DIR",
    "PROMPT_COMMAND",
    "PS0",
    "PS1",
    "PS2",
    "PS4",
    "PSQLRC",
    "PSQL_EDITOR",
    "PSQL_PAGER",
    "QT_PLUGIN_PATH",
    "RES_OPTIONS",
    "RUSTC",
    "RUSTC_WRAPPER",
    "RUSTFLAGS",
    "R_PROFILE",
    "R_PROFILE_USER",
    "SHELL",
    "SHELLOPTS",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "SVN_SSH",
    "TAR_OPTIONS",
    "TERMCAP",
    "TERMINFO",
    "VIM",
    "VIMINIT",
    "VIMRUNTIME",
    "VIRTUAL_ENV",
    "VISUAL",
    "WGETRC",
    "ZDOTDIR",
    "_",
];

/// The prefixes of whole families of names, in upper case: loaders, languages, version control, package managers.
const FAMILIES: &[&str] = &[
    "ANSIBLE_",
    "BASH_FUNC_",
    "CARGO_",
    "COMPLUS_",
    "COMPOSER_",
    "COR_",
    "CORECLR_",
    "DENO_",
    "DOTNET_",
    "DYLD_",
    "ELIXIR_",
    "ERL_",
    "GIO_",
    "GIT_",
    "GUILE_",
    "HGEDITOR",
    "JULIA_",
    "LD_",
    "LUA_",
    "MALLOC_",
    "MONO_",
    "NPM_",
    "PERL",
    "PIP_",
    "PNPM_",
    "PYTHON",
    "RSYNC_",
    "RUBY",
    "TCLLIBPATH",
    "UV_",
    "XDG_",
    "YARN_",
    "_JAVA_",
];

/// The last words of names by which programs take options or programs to run.
const ENDINGS: &[&str] = &[
    "ASKPASS", "FLAGS", "HOOK", "HOOKS", "INIT", "LAUNCHER", "OPTIONS", "OPTS", "PAGER", "EDITOR", "PRELOAD",
    "RSH", "STARTUP", "WRAPPER",
];

/// What a variable of this name decides.
pub fn control(name: &str) -> Control {
    // npm reads its own in any case, and a lower-case name rarely means another variable.
    let upper = name.to_ascii_uppercase();
    let is_proxy = upper.ends_with("_PROXY");
    let is_decisive = DECIDE.contains(&&*upper) || FAMILIES.iter().any(|start| upper.starts_with(start));
    if is_decisive && !is_proxy {
        return Control::Decides;
    }
    // A name that is nothing but such a word is an author's own: no program reads `FLAGS`.
    let is_formed = ENDINGS.iter().any(|ending| upper.ends_with(ending) && upper.len() > ending.len());
    if is_formed { Control::Sounds } else { Control::Free }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_that_programs_obey_are_known() {
        for name in [
            "PATH",
            "LD_PRELOAD",
            "BASH_ENV",
            "DYLD_INSERT_LIBRARIES",
            "GIT_DIR",
            "MAKEFLAGS",
            "TAR_OPTIONS",
            "GNUMAKEFLAGS",
            "_JAVA_OPTIONS",
            "PERL5DB",
            "RSYNC_RSH",
            "LUA_INIT",
            "GCONV_PATH",
            "DOTNET_STARTUP_HOOKS",
            "npm_config_script_shell",
            "NPM_CONFIG_PREFIX",
            "PYTHONSTARTUP",
            "RUBYOPT",
        ] {
            assert_eq!(control(name), Control::Decides, "{name}");
        }
        for name in ["SOME_TOOL_OPTIONS", "FOOFLAGS", "BAR_OPTS", "MY_LAUNCHER", "QUX_HOOKS"] {
            assert_eq!(control(name), Control::Sounds, "{name}");
        }
        for name in [
            "DEPTH",
            "NAME",
            "FILE_PATH",
            "OPTIONS",
            "TZ",
            "LANG",
            "NODE_ENV",
            "PGDATABASE",
            "COMMAND",
            "CONFIG",
        ] {
            assert_eq!(control(name), Control::Free, "{name}");
        }
    }
}
