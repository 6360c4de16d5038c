//! What shaders cost, against figures counted by hand.

use tilewright_codegen::figures::Cost;
use tilewright_codegen::program::Count;
use tilewright_models::review;

/// The cost of a reviewed program's first shader.
fn figures(kernel: &str, schedule: &str) -> Cost {
    let found = review::subjects().into_iter().find(|s| s.kernel.name == kernel && s.schedule.name == schedule);
    let program = found.expect("the schedule is reviewed").compile().unwrap_or_else(|e| panic!("{e}"));
    let shader = &program.shaders[0];
    let cost = Cost::of(&shader.loops, &shader.dispatch);
    let head = cost.lines().iter().map(|line| format!("// {line}\n")).collect::<String>();
    assert!(shader.wgsl.contains(&head), "the head says the cost:\n{}", shader.wgsl);
    cost
}

/// Its rows, and its run-time loops.
fn cost(kernel: &str, schedule: &str) -> (Vec<String>, Vec<String>) {
    let cost = figures(kernel, schedule);
    let rounds =
        |l: &tilewright_codegen::figures::Rounds| format!("{} = {}", l.name, l.most.as_ref().expect("a bound"));
    let rows = cost.rows().into_iter().map(|(_, value)| value);
    (rows.take(8).collect(), cost.loops.iter().map(rounds).collect())
}

/// Memory, registers, barriers, loads, bytes, stores, flop, flop a byte.
#[test]
fn linear_coalesced() {
    // K = 896 in steps of 32 lanes × 8: 4 rounds for the first lanes. A round loads 8 of x and 8 of each of 4 rows of w as
    // vectors of 4, and does 4 × 8 fma. 4 sums of 64 invocations meet in a tree of 5 steps.
    let (rows, loops) = cost("linear", "coalesced");
    let loads = 4 * (2 + 4 * 2);
    let flop = 4 * 4 * 8 * 2 + 5 * 4;
    assert_eq!((loads, flop), (40, 276));
    assert_eq!(rows, ["1024 bytes", "4", "5", "40", "640", "4", "276", "0.42"]);
    assert!(loops.is_empty());
    // The same in f16: half the vectors of w; unpacking is no arithmetic.
    let (rows, _) = cost("linear", "coalesced_f16");
    assert_eq!(rows, ["1024 bytes", "4", "5", "24", "384", "4", "276", "0.69"]);
}

#[test]
fn linear_tiled() {
    // 64 × 64 outputs of 256 invocations: 16 sums each. Each of 56 rounds brings two tiles of 64 × 16 (a vector of 4 each an
    // invocation) between two barriers, and does 16 × 16 fma. Rows of a tile are one word apart from 16.
    let (rows, loops) = cost("linear", "tiled");
    let memory = 2 * 64 * 17 * 4;
    assert_eq!(memory, 8704);
    assert_eq!(rows[..5], ["8704 bytes", "16", "112", "112", "1792"]);
    assert_eq!(rows[5..7], ["16", "28672"]);
    assert_eq!(rows[7], "15.45");
    assert!(loops.is_empty());
}

#[test]
fn softmax_row() {
    // 512 columns in 8 rounds of 64 lanes, three times: max (1 flop), subtract-exp-add (3), subtract-exp-divide (3); two
    // trees of 6 steps. A fold's first barrier is before its memory is used again.
    let (rows, loops) = cost("softmax", "row");
    let flop = 8 * (1 + 3 + 3) + 2 * 6;
    assert_eq!(flop, 68);
    assert_eq!(rows, ["256 bytes", "2", "15", "24", "96", "8", "68", "0.53"]);
    assert!(loops.is_empty());
}

#[test]
fn attention_columns() {
    // At every 64 positions an invocation makes one score of 64 columns (16 vectors of q and of k, 64 scalings, 64 fma), and then
    // merges 64 scores with its column of v: max, twice subtract-exp, fma, product, fma.
    let (rows, loops) = cost("attention", "columns");
    let (flop, bytes) = (64 + 64 * 2 + 64 * (1 + 4 + 2 + 1 + 2), (16 + 16) * 16 + 64 * 4);
    assert_eq!((flop, bytes), (832, 768));
    assert_eq!(rows, ["256 bytes", "4", "2 * jo", "96 * jo", "768 * jo", "1", "832 * jo + 1", "1.08"]);
    assert_eq!(loops, ["jo = ceil((pos + T) / 64)"]);
}

#[test]
fn the_last_query_goes_round_once_for_every_64_positions() {
    // t is at most T - 1, so that (pos + t + 1 + 63) / 64 is at T = 1 what the only query has.
    let params = |pos| [("pos".to_string(), pos), ("T".to_string(), 1)].into();
    let jo = figures("attention", "columns").loops[0].most.clone().expect("a bound");
    for (pos, rounds) in [(0, 1), (62, 1), (63, 1), (64, 2), (127, 2), (128, 3)] {
        assert_eq!(jo.eval(&params(pos)), Some(rounds), "at {pos}");
    }
}

#[test]
fn a_fold_by_subgroups_is_counted_at_one_size_at_a_time() {
    // RMSNorm of 896 by 64 lanes × 4: two loops of 4 rounds, and a fold over 64 / 4 = 16 subgroups where they have 4 lanes.
    // There two shuffles and 16 sums meet; where they have 64 lanes six shuffles and one sum.
    let norm = figures("rmsnorm", "subgroup");
    assert_eq!(norm.rounds, Some(Count::Const(4 + 4 + 16)));
    let flop = 4 * 4 * 2 + (2 + 16) + 3 + 4 * 4 * 2;
    assert_eq!(norm.flops.as_constant(), Some(flop));
    // 4 rounds of K = 896 by 32 lanes × 8, and 32 / 4 subgroups.
    assert_eq!(figures("linear", "subgroup").rounds, Some(Count::Const(4 + 8)));
    // 256 lanes: 64 subgroups of 4.
    let argmax = figures("argmax", "subgroup").rounds.expect("a bound");
    assert_eq!(argmax.to_string(), "ceil(min(limit, 151936) / 256) + 64");
    // An octet is 2 subgroups of 4: each position has a fold of its own.
    let octets = figures("attention", "octets").rounds.expect("a bound");
    assert_eq!(octets.to_string(), "ceil((pos + T) / 64) * 3");
}

#[test]
fn a_workgroup_runs_one_branch_of_its_grid() {
    // Q, K and V stand beside each other: each goes round 4 times, in workgroups of their own.
    assert_eq!(figures("qkv", "rows").rounds, Some(Count::Const(4)));
}

#[test]
fn a_loop_inside_another() {
    // One invocation a query head: for every position 64 products, and a merge of 64 columns.
    let (rows, loops) = cost("attention", "naive");
    assert_eq!(rows[0], "0 bytes");
    assert_eq!(rows[3], "192 * j");
    assert_eq!(loops, ["j = pos + T"]);
}
