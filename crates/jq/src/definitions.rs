//! Definitions: the filters that are written in jq itself.

/// The source of a definition by its name and number of parameters.
pub(crate) fn find(name: &str, arity: usize) -> Option<&'static str> {
    DEFINITIONS
        .iter()
        .find(|(known, count, _)| *known == name && *count == arity)
        .map(|(_, _, source)| *source)
}

/// Name, number of parameters, source.
#[rustfmt::skip]
pub(crate) const DEFINITIONS: &[(&str, usize, &str)] = &[
    // Written so that a path can lead through them, and end there.
    ("empty", 0, "def empty: [][] as $never | .;"),
    ("error", 0, "def error: _error as $never | .;"),
    ("error", 1, "def error(message): message | error;"),
    ("map", 1, "def map(f): [.[] | f];"),
    ("select", 1, "def select(f): if f then . else empty end;"),
    ("recurse", 0, "def recurse: recurse(.[]?);"),
    ("recurse", 1, "def recurse(f): def descend: ., (f | descend); descend;"),
    ("recurse", 2, "def recurse(f; condition): def descend: ., (f | select(condition) | descend); descend;"),
    ("values", 0, "def values: select(. != null);"),
    ("nulls", 0, "def nulls: select(. == null);"),
    ("booleans", 0, "def booleans: select(type == \"boolean\");"),
    ("numbers", 0, "def numbers: select(type == \"number\");"),
    ("strings", 0, "def strings: select(type == \"string\");"),
    ("arrays", 0, "def arrays: select(type == \"array\");"),
    ("objects", 0, "def objects: select(type == \"object\");"),
    ("iterables", 0, "def iterables: select(type | . == \"array\" or . == \"object\");"),
    ("scalars", 0, "def scalars: select(type | . != \"array\" and . != \"object\");"),
    ("finites", 0, "def finites: select(isfinite);"),
    ("normals", 0, "def normals: select(isnormal);"),
    ("isfinite", 0, "def isfinite: type == \"number\" and (isinfinite | not);"),
    ("isvalid", 1, "def isvalid(f): try (f | true) catch false;"),
    ("add", 1, "def add(f): reduce f as $item (null; . + $item);"),
    ("range", 1, "def range($to): _range(0; $to);"),
    ("range", 2, "def range($from; $to): _range($from; $to);"),
    ("range", 3, "def range($from; $to; $by): _range($from; $to; $by);"),
    ("first", 0, "def first: .[0];"),
    ("last", 0, "def last: .[-1];"),
    ("nth", 1, "def nth($n): .[$n];"),
    ("nth", 2, "def nth($n; f): if $n < 0 then error(\"nth doesn't support negative indices\") else first(_skip($n | floor; f)) end;"),
    ("limit", 2, "def limit($n; f): if $n < 0 then error(\"limit doesn't support negative count\") else _limit($n; f) end;"),
    ("skip", 2, "def skip($n; f): if $n < 0 then error(\"skip doesn't support negative count\") else _skip($n | floor; f) end;"),
    ("until", 2, "def until(done; next): def again: if done then . else next | again end; again;"),
    ("while", 2, "def while(condition; next): def again: if condition then ., (next | again) else empty end; again;"),
    ("repeat", 1, "def repeat(f): def again: f, again; again;"),
    ("isempty", 1, "def isempty(f): first((f | false), true);"),
    ("any", 0, "def any: any(.[]; .);"),
    ("any", 1, "def any(condition): any(.[]; condition);"),
    ("any", 2, "def any(f; condition): isempty(first(f | condition | select(.))) | not;"),
    ("all", 0, "def all: all(.[]; .);"),
    ("all", 1, "def all(condition): all(.[]; condition);"),
    ("all", 2, "def all(f; condition): isempty(first(f | condition | select(not)));"),
    ("in", 1, "def in(container): . as $key | container | has($key);"),
    ("inside", 1, "def inside(container): . as $part | container | contains($part);"),
    ("index", 1, "def index($part): indices($part) | .[0];"),
    ("rindex", 1, "def rindex($part): indices($part) | .[-1];"),
    ("combinations", 0, "def combinations: if length == 0 then [] else .[0][] as $head | (.[1:] | combinations) as $rest | [$head] + $rest end;"),
    ("combinations", 1, "def combinations(n): . as $items | [range(n)] | map($items) | combinations;"),
    ("with_entries", 1, "def with_entries(f): to_entries | map(f) | from_entries;"),
    ("map_values", 1, "def map_values(f): .[] |= f;"),
    ("walk", 1, "def walk(f): def descend: if type == \"object\" then map_values(descend) elif type == \"array\" then map(descend) else . end | f; descend;"),
    ("env", 0, "def env: $ENV;"),
    ("del", 1, "def del(f): delpaths([path(f)]);"),
    ("getpath", 1, "def getpath($path): if ($path | type) != \"array\" then error(\"Path must be specified as an array\") elif ($path | length) > 10000 then error(\"Path too deep\") else reduce $path[] as $key (.; .[$key]) end;"),
    ("paths", 0, "def paths: path(..) | select(length > 0);"),
    ("paths", 1, "def paths(condition): path(.. | select(condition)) | select(length > 0);"),
    ("leaf_paths", 0, "def leaf_paths: paths(scalars);"),
    ("pick", 1, "def pick(f): . as $whole | reduce path(f) as $path (null; setpath($path; $whole | getpath($path)));"),
    ("toarray", 0, "def toarray: if type == \"array\" then . else [.] end;"),
    ("sort_by", 1, "def sort_by(f): _sort_by(map([f]));"),
    ("group_by", 1, "def group_by(f): _group_by(map([f]));"),
    ("unique_by", 1, "def unique_by(f): _group_by(map([f])) | map(.[0]);"),
    ("min_by", 1, "def min_by(f): _min_by(map([f]));"),
    ("max_by", 1, "def max_by(f): _max_by(map([f]));"),
    ("match", 1, "def match($pattern): if ($pattern | type) == \"array\" then match($pattern[0]; $pattern[1]) else match($pattern; null) end;"),
    ("match", 2, "def match(pattern; flags): _match(pattern; flags; false)[];"),
    ("test", 1, "def test($pattern): if ($pattern | type) == \"array\" then test($pattern[0]; $pattern[1]) else test($pattern; null) end;"),
    ("test", 2, "def test(pattern; flags): _match(pattern; flags; true);"),
    ("capture", 1, "def capture($pattern): match($pattern) | _captured;"),
    ("capture", 2, "def capture(pattern; flags): match(pattern; flags) | _captured;"),
    ("scan", 1, "def scan($pattern): scan($pattern; null);"),
    ("scan", 2, "def scan($pattern; $flags): match($pattern; \"g\" + $flags) | if (.captures | length) > 0 then [.captures[].string] else .string end;"),
    ("split", 2, "def split($pattern; $flags): [splits($pattern; $flags)];"),
    ("splits", 1, "def splits($pattern): splits($pattern; null);"),
    ("splits", 2, "def splits($pattern; $flags): . as $whole | _match($pattern; \"g\" + $flags; false) | _between($whole)[];"),
    ("sub", 2, "def sub($pattern; replacement): sub($pattern; replacement; \"\");"),
    ("sub", 3, "def sub($pattern; replacement; $flags): . as $whole | _match($pattern; $flags; false) | map([., [_captured | replacement]]) | _replaced($whole)[];"),
    ("gsub", 2, "def gsub($pattern; replacement): sub($pattern; replacement; \"g\");"),
    ("gsub", 3, "def gsub($pattern; replacement; $flags): sub($pattern; replacement; $flags + \"g\");"),
    ("ascii", 0, "def ascii: [.] | implode;"),
    ("todate", 0, "def todate: strftime(\"%Y-%m-%dT%H:%M:%SZ\");"),
    ("todateiso8601", 0, "def todateiso8601: todate;"),
    ("fromdate", 0, "def fromdate: strptime(\"%Y-%m-%dT%H:%M:%SZ\") | mktime;"),
    ("fromdateiso8601", 0, "def fromdateiso8601: fromdate;"),
    ("date", 0, "def date: todate;"),
    ("dateadd", 2, "def dateadd(unit; amount): . + amount;"),
    ("datesub", 2, "def datesub(unit; amount): . - amount;"),
    ("debug", 1, "def debug(messages): (messages | debug | empty), .;"),
    ("halt_error", 0, "def halt_error: halt_error(5);"),
    ("fromstream", 1, "def fromstream(f): {value: null, whole: false} as $none | foreach f as $event ($none; if .whole then $none else . end | ($event[0] | length) as $depth | if ($event | length) == 2 then {value: (.value | setpath($event[0]; $event[1])), whole: ($depth == 0)} else {value, whole: ($depth == 1)} end; if .whole then .value else empty end);"),
    ("truncate_stream", 1, "def truncate_stream(f): . as $depth | null | f | select((.[0] | length) > $depth) | .[0] |= .[$depth:];"),
    ("tostream", 0, "def tostream: _events[];"),
    ("INDEX", 1, "def INDEX(f): INDEX(.[]; f);"),
    ("INDEX", 2, "def INDEX(rows; f): reduce rows as $row ({}; .[$row | f | tostring] = $row);"),
    ("IN", 1, "def IN(f): any(f == .; .);"),
    ("IN", 2, "def IN(f; g): any(f == g; .);"),
    ("JOIN", 2, "def JOIN($index; f): [.[] | [., $index[f]]];"),
    ("JOIN", 3, "def JOIN($index; rows; f): rows | [., $index[f]];"),
    ("JOIN", 4, "def JOIN($index; rows; f; joined): rows | [., $index[f]] | joined;"),
    ("have_literal_numbers", 0, "def have_literal_numbers: true;"),
    ("have_decnum", 0, "def have_decnum: true;"),
    ("get_search_list", 0, "def get_search_list: [];"),
];

#[cfg(test)]
mod tests {
    use super::DEFINITIONS;

    #[test]
    fn every_definition_is_what_the_table_says() {
        for (name, arity, source) in DEFINITIONS {
            let parsed = jaq_core::load::parse(source, |parser| parser.defs());
            let parsed = parsed.unwrap_or_else(|| panic!("{name}/{arity} does not parse"));
            assert_eq!(parsed.len(), 1, "{name}/{arity}");
            assert_eq!((parsed[0].name, parsed[0].args.len()), (*name, *arity));
            let twins = DEFINITIONS.iter().filter(|(other, count, _)| other == name && count == arity);
            assert_eq!(twins.count(), 1, "{name}/{arity} stands twice");
            let program = format!("def use({}): {name}{}; 1", PARAMETERS[*arity], CALLS[*arity])
                .replace("use()", "use");
            assert!(
                crate::program::compile(&program, &["$ENV".into()]).is_ok(),
                "{name}/{arity} does not compile"
            );
        }
    }

    const PARAMETERS: [&str; 5] = ["", "a", "a; b", "a; b; c", "a; b; c; d"];
    const CALLS: [&str; 5] = ["", "(a)", "(a; b)", "(a; b; c)", "(a; b; c; d)"];
}
