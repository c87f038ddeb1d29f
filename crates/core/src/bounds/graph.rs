//! Longest paths. A graph of numbered nodes whose edges have lengths; what the nodes mean is known
//! elsewhere.

/// An edge to a node, and its length.
pub(super) type Edge = (usize, u64);

/// Returns for each node the length of the longest path that begins there, where a path may also end
/// at any node and then costs what `ends` says; `None` when there is a circle.
pub(super) fn longest(edges: &[Vec<Edge>], ends: &[u64]) -> Option<Vec<u64>> {
    let order = order(edges)?;
    let mut best = ends.to_vec();
    for node in order.into_iter().rev() {
        for (target, length) in &edges[node] {
            best[node] = best[node].max(best[*target].saturating_add(*length));
        }
    }
    Some(best)
}

/// Returns the nodes so that every edge leads to a later one, or `None` when there is a circle.
fn order(edges: &[Vec<Edge>]) -> Option<Vec<usize>> {
    let mut coming = vec![0_usize; edges.len()];
    for (target, _) in edges.iter().flatten() {
        coming[*target] += 1;
    }
    let mut order: Vec<usize> = (0..edges.len()).filter(|it| coming[*it] == 0).collect();
    let mut at = 0;
    while let Some(node) = order.get(at).copied() {
        at += 1;
        for (target, _) in &edges[node] {
            coming[*target] -= 1;
            if coming[*target] == 0 {
                order.push(*target);
            }
        }
    }
    (order.len() == edges.len()).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::longest;

    #[test]
    fn the_longest_way_counts_and_a_circle_has_none() {
        let edges = vec![vec![(1, 5), (2, 1)], vec![(2, 5)], vec![]];
        assert_eq!(longest(&edges, &[1, 1, 3]), Some(vec![13, 8, 3]));
        assert_eq!(longest(&[vec![(1, 1)], vec![(0, 1)]], &[0, 0]), None);
        assert_eq!(longest(&[vec![(0, 0)]], &[0]), None);
    }
}
