//! `lab`: pages, JSON and plots of the studies.

use crate::run::{path, run};

#[test]
fn a_study_is_a_page_with_its_figures_and_what_they_do_not_say() {
    let dir = tempfile::tempdir().unwrap();
    let flags = ["lab", "norm-softmax", "--quick", "--runs", "1", "--json", "--output", path(dir.path())];
    let out = run(&flags).json();
    let study = &out["studies"][0];
    assert_eq!(study["study"], "norm-softmax");
    assert_eq!(study["command"], "tilewright lab norm-softmax --quick --runs 1");
    for table in study["tables"].as_array().unwrap() {
        let rows = table.as_array().unwrap();
        assert_eq!(rows.len(), 3, "{table}");
        for row in rows {
            let one = row.as_object().unwrap().iter().find(|(head, _)| head.ends_with("one kernel, µs")).unwrap().1;
            assert!(one["median"].as_f64() > Some(0.0) && row["ratio"].as_str().unwrap().ends_with('×'), "{row}");
        }
    }
    let folder = std::fs::read_dir(dir.path()).unwrap().next().unwrap().unwrap().path().join("lab");
    let page = std::fs::read_to_string(folder.join("lab.md")).unwrap();
    for part in
        ["# Lab", "## RMSNorm and softmax", "](rmsnorm.svg)", "What can be read off it", "What the figures do not say"]
    {
        assert!(page.contains(part), "no {part:?} in {page}");
    }
    for file in ["lab.json", "rmsnorm.svg", "softmax.svg"] {
        assert!(folder.join(file).is_file(), "{file}");
    }
    run(&flags).fails(1, &["--output", "lab.md", "--force"]);
}

#[test]
fn a_wrong_study_is_told_the_right_ones() {
    let ran = run(&["lab", "nonsense"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    for part in ["no study `nonsense`", "`all`", "kv-cache", "speculative", "norm-softmax"] {
        assert!(ran.stderr.contains(part), "no {part:?} in {}", ran.stderr);
    }
}
