//! Makefiles: what is read of them, and what is refused.

use super::*;
use proptest::prelude::*;
use serde_json::json;

const HERE: FileLocation<'_> = FileLocation { folder: "", file: "Makefile" };

fn commands(imported: &Imported) -> Vec<String> {
    imported.tools.iter().map(|tool| format!("{}: {}", tool.command_words(), tool.description)).collect()
}

#[test]
fn targets_that_cannot_be_named_are_reported() {
    let text = "\
-rf good:
\techo
$(shell date) $(BIN)/x: y
\techo
$(info a: b)
$(foreach x,a b,$(eval $(x): y))
ifeq ($(A:b=c),d)
endif
.PHONY: good
";
    let imported = read(text, HERE);
    assert_eq!(commands(&imported), ["make good: Runs the target `good` of Makefile"]);
    let left: Vec<_> = imported.left_out.iter().map(|left| (&*left.what, &*left.why)).collect();
    let expected = [
        ("-rf", "make takes its name for an option"),
        ("$(shell date) $(BIN)/x", "its name has variables, which only make knows"),
    ];
    assert_eq!(left, expected);
}

#[test]
fn targets_that_people_call_become_tools() {
    let text = "\
# Where it listens
PORT ?= 8080
NAME ?= world # whom
SHELL ?= /bin/sh
FLAGS = --port=$(PORT)
VERSION := $(shell rm -rf /)
include common.mk
.PHONY: serve clean \\
  all
define X
fake: ## not this
endef

all: serve
serve: out.txt ## Serves it
\t./serve $(FLAGS) ${NAME}
clean:
\trm -rf out.txt
out.txt: in.txt
\tcp $< $@
%.o: %.c
\tcc $<
ifeq ($(A),b)
endif
clean: X = 1
";
    let imported = read(text, HERE);
    assert_eq!(
        commands(&imported),
        [
            "make all [NAME={NAME}] [PORT={PORT}]: Runs the target `all` of Makefile",
            "make serve [NAME={NAME}] [PORT={PORT}]: Serves it",
            "make clean: Runs the target `clean` of Makefile",
        ]
    );
    assert_eq!(
        imported.tools[1].metadata()["inputSchema"]["properties"],
        json!({
            "NAME": { "type": "string", "pattern": mcp_bash_hazards::HARMLESS, "description": "Default: world" },
            "PORT": { "type": "integer", "description": "Where it listens (default: 8080)" },
        })
    );
    assert_eq!(imported.tools[2].effect, Some(Effect::Destroys));
    let left_out: Vec<&str> = imported.left_out.iter().map(|left| &*left.what).collect();
    assert_eq!(left_out, ["include common.mk", "out.txt"]);
}

#[test]
fn a_variable_that_is_used_and_never_set_is_an_argument() {
    let text = "\
ENV := prod
FILES = $(foreach f,a b,$(f).txt) $(wildcard $(DIR)/*)
.PHONY: tag clean
tag: LOCAL = 1
tag: $(DEPS)
\tgit tag v$(VERSION) $(ENV) $(LOCAL) $@ $(@D) $(1) $(CURDIR) $(MAKE) $$HOME $$(date) $(HOME)
\techo ${NOTE:.c=.o} $(FILES) $(CC) $(strip $(SUFFIX))
\t$(RUNNER) x
define HOOK
endef
clean:
\t$(HOOK)
";
    let imported = read(text, HERE);
    assert_eq!(
        commands(&imported),
        [
            "make tag [DEPS={DEPS}] [DIR={DIR}] [NOTE={NOTE}] [SUFFIX={SUFFIX}] [VERSION={VERSION}]: Runs the target `tag` of Makefile",
            "make clean: Runs the target `clean` of Makefile",
        ]
    );
    let left_out: Vec<&str> = imported.left_out.iter().map(|left| &*left.what).collect();
    assert_eq!(left_out, ["tag RUNNER"]);
    let version = &imported.tools[0].metadata()["inputSchema"]["properties"]["VERSION"];
    assert_eq!(version["pattern"], mcp_bash_hazards::HARMLESS);
}

#[test]
fn a_variable_that_is_run_is_not_an_argument() {
    let text = "\
TOOL ?= ls
CC ?= cc
PYTHON ?= python3
RUN = $(PYTHON) -m
CODE ?= 1
WHERE ?= here
FLAG ?= x
MK ?= x
SH ?= sh
SHELL = /bin/$(SH)
NEXT ?= x
TWO = a $(NEXT)
include $(MK).mk
.PHONY: all
all:
\t@$(TOOL) $(WHERE)
\t$(RUN) module
\tcd x && $${FLAG} y
\techo $(CODE) | sh -c '$(CODE)'
\techo $(SH) $(MK)
\tenv A=$(TWO) echo
";
    let imported = read(text, HERE);
    assert_eq!(commands(&imported), ["make all [WHERE={WHERE}]: Runs the target `all` of Makefile"]);
    let left_out: Vec<&str> = imported.left_out.iter().map(|left| &*left.what).collect();
    assert_eq!(
        left_out,
        [
            "include $(MK).mk",
            "all CODE",
            "all FLAG",
            "all MK",
            "all NEXT",
            "all PYTHON",
            "all SH",
            "all TOOL"
        ]
    );
}

#[test]
fn without_any_mark_all_targets_are_offered() {
    let file = FileLocation { folder: "sub dir", file: "build.mk" };
    let imported = read("a b: c\n\techo\n.hidden:\n$(X): y\nc::\n\techo\n", file);
    assert_eq!(
            commands(&imported),
            ["a", "b", "c"].map(|name| {
                format!(
                    "make --no-print-directory -C 'sub dir' -f build.mk {name}: Runs the target `{name}` of build.mk"
                )
            })
        );
}

#[test]
fn circles_and_many_targets_end() {
    let names: Vec<String> = (0..3000).map(|number| format!("t{number}")).collect();
    let lines = names.iter().map(|name| format!("{name}: {}\nA ?= $(A)$(B)\nB ?= $(A)\n", names[0]));
    let text = lines.collect::<Vec<_>>().concat();
    assert_eq!(read(&text, HERE).tools.len(), crate::MOST_TOOLS);
}

proptest! {
    #[test]
    fn no_text_makes_it_panic(text in "([a-zA-Z#:=?+$(){} \\t\\n\\\\%.é-]){0,200}") {
        read(&text, HERE);
    }
}
