//! A parser table made from rules: states, what they shift, and what they reduce by default.
//!
//! Which errors are found where depends on reductions that are made without looking at the
//! next token, so these are decided as the original's parser generator decides them.

use std::collections::BTreeMap;

use super::grammar::{RULES, TERMINALS};

/// Number of the error token.
pub(super) const ERROR: usize = 1;

type Item = (usize, usize);
/// Items with the tokens that may follow them, one bit each.
type Kernel = BTreeMap<Item, u32>;

/// One state.
#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) shifts: BTreeMap<usize, usize>,
    pub(super) gotos: BTreeMap<usize, usize>,
    pub(super) reductions: BTreeMap<usize, usize>,
    pub(super) default: Option<usize>,
}

/// All states; the first is the start.
#[derive(Debug)]
pub(super) struct Automaton {
    pub(super) states: Vec<State>,
    /// Head and length of each rule.
    pub(super) rules: Vec<(usize, usize)>,
}

struct Grammar {
    rules: Vec<(usize, Vec<usize>)>,
    nullable: Vec<bool>,
    first: Vec<u32>,
}

impl Grammar {
    fn new() -> Grammar {
        let mut names: Vec<&str> = TERMINALS.to_vec();
        for (head, ..) in RULES {
            if !names.contains(head) {
                names.push(head);
            }
        }
        let number = |name: &str| {
            names.iter().position(|known| *known == name).expect("rules use names that are there")
        };
        let rules: Vec<(usize, Vec<usize>)> = RULES
            .iter()
            .map(|(head, body, _)| {
                (number(head), body.split(' ').filter(|s| !s.is_empty()).map(number).collect())
            })
            .collect();
        let mut nullable = vec![false; names.len()];
        let mut first = vec![0_u32; names.len()];
        for (at, set) in first.iter_mut().enumerate().take(TERMINALS.len()) {
            *set = 1 << at;
        }
        loop {
            let before = (nullable.clone(), first.clone());
            for (head, body) in &rules {
                let mut all = true;
                for symbol in body {
                    if all {
                        first[*head] |= first[*symbol];
                    }
                    all &= nullable[*symbol];
                }
                nullable[*head] |= all;
            }
            if before == (nullable.clone(), first.clone()) {
                return Grammar { rules, nullable, first };
            }
        }
    }

    fn closure(&self, kernel: &Kernel) -> Kernel {
        let mut all = kernel.clone();
        let mut todo: Vec<Item> = kernel.keys().copied().collect();
        while let Some((rule, dot)) = todo.pop() {
            let ahead = all[&(rule, dot)];
            let body = &self.rules[rule].1;
            let Some(&next) = body.get(dot) else { continue };
            if next < TERMINALS.len() {
                continue;
            }
            let mut follow = 0;
            let mut open = true;
            for symbol in &body[dot + 1..] {
                if open {
                    follow |= self.first[*symbol];
                }
                open &= self.nullable[*symbol];
            }
            if open {
                follow |= ahead;
            }
            for (number, _) in self.rules.iter().enumerate().filter(|(_, rule)| rule.0 == next) {
                let known = all.get(&(number, 0)).copied();
                if known.is_none_or(|known| known | follow != known) {
                    all.insert((number, 0), known.unwrap_or(0) | follow);
                    todo.push((number, 0));
                }
            }
        }
        all
    }
}

impl Automaton {
    pub(super) fn new() -> Automaton {
        let grammar = Grammar::new();
        let mut kernels: Vec<Kernel> = vec![Kernel::from([((0, 0), 1)])];
        let mut index: BTreeMap<Vec<Item>, usize> = BTreeMap::from([(vec![(0, 0)], 0)]);
        let mut edges: Vec<BTreeMap<usize, usize>> = vec![BTreeMap::new()];
        let mut todo = vec![0];
        while let Some(state) = todo.pop() {
            let mut targets: BTreeMap<usize, Kernel> = BTreeMap::new();
            for ((rule, dot), ahead) in grammar.closure(&kernels[state]) {
                if let Some(next) = grammar.rules[rule].1.get(dot) {
                    targets.entry(*next).or_default().insert((rule, dot + 1), ahead);
                }
            }
            for (symbol, kernel) in targets {
                let key: Vec<Item> = kernel.keys().copied().collect();
                let target = *index.entry(key).or_insert_with(|| {
                    kernels.push(Kernel::new());
                    edges.push(BTreeMap::new());
                    kernels.len() - 1
                });
                edges[state].insert(symbol, target);
                let mut grew = false;
                for (item, ahead) in kernel {
                    let known = kernels[target].entry(item).or_insert(0);
                    grew |= *known | ahead != *known;
                    *known |= ahead;
                }
                if grew {
                    todo.push(target);
                }
            }
        }
        let states =
            kernels.iter().zip(&edges).map(|(kernel, edges)| state(&grammar, kernel, edges));
        let states = states.collect();
        let rules = grammar.rules.iter().map(|(head, body)| (*head, body.len())).collect();
        Automaton { states, rules }
    }
}

fn state(grammar: &Grammar, kernel: &Kernel, edges: &BTreeMap<usize, usize>) -> State {
    let (mut shifts, mut gotos) = (BTreeMap::new(), BTreeMap::new());
    for (symbol, target) in edges {
        let map = if *symbol < TERMINALS.len() { &mut shifts } else { &mut gotos };
        map.insert(*symbol, *target);
    }
    let complete: Vec<(usize, u32)> = grammar
        .closure(kernel)
        .into_iter()
        .filter(|((rule, dot), _)| grammar.rules[*rule].1.len() == *dot)
        .map(|((rule, _), ahead)| (rule, ahead))
        .collect();
    let mut reductions: BTreeMap<usize, usize> = BTreeMap::new();
    for (rule, ahead) in &complete {
        for token in (0..TERMINALS.len()).filter(|token| ahead & (1 << token) != 0) {
            if !shifts.contains_key(&token) {
                reductions.entry(token).or_insert(*rule);
            }
        }
    }
    let mut default = None;
    // A state that can take up an error decides nothing before it has seen the token.
    if !shifts.contains_key(&ERROR) {
        if shifts.is_empty() && complete.len() == 1 {
            default = Some(complete[0].0);
        } else {
            let mut most = 0;
            for (rule, _) in &complete {
                let count = reductions.values().filter(|other| *other == rule).count();
                if count > most {
                    most = count;
                    default = Some(*rule);
                }
            }
        }
        reductions.retain(|_, rule| Some(*rule) != default);
    }
    State { shifts, gotos, reductions, default }
}
