//! The contract that every store of tasks keeps.

use super::contract::{
    Bench, at_most_one_process_runs_a_task, check_rules, no_limit_is_passed_by_many,
    the_planted_fault_is_found,
};
use super::{fresh_url, open, sql};
use mcp_bash_tasks::{Lease, TaskId, TaskStore};

struct Schema {
    url: String,
    name: String,
}

fn new_schema() -> Box<dyn Bench> {
    let (url, name) = fresh_url();
    // With its tables, since the bench looks into them.
    open(&url).check().unwrap();
    Box::new(Schema { url, name })
}

impl Bench for Schema {
    fn open(&self) -> Box<dyn TaskStore> {
        Box::new(open(&self.url))
    }

    fn kill(&self, lease: Lease) {
        // If another process has claimed the task meanwhile, that one keeps it.
        let (name, id, attempt) = (&self.name, &lease.id, lease.attempt);
        sql(&format!(
            "UPDATE {name}.tasks SET lease_until = now() WHERE id = '{id}' AND attempt = {attempt}"
        ));
        // A dead process does not say that it is.
        std::mem::forget(lease);
    }

    fn free(&self, id: &TaskId) {
        sql(&format!("UPDATE {}.tasks SET lease_until = now() WHERE id = '{id}'", self.name));
    }
}

#[test]
fn every_rule_holds() {
    check_rules(&new_schema);
}

#[test]
fn many_servers_that_begin_tasks_pass_no_limit() {
    no_limit_is_passed_by_many(&*new_schema());
}

#[test]
fn at_most_one_server_runs_a_task() {
    at_most_one_process_runs_a_task(&new_schema, 20);
}

#[test]
fn a_store_that_does_not_look_at_leases_is_found_out() {
    the_planted_fault_is_found(&new_schema);
}
