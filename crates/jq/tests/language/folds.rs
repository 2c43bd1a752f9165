//! `reduce` and `foreach`: how their state changes.

use crate::check;

#[test]
fn an_update_without_a_result_leaves_null() {
    check(&[
        ("reduce range(5) as $x (0; empty)", "null", "null"),
        ("reduce range(5) as $x (0; if $x == 2 then empty else . + $x end)", "null", "7"),
        ("reduce .[] as $x (0; select($x > 1) | . + $x)", "[2,1,3]", "3"),
        ("reduce .[] as $x (0; error(\"no\")?)", "[1,2]", "null"),
        ("reduce empty as $x (0; empty)", "null", "0"),
        ("[foreach range(5) as $x (0; empty)]", "null", "[]"),
        ("[foreach range(5) as $x (0; if $x == 2 then empty else . + $x end)]", "null", "[0,1,3,7]"),
        (
            "[foreach range(4) as $x (0; if $x == 2 then empty else . + $x end; [$x, .])]",
            "null",
            "[[0,0],[1,1],[3,3]]",
        ),
    ]);
}

#[test]
fn the_last_of_several_results_is_the_next_state() {
    check(&[
        ("reduce range(5) as $x (0; . + $x, . * 2)", "null", "0"),
        ("reduce range(5) as $x (1; . + $x, . * 2)", "null", "32"),
        ("reduce range(3) as $x (0; . + $x, empty)", "null", "3"),
        ("[foreach range(3) as $x (1; . + $x, . * 2)]", "null", "[1,2,3,4,6,8]"),
        ("[foreach range(2) as $x (1; . + $x, . * 2; [$x, .])]", "null", "[[0,1],[0,2],[1,3],[1,4]]"),
        ("[limit(3; foreach range(10) as $x (0; . + $x, . + 1))]", "null", "[0,1,2]"),
        ("[foreach .[] as $x (0, 1; . + $x)]", "[1,2]", "[1,3,2,4]"),
    ]);
}

#[test]
fn the_source_may_be_an_operation() {
    check(&[
        ("reduce .[] / .[] as $i (0; . + $i)", "[1,2]", "4.5"),
        ("[foreach .[] / .[] as $i (0; . + $i)]", "[1,2]", "[1,3,3.5,4.5]"),
        ("reduce .[] // 5 as $i (0; . + $i)", "[1,2]", "3"),
        ("reduce .[] and true as $i (0; . + 1)", "[1,2]", "2"),
        ("reduce reduce .[] as $x (0; . + $x) + 1 as $i (0; . + $i)", "[1,2]", "4"),
        ("reduce if . as $x | $x then .[] else 1 end + 1 as $i (0; . + $i)", "[1,2]", "5"),
        ("{reduce: 1 + 1, as: 2} | .reduce + .as", "null", "4"),
    ]);
}

#[test]
fn the_pattern_may_be_a_choice() {
    check(&[
        ("reduce .[] as [$a] ?// $a (0; . + $a)", "[[1],2]", "3"),
        ("[foreach .[] as {a: $a} ?// [$a] (0; . + $a; [., $a])]", "[[1],{\"a\":2}]", "[[1,1],[3,2]]"),
        ("reduce .[] as [$a] ?// {$b} (0; . + $a + $b)", "[[1],{\"b\":2}]", "3"),
    ]);
}
