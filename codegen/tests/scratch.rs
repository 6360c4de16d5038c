use tilewright_codegen::{compile, shape::Shape, target::Target};
use tilewright_dsl::{build::*, ir::*, schedule::*};
fn linear() -> Kernel {
    let b = Builder::new("linear");
    let (w, x) = (b.input::<f32, 2>("w", ["R", "K"]), b.input::<f32, 2>("x", ["T", "K"]));
    let y = b.output::<f32, 2>("y", ["T", "R"]);
    b.each("t", 0, b.extent("T"), |t| {
        b.each("r", 0, b.extent("R"), |r| {
            y.set([t, r], b.sum("k", 0, b.extent("K"), |k| w.at([r, k]) * x.at([t, k])));
        });
    });
    b.finish().unwrap()
}
fn rmsnorm() -> Kernel {
    let b = Builder::new("rmsnorm");
    let x = b.input::<f32, 2>("x", ["T", "D"]);
    let w = b.input::<f32, 1>("w", ["D"]);
    let y = b.output::<f32, 2>("y", ["T", "D"]);
    let eps = b.scalar::<f32>("eps");
    b.each("t", 0, b.extent("T"), |t| {
        let s = b.name("s", b.sum("j", 0, b.extent("D"), |j| x.at([t, j]) * x.at([t, j])));
        let scale = b.name("scale", (s / b.extent("D").to_f32() + eps).rsqrt());
        b.each("i", 0, b.extent("D"), |i| {
            y.set([t, i], x.at([t, i]) * scale * w.at([i]));
        });
    });
    b.finish().unwrap()
}
fn sched(kernel: &str, text: &str) -> Schedule {
    let mut s = Schedule { name: "s".into(), kernel: kernel.into(), ..Default::default() };
    for line in text.split(';').map(str::trim).filter(|l| !l.is_empty()) {
        if let Some(r) = line.strip_prefix("fold ") {
            let (a, k) = r.split_once(": ").unwrap();
            s.folds.push((a.into(), match k { "subgroup" => Fold::Subgroup, "serial" => Fold::Serial, _ => Fold::Tree }));
        } else if let Some(r) = line.strip_prefix("stage ") {
            let (t, l) = r.split_once(" at ").unwrap();
            s.stages.push(Stage { tensor: t.into(), at: l.into(), place: Place::Workgroup });
        } else if let Some(r) = line.strip_prefix("compute ") {
            let (t, l) = r.split_once(" at ").unwrap();
            s.computes.push(Compute { value: t.into(), at: l.into(), place: Place::Workgroup });
        } else if let Some(r) = line.strip_prefix("store ") {
            let (t, _) = r.split_once(": ").unwrap();
            s.stores.push((t.into(), Storage::F16));
        } else {
            let (a, ls) = line.split_once(": ").unwrap();
            let levels = ls.split(", ").map(|l| {
                let (l, name) = l.split_once(" as ").map_or((l, None), |(a, b)| (a, Some(b.to_string())));
                let (k, n) = l.split_once('(').map_or((l, None), |(a, b)| (a, Some(b.trim_end_matches(')').parse().unwrap())));
                Level { kind: match k { "grid" => LevelKind::Grid, "serial" => LevelKind::Serial, "lanes" => LevelKind::Lanes, "unroll" => LevelKind::Unroll, _ => LevelKind::Vector }, size: n, name }
            }).collect();
            s.axes.push(AxisLevels { axis: a.into(), levels });
        }
    }
    s
}
fn show(k: &Kernel, s: &str, shape: &Shape, t: &Target) {
    match compile(k, &sched(&k.name, s), shape, t) {
        Ok(p) => for s in &p.shaders { println!("{:?}\n{}", s.dispatch, s.wgsl) },
        Err(e) => println!("ERROR {e}"),
    }
}

fn softmax_monoid() -> Monoid {
    let m = MonoidBuilder::new("Softmax", Some("C"));
    let mx = m.field::<f32>("max", LOWEST);
    let w = m.field::<f32>("weight", 0.0f32);
    let v = m.array::<f32>("value", 0.0f32);
    let mm = mx.a.max(mx.b);
    let wa = (mx.a - mm).exp();
    let wb = (mx.b - mm).exp();
    let merge = vec![mm.id(), (w.a * wa + w.b * wb).id(), (v.a * wa + v.b * wb).id()];
    m.finish(merge).unwrap()
}
fn attention() -> Kernel {
    let b = Builder::new("attention");
    let q = b.input::<f32, 3>("q", ["T", "H", "D"]);
    let k = b.input::<f32, 3>("k", ["P", "G", "D"]);
    let v = b.input::<f32, 3>("v", ["P", "G", "D"]);
    let y = b.output::<f32, 3>("y", ["T", "H", "D"]);
    let pos = b.scalar::<u32>("pos");
    let scale = b.scalar::<f32>("scale");
    b.each("t", 0, b.extent("T"), |t| {
        b.each("h", 0, b.extent("H"), |h| {
            let g = h * b.extent("G") / b.extent("H");
            let a = b.fold(&softmax_monoid(), "j", 0, pos + t + 1, Some(b.extent("D")), |j, c| {
                let score = b.name("score", b.sum("d", 0, b.extent("D"), |d| q.at([t, h, d]) * scale * k.at([j, g, d])));
                vec![score.id(), b.f32(1.0).id(), v.at([j, g, c.unwrap()]).id()]
            });
            b.each("c", 0, b.extent("D"), |c| {
                y.set([t, h, c], a.elements::<f32>(2).at(c) / a.field::<f32>(1));
            });
        });
    });
    b.finish().unwrap()
}
#[test]
fn scratch() {
    let t = Target::webgpu_subgroups();
    let sh = Shape::new().param("T", 64).fixed("R", 896).fixed("K", 896);
    let f = tilewright_codegen::fuse::fuse("norm_linear", &linear(), "x", "norm", &rmsnorm()).unwrap();
    show(&f, "t: grid; r: grid, lanes(2), unroll(4); k: serial, lanes(32), vector(4); norm.j: serial, lanes(64), vector(4)", &sh, &t);
    let sh = Shape::new().fixed("T", 1).fixed("H", 14).fixed("G", 2).fixed("D", 64).fixed("P", 512);
    show(&attention(), "", &sh, &t);
    show(&attention(), "t: grid; h: grid; j: serial as jo, serial(64); softmax.c: lanes(64); c: lanes(64); d: serial, vector(4); compute score at jo", &sh, &t);
    show(&attention(), "t: grid; h: grid; j: serial, lanes(8); softmax.c: lanes(16), unroll(4); c: lanes(16), unroll(4); d: lanes(16), vector(4)", &sh, &t);
}
