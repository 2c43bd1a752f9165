//! Idioms of Perl scripts, each with the command of its draft.

use crate::scripts::{ScriptCommand, ScriptLanguage, read};
use crate::tool::Tool;

fn tool(text: &str) -> Tool {
    let words = ["./x".to_owned()];
    let command = ScriptCommand { name: "x", words: &words, is_own: true, all_options: false };
    read(text, ScriptLanguage::Perl, command).unwrap().tools.remove(0)
}

#[test]
fn loops_over_the_words_are_read() {
    for (text, expected) in [
        (
            "while (@ARGV) {\n  $_ = shift @ARGV;\n  if (/^--build=(.*)$/) { $b = $1; }\n  elsif (m/^-(?:\\?|-help)$/) { usage(); }\n  elsif (m/^-q$/) { $q = 1; }\n  else { usage(\"unknown $_\"); }\n}\n",
            "./x [--build={build}] [-q]",
        ),
        (
            "while (my $arg = shift @ARGV) {\n  if ($arg eq '-a' or $arg eq '--arch') { $arch = shift @ARGV; }\n  elsif ($arg eq '-f') { $force = 1; }\n  else { die; }\n}\n",
            "./x [--arch {arch}] [-f]",
        ),
        (
            "for my $arg (@ARGV) {\n  if ($arg =~ /^-/) {\n    if ($arg =~ /^--x=(\\d+)$/) { $x = $1; }\n    elsif ($arg =~ /^--auto=(yes|no)$/) { $a = $1; }\n    else { die $usage; }\n  } else { push @files, $arg; }\n}\n",
            "./x [--x={x}] [--auto={auto}] [{files...}]",
        ),
        (
            "while ($ARGV[0] =~ /^-/) {\n  my $flag = shift @ARGV;\n  last if ($flag eq '--');\n  if ($flag eq '-n') { $n = 1; }\n  else { die; }\n}\n@dirs = @ARGV;\n",
            "./x [-n] [{dirs...}]",
        ),
        (
            "while (@ARGV) {\n  $_ = shift(@ARGV);\n  if (m/^--(get|origin)$/) {\n    $action = $1;\n    $param = shift(@ARGV);\n  }\n  elsif (m/^-s([ab])$/) { $s = $1; }\n  else { usage(); }\n}\n",
            "./x [--get {get}] [--origin {origin}] [-sa] [-sb]",
        ),
        (
            "foreach (@ARGV) {\n  if (m/^-O$/) { $o = 1; }\n  elsif (m/^-/) { usageerr($_); }\n  else { $exec{$_} = $field; }\n}\n",
            "./x [-O] [{exec...}]",
        ),
        (
            "foreach my $option (@ARGV) {\n  if ( $option =~ s/--set-default=// ) { $d = $option; }\n  elsif ($option eq '--debug') { debug(); }\n}\n",
            "./x [--set-default={set-default}] [--debug]",
        ),
    ] {
        let tool = tool(text);
        assert_eq!(tool.command_words(), expected, "{text}");
        assert!(tool.doubts.is_empty(), "{text}: {:?}", tool.doubts);
    }
}

#[test]
fn words_by_position_are_read() {
    for (text, expected) in [
        ("die \"no\" if @ARGV != 2;\nmy ($from, $to) = @ARGV;\n", "./x {from} {to}"),
        ("my $file = shift;\nprint $file;\n", "./x [{file}]"),
        ("sub f { my $no = shift; }\nmy $file = shift // 'all';\nf($file);\n", "./x [{file}]"),
        ("unless (@ARGV == 1) { die }\nmy $name = $ARGV[0];\n", "./x {name}"),
        ("while (<>) { print }\n", "./x [{files...}]"),
        (
            "use Getopt::Long;\nmy @saved = @ARGV;\nGetOptions('n' => \\$n);\nmy $file = shift;\n",
            "./x [-n] [{file}]",
        ),
        (
            "use Getopt::Long;\nmy @table = (\n 'help|?' => sub { usage() },\n 'dry-run|n' => \\$n,\n);\nGetOptions(@table);\n",
            "./x [--dry-run]",
        ),
        (
            "use Getopt::Long;\nmy @table = ('exit=i', 'utf8!');\nGetOptions(\\%o, @table);\n",
            "./x [--exit={exit}] [--utf8]",
        ),
        ("use Getopt::Long;\nGetOptions(\\%o, 'most=n');\n", "./x [--most={most}]"),
        (
            "use Getopt::Std;\ngetopts('n', \\%o);\nmake($o{n}, @ARGV);\n\n=head1 SYNOPSIS\n\n  x [-n] <file> | <folder>\n\n=cut\n",
            "./x [-n] {file}",
        ),
    ] {
        let tool = tool(text);
        assert_eq!(tool.command_words(), expected, "{text}");
        assert!(tool.doubts.is_empty(), "{text}: {:?}", tool.doubts);
    }
}

#[test]
fn words_that_code_hands_on_are_one_list() {
    let tool = tool("use Getopt::Std;\ngetopts('n', \\%o);\nmake($o{n}, @ARGV);\n");
    assert_eq!(tool.command_words(), "./x [-n] [{args...}]");
    assert_eq!(
        tool.gaps,
        ["its words besides options are one list, `args`: which of them it needs is not clear"]
    );
    assert!(tool.doubts.is_empty(), "{:?}", tool.doubts);
}

#[test]
fn what_is_not_certain_is_said() {
    for text in [
        // Options with names that the caller would choose.
        "foreach (@ARGV) {\n  if (/^--(.*?)=(.*)$/) { $$1 = $2; }\n}\n",
        // Letters in one word.
        "while ($ARGV[0] =~ /^-/) {\n  $ARGV[0] =~ s/^-//;\n  for my $flag (split(//, $ARGV[0])) { $on{$flag} = 1; }\n  shift;\n}\n",
        // A value that may be there.
        "while (@ARGV) {\n  $_ = shift @ARGV;\n  if (/^-s$/) { if (-d $ARGV[0]) { $d = shift @ARGV; } }\n  else { die }\n}\n",
        // A condition on more than the word.
        "while (my $arg = shift @ARGV) {\n  if ($arg eq '-x' && $mode eq 'a') { $x = 1; }\n}\n",
        // A pattern that only the program knows.
        "foreach (@ARGV) {\n  if (/^--$known=(.*)$/) { $x = $1; }\n}\n",
        "some_function(@ARGV);\n",
        "@ARGV = reverse @ARGV;\nmy $file = shift;\n",
        "if ($ARGV[0] eq '--local') { $local = 1; }\n",
        "print $ARGV[$which];\n",
        "my ($a, $b) = @ARGV;\n",
        "Some::Module->getopt('usage');\nmy $file = shift;\n",
        "use Getopt::Std;\ngetopts('n', \\%o);\nmake($o{n}, @ARGV);\n\n=head1 SYNOPSIS\n\n  x [-n]\n\n=cut\n",
    ] {
        let tool = tool(text);
        assert!(!tool.doubts.is_empty(), "{text}: {}", tool.command_words());
    }
}

#[test]
fn words_that_are_run_are_refused() {
    let words = ["./x".to_owned()];
    let command = ScriptCommand { name: "x", words: &words, is_own: true, all_options: false };
    assert!(read("exec @ARGV;\n", ScriptLanguage::Perl, command).is_err());
    assert!(read("system(@ARGV) == 0 or die;\n", ScriptLanguage::Perl, command).is_err());
    let some = tool(
        "while (@ARGV) {\n  $_ = shift @ARGV;\n  if (/^-c$/) { last; }\n  else { die }\n}\nexec @ARGV;\n",
    );
    assert_eq!(some.command_words(), "./x [-c]");
    assert!(!some.doubts.is_empty());
}
