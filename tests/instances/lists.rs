//! Lists: the same at every server, in the same order, so that a cursor of one is good at the others.

use super::Fleet;
use crate::harness::Project;
use serde_json::{Value, json};

#[test]
fn a_cursor_of_one_server_is_good_at_the_others() {
    let project = Project::new();
    // Made in another order than that of their names.
    for number in (0..20).rev() {
        project.write_script(&format!("tools/t{:02}/tool.sh", number * 7 % 20), "#!/bin/sh\necho hi\n");
    }
    let fleet = Fleet::start(&project, 3);
    let names_from = |servers: [usize; 2]| -> Vec<Value> {
        let (mut names, mut params) = (Vec::new(), json!({ "limit": 10 }));
        for server in servers {
            let answer = fleet.ask(server, "tools/list", &params);
            let page = answer["result"]["tools"].as_array().unwrap_or_else(|| panic!("{answer}"));
            names.extend(page.iter().map(|tool| tool["name"].clone()));
            params = json!({ "limit": 10, "cursor": answer["result"]["nextCursor"] });
        }
        assert!(params["cursor"].is_null(), "two pages");
        names
    };
    let names = names_from([0, 0]);
    assert_eq!(names.len(), 20);
    for servers in [[0, 1], [1, 2], [2, 0]] {
        assert_eq!(names_from(servers), names, "{servers:?}");
    }
}
