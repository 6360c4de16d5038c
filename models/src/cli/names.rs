//! The nearest of some names to one that does not exist.

/// `; did you mean ...?` for a name that is close to one that exists, and the names that exist.
pub fn suggest(asked: &str, known: &[String]) -> String {
    let asked = asked.to_lowercase();
    let nearest = known.iter().map(|name| (distance(&asked, &name.to_lowercase()), name)).min();
    match nearest {
        Some((d, name)) if d < asked.len() && d <= asked.len().div_ceil(3) => {
            format!("did you mean `{name}`? there are {}", known.join(", "))
        }
        _ => format!("there are {}", known.join(", ")),
    }
}

/// Insertions, deletions and changes from one word to another (Levenshtein 1965).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let changed = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        for (a, b, d) in [("kitten", "sitting", 3), ("", "abc", 3), ("linear", "linear", 0), ("linaer", "linear", 2)] {
            assert_eq!(distance(a, b), d);
            assert_eq!(distance(b, a), d);
        }
    }

    #[test]
    fn only_near_names_are_suggested() {
        let known = ["linear", "rmsnorm"].map(String::from);
        assert_eq!(suggest("linaer", &known), "did you mean `linear`? there are linear, rmsnorm");
        assert_eq!(suggest("softmax", &known), "there are linear, rmsnorm");
        assert_eq!(suggest("LINEAR", &known), "did you mean `linear`? there are linear, rmsnorm");
        assert_eq!(suggest("linear", &["Linear".to_string()]), "did you mean `Linear`? there are Linear");
    }
}
