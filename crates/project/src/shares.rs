//! Work that several threads share.

use std::thread;

/// How many threads are worth having for work that waits for nothing.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(8)
}

/// Gives each of so many threads, this one among them, an equal share of the items. What they make of their shares comes
/// back in the order of the items.
pub(crate) fn in_shares<I: Send, O: Send>(
    mut items: Vec<I>,
    threads: usize,
    work: impl Fn(Vec<I>) -> O + Sync,
) -> Vec<O> {
    let (share, work) = (items.len().div_ceil(threads), &work);
    thread::scope(|scope| {
        let mut others = Vec::new();
        while items.len() > share {
            let some = items.split_off(items.len() - share);
            others.push(scope.spawn(move || work(some)));
        }
        let own = work(items);
        let others = others.into_iter().rev().filter_map(|other| other.join().ok());
        std::iter::once(own).chain(others).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::in_shares;

    #[test]
    fn everything_is_done_once_and_in_order() {
        for (count, threads) in [(0, 4), (1, 4), (4, 4), (5, 4), (9, 4), (100, 3), (100, 1)] {
            let items: Vec<usize> = (0..count).collect();
            let shares = in_shares(items.clone(), threads, |share| share);
            assert!(shares.len() <= threads, "{count} by {threads}");
            assert_eq!(shares.concat(), items, "{count} by {threads}");
        }
    }
}
