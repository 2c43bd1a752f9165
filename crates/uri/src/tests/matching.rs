//! Matching: which values a template finds in a URI.

use crate::{Template, Value};

/// The values that were found, as `name=value`, lists in brackets and maps in braces; or `none`.
fn found(template: &str, uri: &str) -> String {
    let Some(values) = Template::parse(template).unwrap().matches(uri) else { return "none".to_owned() };
    let values: Vec<_> = values.iter().map(|(name, value)| format!("{name}={}", shown(value))).collect();
    values.join(" ")
}

fn shown(value: &Value) -> String {
    match value {
        Value::Text(text) => text.clone(),
        Value::List(items) => format!("[{}]", items.join("|")),
        Value::Map(pairs) => {
            let pairs: Vec<_> = pairs.iter().map(|(key, value)| format!("{key}:{value}")).collect();
            format!("{{{}}}", pairs.join("|"))
        }
    }
}

#[rustfmt::skip]
const MATCHES: &[(&str, &str, &str)] = &[
    ("logs/{service}/{date}.log", "logs/api/2026-01-02.log", "date=2026-01-02 service=api"),
    ("logs/{service}/{date}.log", "logs/api/2026-01-02.txt", "none"),
    ("logs/{service}/{date}.log", "logs/api/v1/2026-01-02.log", "none"),
    ("logs/{service}/{date}.log", "logs//2026-01-02.log", "none"),
    ("logs/{service}/{date}.log", "prefix/logs/api/2026-01-02.log", "none"),
    ("file:///{path}", "file:///a.txt", "path=a.txt"),
    ("file:///{path}", "file:///a/b.txt", "none"),
    ("file:///{+path}", "file:///a/b.txt", "path=a/b.txt"),
    ("file:///{+path}", "file:///", "none"),
    ("git+https://{repo}/{ref}/{path}", "git+https://r/main/x", "path=x ref=main repo=r"),
    ("{+path}{?q}", "a/b?q=1", "path=a/b q=1"),
    ("{+path}{?q}", "a/b?z=1", "path=a/b?z=1"),
    ("{+dir}/{file}", "a/b/c", "dir=a/b file=c"),
    ("{name}{.ext}", "a.tar.gz", "ext=tar.gz name=a"),
    ("{a}-{b}", "x-y-z", "a=x b=y-z"),
    ("{time}", "12:30,5@x", "time=12:30,5@x"),
    // Decoded, once, in any spelling.
    ("{var}", "a%2Fb%20c", "var=a/b c"),
    ("{var}", "%252e%252e", "var=%2e%2e"),
    ("{var}", "é", "var=é"),
    ("/é/{x}", "/%c3%a9/1", "x=1"),
    ("/%c3%a9/{x}", "/é/1", "x=1"),
    ("logs/{x}", "%6cogs/1", "x=1"),
    ("{var}", "%FF", "none"),
    ("{var}", "%zz", "none"),
    ("{var}", "100%", "none"),
    // Several values.
    ("{x,y}", "1,2", "x=1 y=2"), ("{x,y}", "1", "x=1"), ("{x,y}", "1,", "x=1 y="), ("{x,y}", "1,2,3", "none"),
    ("{/a,b}", "/1/2", "a=1 b=2"), ("{/a,b}", "/1", "a=1"), ("{/a,b}", "", ""), ("{/a}", "/", "a="),
    ("X{.x,y}", "X.1.2", "x=1 y=2"), ("X{#frag}", "X#a/b?c", "frag=a/b?c"), ("X{#frag}", "X", ""),
    // Queries and parameters.
    ("s{?a,b}", "s?a=1&b=2", "a=1 b=2"), ("s{?a,b}", "s?b=2&a=1", "a=1 b=2"), ("s{?a,b}", "s?b=2", "b=2"),
    ("s{?a,b}", "s", ""), ("s{?a,b}", "s?", "none"), ("s{?a,b}", "s?c=3", "none"), ("s{?a,b}", "s?a=1&c=3", "none"),
    ("s{?a,b}", "s?a=1&a=2", "none"), ("s{?a,b}", "s?a", "a="), ("s{?a,b}", "s?a=", "a="), ("s{?a}", "s?ab=1", "none"),
    ("s{?a,ab}", "s?ab=1", "ab=1"), ("s{?a}", "s?a=x/y?z=1", "a=x/y?z=1"), ("s{?a}", "s?a=1#f", "none"),
    ("s{?a}&fixed=1", "s?a=2&fixed=1", "a=2"), ("s?fixed=yes{&x}", "s?fixed=yes&x=1", "x=1"),
    ("s{?a}{&b}{#c}", "s?a=1&b=2#3", "a=1 b=2 c=3"), ("m{;x,y}/e", "m;y=2;x=1/e", "x=1 y=2"), ("m{;x}", "m;x", "x="),
    // Exploded.
    ("{/path*}", "/a/b/c", "path=[a|b|c]"), ("{/path*}", "", ""), ("{/path*}/end", "/a/b/end", "path=[a|b]"),
    ("{/path*}{?q}", "/a/b?q=1", "path=[a|b] q=1"), ("{list*}", "a,b", "list=[a|b]"), ("{+list*}", "a/b,c", "list=[a/b|c]"),
    ("www{.dom*}", "www.example.com", "dom=[example|com]"), ("{?a*}", "?a=1&a=2", "a=[1|2]"),
    ("{?rest*}", "?b=2&c=3", "rest={b:2|c:3}"), ("{?a,rest*}", "?b=2&a=1", "a=1 rest={b:2}"),
    ("{?rest*}", "?rest=1&b=2", "none"),
    // Prefixes count characters, and a prefix of a variable that also occurs whole has to be its beginning.
    ("{var:3}", "val", "var=val"), ("{var:3}", "valu", "none"), ("{var:2}", "%C3%A4%C3%B6", "var=äö"),
    ("{var:1}", "%C3%A4%C3%B6", "none"), ("{/var:1,var}", "/v/value", "var=value"), ("{/var:1,var}", "/x/value", "none"),
    ("{var:9999}", "v", "var=v"),
    // The same variable twice.
    ("{a}/{a}", "x/x", "a=x"), ("{a}/{a}", "x/y", "none"),
    // Literals alone.
    ("config", "config", ""), ("config", "config2", "none"), ("", "", ""), ("", "x", "none"),
];

#[test]
fn values_that_are_found() {
    for (template, uri, expected) in MATCHES {
        assert_eq!(found(template, uri), *expected, "`{template}` on `{uri}`");
    }
}

#[test]
fn variables_are_named_once_and_in_order() {
    let template = Template::parse("{b}/{a,b:3}{?c*}").unwrap();
    assert_eq!(template.variables(), ["b", "a", "c"]);
    assert_eq!(template.to_string(), "{b}/{a,b:3}{?c*}");
}
