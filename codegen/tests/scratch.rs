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

fn softmax() -> Kernel {
    let b = Builder::new("softmax");
    let x = b.input::<f32, 2>("x", ["R", "C"]);
    let y = b.output::<f32, 2>("y", ["R", "C"]);
    b.each("r", 0, b.extent("R"), |r| {
        let m = b.name("m", b.max("i", 0, b.extent("C"), |i| x.at([r, i])));
        let s = b.name("s", b.sum("j", 0, b.extent("C"), |j| (x.at([r, j]) - m).exp()));
        b.each("c", 0, b.extent("C"), |c| y.set([r, c], (x.at([r, c]) - m).exp() / s));
    });
    b.finish().unwrap()
}
fn argmax() -> Kernel {
    let b = Builder::new("argmax");
    let x = b.input::<f32, 2>("x", ["T", "V"]);
    let y = b.output::<u32, 1>("y", ["T"]);
    b.each("t", 0, b.extent("T"), |t| y.set([t], b.argmax("v", 0, b.extent("V"), |v| x.at([t, v]))));
    b.finish().unwrap()
}
fn rope() -> Kernel {
    let b = Builder::new("rope");
    let x = b.in_out::<f32, 3>("x", ["T", "H", "D"]);
    let cos = b.input::<f32, 2>("cos", ["P", "E"]);
    let sin = b.input::<f32, 2>("sin", ["P", "E"]);
    let pos = b.scalar::<u32>("pos");
    b.each("t", 0, b.extent("T"), |t| b.each("h", 0, b.extent("H"), |h| b.each("p", 0, b.extent("E"), |p| {
        let (c, s) = (cos.at([pos + t, p]), sin.at([pos + t, p]));
        let a = x.at([t, h, p]);
        let z = x.at([t, h, p + b.extent("E")]);
        x.set([t, h, p], a * c - z * s);
        x.set([t, h, p + b.extent("E")], z * c + a * s);
    })));
    b.finish().unwrap()
}
fn embedding() -> Kernel {
    let b = Builder::new("embedding");
    let table = b.input::<f32, 2>("table", ["V", "D"]);
    let ids = b.input::<u32, 1>("ids", ["T"]);
    let y = b.output::<f32, 2>("y", ["T", "D"]);
    b.each("t", 0, b.extent("T"), |t| b.each("i", 0, b.extent("D"), |i| y.set([t, i], table.at([ids.at([t]), i]))));
    b.finish().unwrap()
}
use std::collections::BTreeMap;
fn run(k: &Kernel, s: &str, dims: &[(&str, u32, bool)], scalars: &[(&str, u32)], target: &Target, size: u32) -> Result<Vec<f32>, String> {
    let mut shape = Shape::new();
    let mut params: BTreeMap<String, u32> = scalars.iter().map(|(n, v)| (n.to_string(), *v)).collect();
    for (n, v, p) in dims {
        shape = if *p { shape.param(n, v + 3) } else { shape.fixed(n, *v) };
        params.insert(n.to_string(), *v);
    }
    let p = compile(k, &sched(&k.name, s), &shape, target).map_err(|e| e.to_string())?;
    let mut data: BTreeMap<String, Vec<Vec<u32>>> = BTreeMap::new();
    for (i, t) in p.tensors.iter().enumerate() {
        let mut seed = 12345u32 + i as u32 * 77;
        let rows: u32 = t.dims[..t.dims.len() - 1].iter().product();
        let inner = *t.dims.last().unwrap();
        let per = if t.storage == Storage::F32 { 1 } else { 2 };
        let mut words = vec![0u32; (rows * t.stride / per) as usize];
        for r in 0..rows { for c in 0..inner {
            seed = seed.wrapping_mul(1664525).wrapping_add(1013904223);
            let v = ((seed >> 20) as f32 / 4096.0 - 0.5) * 2.0;
            let v = (v * 64.0).round() / 64.0;
            let at = r * t.stride + c;
            if t.integer { words[at as usize] = seed >> 28; }
            else if per == 1 { words[at as usize] = v.to_bits(); }
            else { let h = half::f16::from_f32(v).to_bits() as u32; words[(at / 2) as usize] |= h << (16 * (at % 2)); }
        } }
        let mut parts = vec![]; let mut at = 0usize;
        for i in 0..t.parts.len() { let n = (t.part_bytes(i) / 4) as usize; parts.push(words[at..at + n].to_vec()); at += n; }
        data.insert(t.name.clone(), parts);
    }
    for sh in &p.shaders {
        let mut bufs: Vec<Vec<u32>> = sh.loops.buffers.iter().map(|b| data[&b.tensor][b.part as usize].clone()).collect();
        let ps: Vec<u32> = sh.loops.params.iter().map(|x| params[&x.name]).collect();
        let d = [sh.dispatch[0].eval(&params).unwrap(), sh.dispatch[1].eval(&params).unwrap()];
        tilewright_codegen::interp::run(&sh.loops, d, &ps, &mut bufs, size).map_err(|e| format!("{e}\n{}", sh.wgsl))?;
        for (b, v) in sh.loops.buffers.iter().zip(bufs) { data.get_mut(&b.tensor).unwrap()[b.part as usize] = v; }
    }
    let out = p.tensors.iter().find(|t| t.written).unwrap();
    let words = &data[&out.name][0];
    Ok(words.iter().map(|w| if out.integer { *w as f32 } else { f32::from_bits(*w) }).collect())
}
fn check(k: &Kernel, schedules: &[&str], dims: &[(&str, u32, bool)], scalars: &[(&str, u32)]) {
    let mut t = Target::webgpu_subgroups(); t.subgroups = Some(tilewright_codegen::target::Subgroups { min: 1, max: 128 });
    let want = run(k, "", dims, scalars, &t, 4).unwrap();
    for s in schedules {
        for size in [1, 4, 32, 128] {
            if size != 4 && !s.contains("subgroup") { continue; }
            match run(k, s, dims, scalars, &t, size) {
                Ok(got) => {
                    let tol = if s.contains("f16") { 2e-3 } else { 1e-4 };
                    let worst = want.iter().zip(&got).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                    if worst > tol || worst.is_nan() { println!("WRONG {} {s} {dims:?} size {size}: {worst}", k.name); }
                }
                Err(e) => println!("ERROR {} [{s}] {dims:?} size {size}: {}", k.name, e),
            }
        }
    }
}
#[test]
fn scratch() {
    for (t, r, kk) in [(1, 1, 1), (3, 7, 13), (5, 17, 130), (65, 63, 33), (2, 64, 896), (64, 65, 16)] {
        for tp in [false, true] {
        check(&linear(), &[
            "t: grid; r: grid; k: serial",
            "t: grid; r: grid, lanes(2), unroll(4); k: serial, lanes(32), vector(4)",
            "t: grid; r: grid, lanes(2), unroll(4); k: serial, lanes(32), unroll(2), vector(4); fold k: serial",
            "t: grid; r: grid, lanes(4); k: serial, lanes(32), vector(4); fold k: subgroup",
            "t: grid; r: grid, lanes(2), unroll(2); k: serial, lanes(64), vector(8); fold k: subgroup; store w: f16",
            "t: grid; r: grid, lanes(64); k: serial, vector(2); store w: f16",
            "t: serial; r: grid, lanes(8); k: serial, lanes(8), vector(4)",
            "t: grid, unroll(2); r: grid, lanes(4); k: serial, lanes(16)",
            "t: grid, lanes(16), unroll(4); r: grid, lanes(16), unroll(4); k: serial as ko, serial(16); stage w at ko; stage x at ko",
            "t: grid, lanes(8), unroll(2); r: grid, lanes(8), unroll(4); k: serial as ko, serial(2), unroll(2), vector(4); stage w at ko; stage x at ko; store w: f16",
            "t: grid, lanes(4); r: grid, lanes(16); k: serial as ko, serial(8); stage x at ko",
        ], &[("T", t, tp), ("R", r, false), ("K", kk, false)], &[]);
        }
    }
    for (t, d) in [(1, 1), (3, 13), (2, 64), (2, 896), (5, 130)] {
        check(&rmsnorm(), &[
            "t: grid; j: serial, lanes(64), vector(4); i: serial, lanes(64)",
            "t: grid; j: serial, lanes(32), vector(4); i: serial, lanes(64)",
            "t: grid, lanes(4); j: serial, lanes(16), unroll(2); i: serial, lanes(16), vector(4)",
            "t: grid; j: serial, lanes(64); i: serial, lanes(64); fold j: subgroup",
            "t: grid, lanes(32); j: serial; i: serial",
            "t: serial; j: serial, lanes(16); i: serial, lanes(16)",
        ], &[("T", t, true), ("D", d, false)], &[("eps", 1e-6f32.to_bits())]);
        check(&softmax(), &[
            "r: grid; i: serial, lanes(64); j: serial, lanes(64), vector(4); c: serial, lanes(64)",
            "r: grid, lanes(2); i: serial, lanes(32); j: serial, lanes(32); c: serial, lanes(32); fold i: subgroup; fold j: subgroup",
            "r: grid, lanes(64)",
            "r: grid, lanes(2), unroll(2); i: serial, lanes(32); j: serial, lanes(32); c: serial, lanes(32)",
        ], &[("R", t, false), ("C", d, false)], &[]);
        check(&argmax(), &[
            "t: grid; v: serial, lanes(256)", "t: grid; v: serial, lanes(64), vector(4)", "t: grid; v: serial, lanes(128); fold v: subgroup", "t: grid; v: serial, lanes(32); fold v: serial",
        ], &[("T", t, true), ("V", d, false)], &[]);
        let f = tilewright_codegen::fuse::fuse("norm_linear", &linear(), "x", "norm", &rmsnorm()).unwrap();
        check(&f, &["t: grid; r: grid, lanes(2), unroll(4); k: serial, lanes(32), vector(4); norm.j: serial, lanes(64)"], &[("T", t, true), ("R", 17, false), ("K", d, false)], &[("norm.eps", 1e-6f32.to_bits())]);
        check(&rope(), &["t: grid; h: grid; p: lanes(64)", "t: grid; h: grid, lanes(4); p: serial, lanes(16)", "t: grid, lanes(64); h: serial; p: serial", "t: grid; h: grid; p: serial, lanes(16), unroll(2)"], &[("T", t, true), ("H", 3, false), ("E", 16, false), ("D", 32, false), ("P", 16, false)], &[("pos", 4)]);
        check(&embedding(), &["t: grid; i: grid, lanes(64)", "t: grid; i: serial, lanes(32), vector(4)", "t: grid; i: grid, lanes(64); store table: f16", "t: grid, lanes(64)"], &[("T", t, true), ("D", d, false), ("V", 16, false)], &[]);
    }
    for (t, pos) in [(1, 0), (1, 5), (3, 0), (2, 70), (5, 127)] {
        for d in [32, 48] {
        let a = format!("t: grid; h: grid; j: serial as jo, serial(64); softmax.c: lanes({d}); c: lanes({d}); d: serial, vector(4); compute score at jo");
        check(&attention(), &[&a,
            "t: grid; h: grid; j: serial, lanes(8); softmax.c: lanes(16), unroll(3); c: lanes(16), unroll(3); d: lanes(16), vector(4)",
            "t: grid; h: grid; j: serial, lanes(8)",
            "t: grid; h: grid; j: serial, lanes(8); fold j: subgroup",
            "t: grid; h: grid; j: serial, lanes(4); softmax.c: serial, lanes(16); c: serial, lanes(16); d: serial, vector(4)",
            "t: grid; h: grid, lanes(64)",
            "t: grid; h: grid; j: serial; softmax.c: serial, lanes(16); c: serial, lanes(16); d: serial, lanes(16)",
            "t: grid, lanes(8); h: grid; j: serial as jo, serial(16); d: serial; stage k at jo; stage v at jo", "t: grid, lanes(4); h: grid; j: serial as jo, serial(16); softmax.c: lanes(16), unroll(3); c: lanes(16), unroll(3); d: serial; stage k at jo; stage v at jo; compute score at jo", "t: grid, lanes(4), unroll(2); h: grid; j: serial as jo, serial(16); softmax.c: lanes(16), unroll(3); c: lanes(16), unroll(3); d: serial, vector(4); stage v at jo; compute score at jo",
        ], &[("T", t, true), ("H", 6, false), ("G", 2, false), ("D", d, false), ("P", 160, false)], &[("pos", pos), ("scale", 0.3f32.to_bits())]);
        }
    }
    let mut small = Target::webgpu_subgroups(); small.max_binding_bytes = 4096; small.max_workgroups = 7;
    let lin = linear();
    let dims = [("T", 3, true), ("R", 63, false), ("K", 33, false)];
    let want = run(&lin, "", &dims, &[], &Target::webgpu_subgroups(), 4).unwrap();
    for s in ["", "t: grid; r: grid, lanes(2), unroll(4); k: serial, lanes(32), vector(4)", "t: grid; r: grid; k: serial, lanes(32), vector(4)",
        "t: grid, lanes(16), unroll(4); r: grid, lanes(16), unroll(4); k: serial as ko, serial(16); stage w at ko; stage x at ko", "r: grid, lanes(64)"] {
        match run(&lin, s, &dims, &[], &small, 4) { Ok(got) => { let worst = want.iter().zip(&got).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max); if worst > 1e-4 { println!("WRONG split {s} {worst}"); } } Err(e) => println!("ERROR split {s} {e}") }
    }
    let e = embedding();
    let dims = [("T", 5, true), ("V", 16, false), ("D", 100, false)];
    let want = run(&e, "", &dims, &[], &Target::webgpu_subgroups(), 4).unwrap();
    for s in ["", "t: grid; i: grid, lanes(64)", "t: grid; i: grid, lanes(64), vector(4)"] {
        match run(&e, s, &dims, &[], &small, 4) { Ok(got) => { let worst = want.iter().zip(&got).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max); if worst > 1e-4 { println!("WRONG split {s} {worst}"); } } Err(e) => println!("ERROR split {s} {e}") }
    }
}
