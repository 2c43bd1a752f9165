use super::{ChildRecord, Deed, FakeChildren};
use crate::{
    Input, Invocation, Outcome, Overrun, ProcessEnding, Question, Runner, StateDir, Talk, TimeLimits,
    Variables,
};
use mcp_bash_budget::Budget;
use mcp_bash_sandbox::Confinement;
use std::io::{Seek, Write};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep, timeout};

const SECOND: Duration = Duration::from_secs(1);

struct Stage {
    children: FakeChildren,
    runner: Runner,
    budget: Arc<Budget>,
    _folder: TempDir,
}

impl Stage {
    /// A scene in which each process does the same.
    fn doing(deeds: impl Into<Vec<Deed>>) -> Self {
        let deeds = deeds.into();
        let folder = tempfile::tempdir().unwrap();
        let children = FakeChildren::new(move |_| deeds.clone());
        let state_dir = Arc::new(StateDir::new(folder.path().to_owned(), false));
        let runner = Runner::pretending(state_dir, &children);
        Self { children, runner, budget: Budget::new(1 << 20, "NOTHING"), _folder: folder }
    }

    /// An invocation of a program that does not exist, with a timeout of ten seconds and a grace of five.
    fn invocation(&self) -> Invocation<'static> {
        Invocation {
            program: "/nowhere/program".into(),
            arguments: vec!["an argument".into()],
            directory: "/nowhere".into(),
            environment: Variables::from_iter([("NAME".into(), "value".into())]),
            input: Input::Bytes(b"input"),
            patience: TimeLimits::fixed(10 * SECOND),
            grace: 5 * SECOND,
            output_limit: 200_000,
            budget: Arc::clone(&self.budget),
            error_tail: 8,
            talk: None,
            confinement: Confinement::default(),
        }
    }

    async fn run(&self) -> Outcome {
        self.runner.run(self.invocation(), std::future::pending(), |_| (), drop).await.unwrap()
    }

    /// Runs a process that can talk, and returns the lines of its side channel too.
    async fn run_with_talk(
        &self,
        patience: TimeLimits,
        on_question: impl FnMut(Question),
    ) -> (Outcome, Vec<String>) {
        let folder = self.runner.folder().unwrap();
        let talk =
            Talk { folder: &folder, side_channel: &["CHANNEL"], questions: Some(["A", "B", "C", "D"]) };
        let invocation = Invocation { talk: Some(talk), patience, ..self.invocation() };
        let mut lines = Vec::new();
        let on_line = |line: &[u8]| lines.push(String::from_utf8_lossy(line).into_owned());
        let outcome =
            self.runner.run(invocation, std::future::pending(), on_line, on_question).await.unwrap();
        (outcome, lines)
    }

    fn record(&self) -> ChildRecord {
        self.children.records().pop().unwrap()
    }
}

#[tokio::test(start_paused = true)]
async fn it_prints_and_exits_as_it_was_told() {
    let stage = Stage::doing([
        Deed::Print("some ".into()),
        Deed::PrintError("the beginning and the end".into()),
        Deed::Print("text".into()),
        Deed::Exit(3),
        Deed::Print("never".into()),
    ]);
    let outcome = stage.run().await;
    assert_eq!(outcome.ending, ProcessEnding::Exited(3));
    assert_eq!(outcome.stdout, b"some text");
    assert_eq!(outcome.stderr, b" the end");

    assert_eq!(Stage::doing([]).run().await.ending, ProcessEnding::Exited(0));
    assert_eq!(Stage::doing([Deed::DieBy(11)]).run().await.ending, ProcessEnding::Signalled(11));
}

#[tokio::test(start_paused = true)]
async fn it_records_its_arguments_and_environment() {
    let stage = Stage::doing([]);
    stage.run().await;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(b"skipped, read").unwrap();
    file.seek(std::io::SeekFrom::Start(9)).unwrap();
    let confinement = Confinement::default().without_new_privileges();
    let invocation = Invocation { input: Input::File(file), confinement, ..stage.invocation() };
    stage.runner.run(invocation, std::future::pending(), |_| (), drop).await.unwrap();

    let [first, second] = stage.children.records().try_into().unwrap();
    let ChildRecord { started_with, answers, ending } = first;
    assert_eq!(started_with.program.to_str(), Some("/nowhere/program"));
    assert_eq!(started_with.arguments, ["an argument"]);
    assert_eq!(started_with.directory.to_str(), Some("/nowhere"));
    assert_eq!(started_with.environment.get("NAME"), Some("value".as_ref()));
    assert_eq!(started_with.input, b"input");
    assert!(started_with.confinement.steps().is_empty());
    assert!(!started_with.has_side_channel && !started_with.may_ask);
    assert!(answers.is_empty());
    assert_eq!(ending, Some(ProcessEnding::Exited(0)));
    assert_eq!(second.started_with.input, b"read");
    assert_eq!(second.started_with.confinement.steps().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_it_does_may_depend_on_what_it_was_started_with() {
    let children = FakeChildren::new(|with| vec![Deed::Print(with.input.clone())]);
    let stage = Stage::doing([]);
    let runner = Runner::pretending(Arc::new(StateDir::new(std::env::temp_dir(), false)), &children);
    let outcome = runner.run(stage.invocation(), std::future::pending(), |_| (), drop).await.unwrap();
    assert_eq!(outcome.stdout, b"input");
}

#[tokio::test(start_paused = true)]
async fn it_is_terminated_at_its_deadline() {
    let stage = Stage::doing([Deed::Print("text".into()), Deed::Wait(60 * SECOND)]);
    let start = Instant::now();
    let outcome = stage.run().await;
    assert_eq!(outcome.ending, ProcessEnding::TimedOut(Overrun::Fixed));
    assert_eq!(outcome.stdout, b"text");
    assert_eq!(start.elapsed().as_secs(), 10);
    assert_eq!(stage.record().ending, Some(ProcessEnding::Signalled(15)));
}

#[tokio::test(start_paused = true)]
async fn it_is_killed_after_its_grace_if_it_ignores_termination() {
    let stage = Stage::doing([Deed::IgnoreTermination, Deed::Wait(60 * SECOND)]);
    let start = Instant::now();
    assert_eq!(stage.run().await.ending, ProcessEnding::TimedOut(Overrun::Fixed));
    assert_eq!(start.elapsed().as_secs(), 15);
    assert_eq!(stage.record().ending, Some(ProcessEnding::Signalled(9)));
}

/// A signal that was ignored is not delivered later.
#[tokio::test(start_paused = true)]
async fn what_it_does_in_its_grace_is_not_lost() {
    let stage = Stage::doing([
        Deed::IgnoreTermination,
        Deed::Wait(12 * SECOND),
        Deed::HonourTermination,
        Deed::Print("clean".into()),
        Deed::Exit(7),
    ]);
    let outcome = stage.run().await;
    assert_eq!(outcome.ending, ProcessEnding::TimedOut(Overrun::Fixed));
    assert_eq!(outcome.stdout, b"clean");
    assert_eq!(stage.record().ending, Some(ProcessEnding::Exited(7)));
}

#[tokio::test(start_paused = true)]
async fn its_lines_extend_its_time() {
    let step = [Deed::Wait(8 * SECOND), Deed::WriteLine("line".into())];
    let patience = |most: u32| TimeLimits { most: Some(most * SECOND), ..TimeLimits::fixed(10 * SECOND) };
    let stage = Stage::doing([&step[..]; 3].concat());
    let (outcome, lines) = stage.run_with_talk(patience(100), drop).await;
    assert_eq!((outcome.ending, lines.len()), (ProcessEnding::Exited(0), 3));

    let (outcome, lines) = stage.run_with_talk(patience(20), drop).await;
    assert_eq!((outcome.ending, lines.len()), (ProcessEnding::TimedOut(Overrun::Most), 2));

    let stage = Stage::doing([Deed::WriteLine("line".into()), Deed::Wait(20 * SECOND)]);
    let (outcome, lines) = stage.run_with_talk(patience(100), drop).await;
    assert_eq!((outcome.ending, &*lines), (ProcessEnding::TimedOut(Overrun::Idle), &["line".to_owned()][..]));
}

#[tokio::test(start_paused = true)]
async fn its_timeout_pauses_while_it_waits_for_an_answer() {
    let stage = Stage::doing([Deed::Wait(6 * SECOND), Deed::Ask("what?".into()), Deed::Wait(3 * SECOND)]);
    let patience = TimeLimits { pause: 1000 * SECOND, ..TimeLimits::fixed(10 * SECOND) };
    let answer_late = |question: Question| {
        assert_eq!(question.text.as_deref(), Ok(&b"what?"[..]));
        tokio::spawn(async move {
            sleep(100 * SECOND).await;
            question.answer(b"that".to_vec());
        });
    };
    let start = Instant::now();
    let (outcome, _) = stage.run_with_talk(patience, answer_late).await;
    assert_eq!(outcome.ending, ProcessEnding::Exited(0));
    assert_eq!(start.elapsed().as_secs(), 109);
    assert_eq!(stage.record().answers, [Some(b"that".to_vec())]);

    let patience = TimeLimits { pause: 50 * SECOND, ..patience };
    let (outcome, _) = stage.run_with_talk(patience, answer_late).await;
    assert_eq!(outcome.ending, ProcessEnding::TimedOut(Overrun::Fixed));
    assert!(stage.record().answers.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_question_may_stay_without_an_answer() {
    let stage = Stage::doing([Deed::Ask("first".into()), Deed::Ask("second".into())]);
    let mut count = 0;
    let answer_second = |question: Question| {
        count += 1;
        if count == 2 {
            question.answer(b"yes".to_vec());
        }
    };
    let (outcome, _) = stage.run_with_talk(TimeLimits::fixed(10 * SECOND), answer_second).await;
    assert_eq!(outcome.ending, ProcessEnding::Exited(0));
    assert_eq!(stage.record().answers, [None, Some(b"yes".to_vec())]);
}

#[tokio::test(start_paused = true)]
async fn a_question_is_withdrawn_when_its_process_ends() {
    let stage = Stage::doing([Deed::Ask("what?".into())]);
    let mut withdrawn = None;
    let wait = |mut question: Question| {
        withdrawn = Some(tokio::spawn(async move { question.withdrawn().await }));
    };
    let (outcome, _) = stage.run_with_talk(TimeLimits::fixed(10 * SECOND), wait).await;
    assert_eq!(outcome.ending, ProcessEnding::TimedOut(Overrun::Fixed));
    withdrawn.unwrap().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_question_without_room_says_so() {
    let stage = Stage::doing([Deed::Ask(vec![b'x'; 2 << 20])]);
    let mut refused = false;
    let look = |question: Question| refused = question.text.is_err();
    stage.run_with_talk(TimeLimits::fixed(10 * SECOND), look).await;
    assert!(refused);
    assert_eq!(stage.budget.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn too_much_output_ends_it() {
    let stage = Stage::doing([Deed::Print(vec![b'x'; 300_000]), Deed::Wait(60 * SECOND)]);
    let outcome = stage.run().await;
    assert_eq!(outcome.ending, ProcessEnding::OutputTooLarge);
    assert_eq!(outcome.stdout.len(), 200_000);
    assert!(matches!(stage.record().ending, Some(ProcessEnding::Signalled(_))));
}

#[tokio::test(start_paused = true)]
async fn its_output_is_charged_while_it_is_held() {
    let stage = Stage::doing([Deed::Print(vec![b'x'; 150_000])]);
    let outcome = stage.run().await;
    assert_eq!(outcome.stdout.len(), 150_000);
    assert_eq!(stage.budget.used(), 150_000);
    drop(outcome);
    assert_eq!(stage.budget.used(), 0);

    let stage = Stage { budget: Budget::new(100_000, "NOTHING"), ..stage };
    let outcome = stage.run().await;
    assert!(matches!(outcome.ending, ProcessEnding::NoRoom(_)), "{:?}", outcome.ending);
    assert_eq!(stage.budget.used(), 0);
}

#[tokio::test(start_paused = true)]
async fn it_ends_when_it_is_cancelled() {
    let stage = Stage::doing([Deed::Wait(60 * SECOND)]);
    let start = Instant::now();
    let outcome = stage.runner.run(stage.invocation(), sleep(2 * SECOND), |_| (), drop).await.unwrap();
    assert_eq!(outcome.ending, ProcessEnding::Cancelled);
    assert_eq!(start.elapsed().as_secs(), 2);
    assert_eq!(stage.record().ending, Some(ProcessEnding::Signalled(15)));
}

#[tokio::test(start_paused = true)]
async fn it_ends_when_no_caller_waits_for_it() {
    let stage = Stage::doing([Deed::IgnoreTermination, Deed::Wait(60 * SECOND)]);
    timeout(2 * SECOND, stage.run()).await.unwrap_err();
    assert_eq!(stage.record().ending, Some(ProcessEnding::Signalled(9)));
}

#[tokio::test(start_paused = true)]
async fn it_waits_for_the_test() {
    let go = Arc::new(Notify::new());
    let stage = Stage::doing([Deed::WaitFor(Arc::clone(&go)), Deed::Print("gone on".into())]);
    let goes_on = async {
        sleep(4 * SECOND).await;
        assert_eq!(stage.record().ending, None, "it runs");
        go.notify_one();
    };
    let start = Instant::now();
    let (outcome, ()) = tokio::join!(stage.run(), goes_on);
    assert_eq!(outcome.stdout, b"gone on");
    assert_eq!(start.elapsed().as_secs(), 4);
}

#[tokio::test(start_paused = true)]
async fn all_end_with_their_runner() {
    for deed in [Deed::HonourTermination, Deed::IgnoreTermination] {
        let stage = Stage::doing([deed, Deed::Wait(5 * SECOND)]);
        let end = async {
            sleep(SECOND).await;
            stage.runner.end_all(60 * SECOND);
        };
        let (outcome, ()) = tokio::join!(stage.run(), end);
        assert_eq!(outcome.ending, ProcessEnding::Shutdown);
        let late = stage.runner.run(stage.invocation(), std::future::pending(), |_| (), drop).await;
        assert!(late.unwrap_err().to_string().contains("the server is ending"));
    }
}
