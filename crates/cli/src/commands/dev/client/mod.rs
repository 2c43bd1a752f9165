//! `mcp-bash dev --client`: a prompt to call tools by hand, while the project is being worked on.
//!
//! A thread of its own reads the lines, so that neither shutdown nor changes of the project wait for the user. Without a
//! terminal, the lines of standard input are commands, for scripts.

mod commands;
mod editor;
mod history;
mod keys;
mod prompt;
mod vocabulary;

use super::screen::Screen;
use super::view::View;
use crate::base::common::Common;
use crate::base::error::Error;
use crate::base::exit::Exit;
use crate::commands::serve;
use crate::open::connect::{Conversation, Failure, OpenProject};
use crate::open::talk::Talk;
use crate::terminal::host::CommandLineHost;
use commands::Next;
use editor::Editor;
use history::History;
use mcp_bash_project::Location;
use mcp_bash_server::{Log, Server, Style};
use mcp_bash_terminal::words::Length;
use mcp_bash_terminal::{Terminal, can_ask, tell};
use prompt::{Display, Typed};
use std::io::{self, BufRead};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use vocabulary::Vocabulary;

pub(super) fn run(common: &Common) -> Result<ExitCode, Error> {
    let is_terminal = can_ask();
    let display = Display::of_stdin().filter(|_| is_terminal);
    let (mut talk, server) = open(common, display.as_ref())?;
    if display.is_some() && !common.quiet {
        greet(&server);
    }
    let lines = Lines::begin(display.clone(), server).map_err(|source| Error::Start { source })?;
    let ended = converse(&mut talk, lines, display.as_ref());
    talk.end();
    Ok(ended.into())
}

/// Serves the project in memory, follows its changes, and shows them.
fn open(common: &Common, display: Option<&Display>) -> Result<(Talk, Arc<Server>), Error> {
    let mut host = CommandLineHost::new(common, Vec::new());
    // Long text is shown whole, because the rest could not be read later.
    let project = OpenProject::read(common, |settings| {
        super::notice_changes(settings);
        settings.text_limit = 0;
    })?;
    let screen = match display.cloned() {
        Some(display) => Screen::printer(Box::new(move |lines| display.print(&lines))),
        None => Screen::stderr(None),
    };
    let scripts = Arc::clone(&project.scripts);
    let view = Arc::new(View::new(screen, Length::Short, scripts.settings()));
    let log = Log::new(host.level(), Style::Hidden).with_operator(view.operator_for_problems());
    let conversation = Conversation::with_log(project, log, &mut host)?;
    let Some(server) = conversation.server().cloned() else { return Err(Error::NoProject) };
    let location = Location::Folder(server.served().paths().root);
    serve::follow_project(&server, &scripts, Some(view), &location)();
    Ok((Talk::of(conversation, host), server))
}

fn greet(server: &Server) {
    let (root, tools) = server.served().look(|catalog| {
        (
            catalog.paths.root.display().to_string(),
            mcp_bash_terminal::words::counted(catalog.tools.len(), "tool"),
        )
    });
    tell(&format!("{root}: {tools}. `help` says what can be typed, Tab completes, Ctrl-D ends."));
}

/// Runs each line until there are no more.
fn converse(talk: &mut Talk, mut lines: Lines, display: Option<&Display>) -> Exit {
    let terminal = Terminal::of_stdout();
    let mut exit = Exit::Done;
    loop {
        let typed = talk.conversation().wait_for(lines.next());
        let line = match typed {
            Ok(Typed::Line(line)) => line,
            Ok(Typed::Dropped) => continue,
            Ok(Typed::Unreadable(why)) => {
                tell(&why);
                exit = Exit::Failed;
                continue;
            }
            Ok(Typed::End) => return exit,
            Err(_) => {
                if let Some(display) = display {
                    display.restore();
                    tell("");
                }
                return Exit::Interrupted;
            }
        };
        match commands::run(talk, &line, terminal) {
            Ok(Next::Line) => {}
            Ok(Next::Quit) => return exit,
            Err(error) => {
                tell(&error.to_string());
                let is_interrupted = is_interrupted(&error);
                // An interactive user sees the error and goes on; a script receives it at the end.
                if is_interrupted && (display.is_none() || !talk.conversation().goes_on()) {
                    return Exit::Interrupted;
                }
                if display.is_none() {
                    exit = Exit::Failed;
                }
            }
        }
    }
}

fn is_interrupted(error: &Error) -> bool {
    matches!(error, Error::Command { error, .. } if matches!(error.downcast_ref(), Some(Failure::Interrupted)))
}

/// The lines that the user types or a script writes, read by a thread on request.
struct Lines {
    wanted: mpsc::Sender<()>,
    typed: UnboundedReceiver<Typed>,
}

impl Lines {
    fn begin(display: Option<Display>, server: Arc<Server>) -> io::Result<Self> {
        let (wanted, asked) = mpsc::channel();
        let (sender, typed) = unbounded_channel();
        std::thread::Builder::new().name("lines".into()).spawn(move || match display {
            Some(display) => prompted(&display, &server, &asked, &sender),
            None => written(&asked, &sender),
        })?;
        Ok(Self { wanted, typed })
    }

    async fn next(&mut self) -> Typed {
        // If the thread is gone, no more lines come.
        let _ = self.wanted.send(());
        self.typed.recv().await.unwrap_or(Typed::End)
    }
}

fn prompted(display: &Display, server: &Server, asked: &mpsc::Receiver<()>, typed: &UnboundedSender<Typed>) {
    let history = History::of_person();
    let mut editor = Editor::with_history(history.read());
    let complete = |before: &str| server.served().look(Vocabulary::of).complete(before);
    for () in asked {
        let line = prompt::read_line(display, &mut editor, &complete);
        if let Typed::Line(line) = &line {
            history.add(line);
        }
        if typed.send(line).is_err() {
            return;
        }
    }
}

fn written(asked: &mpsc::Receiver<()>, typed: &UnboundedSender<Typed>) {
    let mut lines = io::stdin().lock().split(b'\n');
    for (number, ()) in (1..).zip(asked) {
        let line = match lines.next() {
            Some(Ok(line)) => String::from_utf8(line).map_or_else(
                |_| Typed::Unreadable(format!("line {number} is not UTF-8, and is left out")),
                |line| Typed::Line(line.strip_suffix('\r').unwrap_or(&line).to_owned()),
            ),
            // After a read error, no more lines are requested.
            Some(Err(error)) => {
                let _ = typed.send(Typed::Unreadable(format!("failed to read the commands: {error}")));
                return;
            }
            None => Typed::End,
        };
        if typed.send(line).is_err() {
            return;
        }
    }
}
