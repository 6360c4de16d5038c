//! Each kernel built twice, with the macros and with the builder, is one value; schedules likewise.

use tilewright_dsl::build::{Builder, MonoidBuilder};
use tilewright_dsl::ir::*;
use tilewright_dsl::schedule::*;
use tilewright_dsl::{kernel, schedule};

mod kernels;
use kernels::*;

#[test]
fn linear_is_the_same() {
    let b = Builder::new("linear");
    b.doc("y = x·Wᵀ.");
    let (w, x) = (b.input::<f32, 2>("w", ["R", "K"]), b.input::<f32, 2>("x", ["T", "K"]));
    let y = b.output::<f32, 2>("y", ["T", "R"]);
    b.each("t", 0, b.extent("T"), |t| {
        b.each("r", 0, b.extent("R"), |r| {
            y.set([t, r], b.sum("k", 0, b.extent("K"), |k| w.at([r, k]) * x.at([t, k])));
        });
    });
    assert_eq!(linear(), b.finish().expect("linear"));
}

#[test]
fn rmsnorm_is_the_same() {
    let b = Builder::new("rmsnorm");
    b.doc("x over its root mean square, times w.");
    let (x, w) = (b.input::<f32, 2>("x", ["T", "D"]), b.input::<f32, 1>("w", ["D"]));
    let y = b.output::<f32, 2>("y", ["T", "D"]);
    let eps = b.scalar::<f32>("eps");
    let d_ = b.extent("D");
    b.each("t", 0, b.extent("T"), |t| {
        let s = b.name("s", b.sum("j", 0, b.extent("D"), |j| x.at([t, j]) * x.at([t, j])));
        let scale = b.name("scale", (s / d_.to_f32() + eps).rsqrt());
        b.each("i", 0, d_, |d| y.set([t, d], x.at([t, d]) * scale * w.at([d])));
    });
    assert_eq!(rmsnorm(), b.finish().expect("rmsnorm"));
}

#[test]
fn softmax_is_the_same() {
    let b = Builder::new("softmax");
    b.doc("Row softmax.");
    let (x, y) = (b.input::<f32, 2>("x", ["R", "C"]), b.output::<f32, 2>("y", ["R", "C"]));
    b.each("r", 0, b.extent("R"), |r| {
        let m = b.name("m", b.max("i", 0, b.extent("C"), |i| x.at([r, i])));
        let s = b.name("s", b.sum("j", 0, b.extent("C"), |j| (x.at([r, j]) - m).exp()));
        b.each("c", 0, b.extent("C"), |c| y.set([r, c], (x.at([r, c]) - m).exp() / s));
    });
    assert_eq!(softmax(), b.finish().expect("softmax"));
}

fn softmax_monoid() -> Monoid {
    let m = MonoidBuilder::new("Softmax", Some("C"));
    let (top, weight, value) = (m.field("max", LOWEST), m.field("weight", 0.0), m.array("value", 0.0));
    let larger = top.a.max(top.b);
    let (wa, wb) = ((top.a - larger).exp(), (top.b - larger).exp());
    let merge = vec![larger.id(), (weight.a * wa + weight.b * wb).id(), (value.a * wa + value.b * wb).id()];
    m.finish(merge).expect("the monoid is well formed")
}

#[test]
fn the_monoid_is_the_same() {
    assert_eq!(Softmax::monoid(), softmax_monoid());
}

#[test]
fn attention_is_the_same() {
    let b = Builder::new("attention");
    b.doc("Causal attention with grouped heads.");
    let q = b.input::<f32, 3>("q", ["T", "H", "D"]);
    let (k, v) = (b.input::<f32, 3>("k", ["S", "G", "D"]), b.input::<f32, 3>("v", ["S", "G", "D"]));
    let y = b.output::<f32, 3>("y", ["T", "H", "D"]);
    let (pos, scale) = (b.scalar::<u32>("pos"), b.scalar::<f32>("scale"));
    b.each("t", 0, b.extent("T"), |t| {
        b.each("h", 0, b.extent("H"), |h| {
            let g = b.name("g", h / (b.extent("H") / b.extent("G")));
            let hi = pos + t + 1;
            let s = b.fold(&softmax_monoid(), "j", 0, hi, Some(b.extent("D")), |j, c| {
                let c = c.expect("an array");
                let score = b.sum("i", 0, b.extent("D"), |i| q.at([t, h, i]) * k.at([j, g, i])) * scale;
                b.name("score", score);
                vec![score.id(), b.f32(1.0).id(), v.at([j, g, c]).id()]
            });
            b.name("s", s);
            b.each("d", 0, b.extent("D"), |d| y.set([t, h, d], s.elements(2).at(d) / s.field::<f32>(1)));
        });
    });
    assert_eq!(attention(), b.finish().expect("attention"));
    assert_eq!(attention().axes.iter().map(|a| &a.name).collect::<Vec<_>>(), ["t", "h", "j", "softmax.c", "i", "d"]);
}

#[kernel]
fn forms(x: Tensor<N>, ids: Tensor<u32, N>, y: Out<N>, z: Out<u32, N>, n: u32) {
    for i in 0..N {
        let double = |c| x[c] * 2.0;
        let pair = |c, d| double[c] + x[d];
        y[i] = if i >= 1 && !(i == n) || x[i] < LOWEST {
            min(double[i], 1.0)
        } else if i > 3 {
            pair[i][0]
        } else {
            -abs(x[i])
        };
        z[i] = (ids[i] ^ bits(x[i])) % (1 << 3) & u32::MAX | floor(x[i]) as u32 >> 1;
    }
}

#[test]
fn rope_is_the_same() {
    let b = Builder::new("rope");
    b.doc("Rotates the pairs (p, p + D/2) in place.");
    let x = b.in_out::<f32, 3>("x", ["T", "H", "D"]);
    let (cos, sin) = (b.input::<f32, 2>("cos", ["S", "P"]), b.input::<f32, 2>("sin", ["S", "P"]));
    let pos = b.scalar::<u32>("pos");
    b.each("t", 0, b.extent("T"), |t| {
        b.each("h", 0, b.extent("H"), |h| {
            b.each("p", 0, b.extent("D") / 2, |p| {
                let half = b.name("half", b.extent("D") / 2);
                let (low, high) = (b.name("a", x.at([t, h, p])), b.name("b", x.at([t, h, p + half])));
                let (c, s) = (b.name("c", cos.at([pos + t, p])), b.name("s", sin.at([pos + t, p])));
                x.set([t, h, p], low * c - high * s);
                x.set([t, h, p + half], high * c + low * s);
            });
        });
    });
    assert_eq!(rope(), b.finish().expect("rope"));
}

#[test]
fn embedding_is_the_same() {
    let b = Builder::new("embedding");
    b.doc("Rows of a table.");
    let (ids, table) = (b.input::<u32, 1>("ids", ["T"]), b.input::<f32, 2>("table", ["V", "D"]));
    let y = b.output::<f32, 2>("y", ["T", "D"]);
    b.each("t", 0, b.extent("T"), |t| {
        b.each("d", 0, b.extent("D"), |d| y.set([t, d], table.at([ids.at([t]), d])));
    });
    assert_eq!(embedding(), b.finish().expect("embedding"));
}

#[test]
fn argmax_is_the_same() {
    let b = Builder::new("greedy");
    b.doc("The most likely token.");
    let (logits, token) = (b.input::<f32, 2>("logits", ["T", "V"]), b.output::<u32, 1>("token", ["T"]));
    b.each("t", 0, b.extent("T"), |t| token.set([t], b.argmax("v", 0, b.extent("V"), |v| logits.at([t, v]))));
    assert_eq!(greedy(), b.finish().expect("greedy"));
}

#[test]
fn all_forms_are_well_formed() {
    for kernel in [rope(), append(), forms()] {
        assert!(kernel.exprs.len() > 3);
    }
}

schedule! {
    /// Thirty-two lanes a row.
    pub coalesced for linear {
        workgroup 64;
        t: grid;
        r: grid, lanes(2), unroll(4);
        k: serial as ko, lanes(32), vector(4);
        stage x at ko: workgroup;
        store w: f16;
    }
}

schedule! {
    /// The same lanes.
    pub subgroup for linear from coalesced {
        r: grid(2), lanes(4);
        fold k: subgroup;
        tail k: exact;
        stage w at ko: registers;
    }
}

schedule! {
    fused for "norm_linear" {
        norm.j: lanes(64);
        compute norm.s at linear.t: workgroup;
        compute norm.z at linear.t;
    }
}

#[test]
fn schedules_are_values() {
    let level = |kind, size| Level { kind, size, name: None };
    let s = coalesced();
    assert_eq!((s.name.as_str(), s.kernel.as_str(), s.workgroup), ("coalesced", "linear", Some(64)));
    assert_eq!(s.levels("t"), Some(&[level(LevelKind::Grid, None)][..]));
    assert_eq!(s.levels("k").map(|l| l[0].name.as_deref()), Some(Some("ko")));
    assert!(s.origin.start.file.ends_with("macros.rs"));
    let d = subgroup();
    assert_eq!(d.axes.iter().map(|a| a.axis.as_str()).collect::<Vec<_>>(), ["t", "r", "k"]);
    assert_eq!(d.levels("r"), Some(&[level(LevelKind::Grid, Some(2)), level(LevelKind::Lanes, Some(4))][..]));
    assert_eq!(
        (d.fold("k"), d.tail("k"), d.storage("w"), d.stages.len()),
        (Fold::Subgroup, Tail::Exact, Storage::F16, 2)
    );
    let f = fused();
    assert_eq!(
        (f.kernel.as_str(), f.computes[0].place, f.computes[1].place),
        ("norm_linear", Place::Workgroup, Place::Registers)
    );
    // Each part stands where its author wrote it, those of a base included.
    for schedule in [&s, &d, &f] {
        let printed = schedule.printed();
        for (spot, span) in printed.spots {
            let at = schedule.origin.of(&spot).unwrap_or_else(|| panic!("{spot:?} stands nowhere"));
            let line = include_str!("macros.rs").lines().nth(at.line as usize - 1).expect("the line is in this file");
            assert!(line[at.column as usize - 1..].starts_with(&printed.text[span]), "{spot:?} at {at:?}: {line}");
        }
    }
    // What the macro reads, the text parser reads as the same value.
    let text = "\
schedule coalesced for linear {
    workgroup 64;
    t: grid;
    r: grid, lanes(2), unroll(4);
    k: serial as ko, lanes(32), vector(4);
    stage x at ko: workgroup;
    store w: f16;
}
";
    assert_eq!((text.parse(), s.to_string()), (Ok(s), text.into()));
    for schedule in [d, f] {
        assert_eq!(schedule.to_string().parse(), Ok(schedule));
    }
}
