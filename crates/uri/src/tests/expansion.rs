//! Every example of RFC 6570: the levels of section 1.2, and the tables of section 3.2.

use crate::{ExpandError, Template, Value, Values};

fn values() -> Values {
    let list = |items: &[&str]| Value::List(items.iter().map(ToString::to_string).collect());
    let map = |pairs: &[(&str, &str)]| {
        Value::Map(pairs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect())
    };
    let texts = [
        ("dub", "me/too"),
        ("hello", "Hello World!"),
        ("half", "50%"),
        ("var", "value"),
        ("who", "fred"),
        ("base", "http://example.com/home/"),
        ("path", "/foo/bar"),
        ("v", "6"),
        ("x", "1024"),
        ("y", "768"),
        ("empty", ""),
        ("semi", ";"),
        ("year", "1965"),
    ];
    let mut values: Values =
        texts.iter().map(|(name, text)| ((*name).to_owned(), Value::from(*text))).collect();
    values.insert("count".into(), list(&["one", "two", "three"]));
    values.insert("dom".into(), list(&["example", "com"]));
    values.insert("list".into(), list(&["red", "green", "blue"]));
    values.insert("keys".into(), map(&[("semi", ";"), ("dot", "."), ("comma", ",")]));
    values.insert("empty_keys".into(), map(&[]));
    values
}

#[rustfmt::skip]
const EXAMPLES: &[(&str, &str)] = &[
    // 1.2, level 1 to 4.
    ("{var}", "value"), ("{hello}", "Hello%20World%21"), ("{+var}", "value"), ("{+hello}", "Hello%20World!"),
    ("{+path}/here", "/foo/bar/here"), ("here?ref={+path}", "here?ref=/foo/bar"), ("X{#var}", "X#value"),
    ("X{#hello}", "X#Hello%20World!"), ("map?{x,y}", "map?1024,768"), ("{x,hello,y}", "1024,Hello%20World%21,768"),
    ("{+x,hello,y}", "1024,Hello%20World!,768"), ("{+path,x}/here", "/foo/bar,1024/here"),
    ("{#x,hello,y}", "#1024,Hello%20World!,768"), ("{#path,x}/here", "#/foo/bar,1024/here"), ("X{.var}", "X.value"),
    ("X{.x,y}", "X.1024.768"), ("{/var}", "/value"), ("{/var,x}/here", "/value/1024/here"), ("{;x,y}", ";x=1024;y=768"),
    ("{;x,y,empty}", ";x=1024;y=768;empty"), ("{?x,y}", "?x=1024&y=768"), ("{?x,y,empty}", "?x=1024&y=768&empty="),
    ("?fixed=yes{&x}", "?fixed=yes&x=1024"), ("{&x,y,empty}", "&x=1024&y=768&empty="),
    // 3.2.1
    ("{count}", "one,two,three"), ("{count*}", "one,two,three"), ("{/count}", "/one,two,three"),
    ("{/count*}", "/one/two/three"), ("{;count}", ";count=one,two,three"), ("{;count*}", ";count=one;count=two;count=three"),
    ("{?count}", "?count=one,two,three"), ("{?count*}", "?count=one&count=two&count=three"),
    ("{&count*}", "&count=one&count=two&count=three"),
    // 3.2.2
    ("{half}", "50%25"), ("O{empty}X", "OX"), ("O{undef}X", "OX"), ("{x,y}", "1024,768"), ("?{x,empty}", "?1024,"),
    ("?{x,undef}", "?1024"), ("?{undef,y}", "?768"), ("{var:3}", "val"), ("{var:30}", "value"),
    ("{list}", "red,green,blue"), ("{list*}", "red,green,blue"), ("{keys}", "semi,%3B,dot,.,comma,%2C"),
    ("{keys*}", "semi=%3B,dot=.,comma=%2C"),
    // 3.2.3
    ("{+half}", "50%25"), ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"),
    ("{+base}index", "http://example.com/home/index"), ("O{+empty}X", "OX"), ("O{+undef}X", "OX"),
    ("up{+path}{var}/here", "up/foo/barvalue/here"), ("{+path:6}/here", "/foo/b/here"), ("{+list}", "red,green,blue"),
    ("{+list*}", "red,green,blue"), ("{+keys}", "semi,;,dot,.,comma,,"), ("{+keys*}", "semi=;,dot=.,comma=,"),
    // 3.2.4
    ("{#var}", "#value"), ("{#hello}", "#Hello%20World!"), ("{#half}", "#50%25"), ("foo{#empty}", "foo#"),
    ("foo{#undef}", "foo"), ("{#path:6}/here", "#/foo/b/here"), ("{#list}", "#red,green,blue"),
    ("{#list*}", "#red,green,blue"), ("{#keys}", "#semi,;,dot,.,comma,,"), ("{#keys*}", "#semi=;,dot=.,comma=,"),
    // 3.2.5
    ("{.who}", ".fred"), ("{.who,who}", ".fred.fred"), ("{.half,who}", ".50%25.fred"), ("www{.dom*}", "www.example.com"),
    ("X{.empty}", "X."), ("X{.undef}", "X"), ("X{.var:3}", "X.val"), ("X{.list}", "X.red,green,blue"),
    ("X{.list*}", "X.red.green.blue"), ("X{.keys}", "X.semi,%3B,dot,.,comma,%2C"),
    ("X{.keys*}", "X.semi=%3B.dot=..comma=%2C"), ("X{.empty_keys}", "X"), ("X{.empty_keys*}", "X"),
    // 3.2.6
    ("{/who}", "/fred"), ("{/who,who}", "/fred/fred"), ("{/half,who}", "/50%25/fred"), ("{/who,dub}", "/fred/me%2Ftoo"),
    ("{/var,empty}", "/value/"), ("{/var,undef}", "/value"), ("{/var:1,var}", "/v/value"), ("{/list}", "/red,green,blue"),
    ("{/list*}", "/red/green/blue"), ("{/list*,path:4}", "/red/green/blue/%2Ffoo"), ("{/keys}", "/semi,%3B,dot,.,comma,%2C"),
    ("{/keys*}", "/semi=%3B/dot=./comma=%2C"),
    // 3.2.7
    ("{;who}", ";who=fred"), ("{;half}", ";half=50%25"), ("{;empty}", ";empty"), ("{;v,empty,who}", ";v=6;empty;who=fred"),
    ("{;v,bar,who}", ";v=6;who=fred"), ("{;x,y,undef}", ";x=1024;y=768"), ("{;hello:5}", ";hello=Hello"),
    ("{;list}", ";list=red,green,blue"), ("{;list*}", ";list=red;list=green;list=blue"),
    ("{;keys}", ";keys=semi,%3B,dot,.,comma,%2C"), ("{;keys*}", ";semi=%3B;dot=.;comma=%2C"),
    // 3.2.8
    ("{?who}", "?who=fred"), ("{?half}", "?half=50%25"), ("{?x,y,undef}", "?x=1024&y=768"), ("{?var:3}", "?var=val"),
    ("{?list}", "?list=red,green,blue"), ("{?list*}", "?list=red&list=green&list=blue"),
    ("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C"), ("{?keys*}", "?semi=%3B&dot=.&comma=%2C"),
    // 3.2.9
    ("{&who}", "&who=fred"), ("{&half}", "&half=50%25"), ("{&x,y,undef}", "&x=1024&y=768"), ("{&var:3}", "&var=val"),
    ("{&list}", "&list=red,green,blue"), ("{&list*}", "&list=red&list=green&list=blue"),
    ("{&keys}", "&keys=semi,%3B,dot,.,comma,%2C"), ("{&keys*}", "&semi=%3B&dot=.&comma=%2C"),
    // 2.4.1, 2.4.2 and 1.1
    ("{/year}{/var:1}", "/1965/v"), ("find{?year*}", "find?year=1965"), ("{semi:2}", "%3B"),
    ("http://www.example.com/foo{?who,number}", "http://www.example.com/foo?who=fred"),
];

#[test]
fn examples_of_the_rfc() {
    let values = values();
    for (template, uri) in EXAMPLES {
        assert_eq!(Template::parse(template).unwrap().expand(&values).as_deref(), Ok(*uri), "{template}");
    }
}

#[test]
fn a_prefix_counts_characters_and_not_bytes() {
    let values = Values::from([("var".to_owned(), Value::from("äöü"))]);
    assert_eq!(Template::parse("{var:2}").unwrap().expand(&values).as_deref(), Ok("%C3%A4%C3%B6"));
}

#[test]
fn a_prefix_of_a_list_is_refused() {
    let refused = Template::parse("{list:3}").unwrap().expand(&values());
    assert_eq!(refused, Err(ExpandError::PrefixOfMany { variable: "list".into(), length: 3 }));
}

#[test]
fn literals_that_are_not_ascii_are_encoded() {
    assert_eq!(Template::parse("/é/%41/{x}").unwrap().expand(&values()).as_deref(), Ok("/%C3%A9/%41/1024"));
}
