//! Qwen2's forward pass as a list of ops, in the order of the paper, with a shape on every tensor.
//!
//! The rule: what is computed stands here once, for one position and for many; how each op runs is its schedule's business,
//! and which text of attention runs is the tier's. T is the positions of a step, H the query heads, G the key-value heads,
//! D the columns of a head, P the positions of the cache, V the vocabulary.
//! Qwen2 and Qwen2.5: arXiv:2407.10671, arXiv:2412.15115; transformers' `modeling_qwen2.py`.

mod names;

pub use names::{ANGLES, IDS, LOGITS, PARTS, ROW, TOKEN};

use tilewright_codegen::program::Count;
use tilewright_runtime::{Role, ScalarSource};

use crate::checkpoint::{EMBEDDING, FINAL_NORM, layer_tensor};
use crate::config::Config;
use crate::engine::assembly::{Assembly, Call, Rows, Tensor};
use crate::error::ModelError;
use crate::kernels::{attention_parts, head_parts};

/// A model's ops in the making.
pub struct Qwen2<'m, 'a> {
    a: &'m mut Assembly<'a>,
    c: &'m Config,
    /// Positions of the cache.
    context: usize,
    /// Whether attention reads the cache in parts.
    parts: bool,
}

impl<'m, 'a> Qwen2<'m, 'a> {
    /// The model of `c` with a cache of `context` positions.
    pub fn new(a: &'m mut Assembly<'a>, c: &'m Config, context: usize) -> Self {
        Qwen2 { a, c, context, parts: false }
    }

    /// The same, with attention that reads the cache in parts or all at once.
    #[must_use]
    pub fn in_parts(self, parts: bool) -> Self {
        Qwen2 { parts, ..self }
    }

    /// From ids to the residual stream after the last layer, [T, hidden].
    ///
    /// # Errors
    /// Those of [`Assembly::op`].
    pub fn layers(&mut self) -> Result<Tensor, ModelError> {
        let ids = self.a.tensor(IDS, Role::Input); // [T]
        let table = self.a.tensor(EMBEDDING, Role::Weight); // [V, hidden]
        let h = self.activation("h"); // [T, hidden]
        self.lookup("embed", &ids, &table, self.c.vocab_size, &h)?;
        for layer in 0..self.c.num_hidden_layers {
            self.a.layer(layer as u32);
            self.layer(layer, &h)?;
        }
        Ok(h)
    }

    /// One decoder layer, in place on the residual stream h [T, hidden].
    fn layer(&mut self, layer: usize, h: &Tensor) -> Result<(), ModelError> {
        let c = self.c;
        let (hidden, inner, q_width) = (c.hidden_size, c.intermediate_size, c.q_width());
        let weight = |a: &Assembly, part: &str| a.tensor(layer_tensor(layer, part), Role::Weight);
        let keys = self.a.tensor(format!("keys {layer}"), Role::State); // [P, G, D]
        let values = self.a.tensor(format!("values {layer}"), Role::State); // [P, G, D]
        let norm = weight(self.a, "input_layernorm.weight"); // [hidden]
        let stacked = self.a.tier().stacked;
        let q = if stacked {
            self.heads_stacked(layer, h, &norm, [&keys, &values])?
        } else {
            self.heads(layer, h, &norm, [&keys, &values])?
        };
        let mixed = self.attention(&q, &keys, &values)?; // [T, H, D]
        let o = weight(self.a, "self_attn.o_proj.weight"); // [hidden, H·D]
        let norm = weight(self.a, "post_attention_layernorm.weight"); // [hidden]
        let gate = weight(self.a, "mlp.gate_proj.weight"); // [inner, hidden]
        let up = weight(self.a, "mlp.up_proj.weight"); // [inner, hidden]
        let down = weight(self.a, "mlp.down_proj.weight"); // [hidden, inner]
        self.add(("attn_out", "attn_residual"), &o, &mixed, h, q_width)?;
        if self.fused() {
            let gated = self.activation("gated"); // [T, inner]
            self.a.op(Call {
                label: "gated",
                kernel: "norm_gated",
                extents: &[("D", inner), ("K", hidden)],
                tensors: &[&gated, &gate, &up, h, &norm],
                scalars: &[("norm.eps", ScalarSource::F32(c.rms_norm_eps))],
                touched: &[],
            })?;
            return self.add(("mlp_out", "out"), &down, &gated, h, inner);
        }
        let x = self.norm("post_attn_norm", h, &norm)?; // [T, hidden]
        if self.followed() {
            let gated = self.activation("gated"); // [T, inner]
            self.a.op(Call {
                label: "gated",
                kernel: "gated",
                extents: &[("D", inner), ("K", hidden)],
                tensors: &[&gated, &gate, &x, &up],
                scalars: &[],
                touched: &[],
            })?;
            return self.add(("mlp_out", "out"), &down, &gated, h, inner);
        }
        let gate = self.linear("gate_proj", &gate, &x, inner, hidden)?; // [T, inner]
        let up = self.linear("up_proj", &up, &x, inner, hidden)?; // [T, inner]
        let (active, gated) = (self.activation("active"), self.activation("gated")); // [T, inner] each
        self.elementwise("silu", "silu", &[&gate, &active], inner)?;
        self.elementwise("mul", "mul", &[&active, &up, &gated], inner)?;
        self.add(("mlp_out", "out"), &down, &gated, h, inner)
    }

    /// Whether this step's ops are those that the compiler made of several.
    fn fused(&self) -> bool {
        self.a.tier().fused && self.a.rows() == Rows::One
    }

    /// Whether this step's projections are made with what follows them.
    fn followed(&self) -> bool {
        self.a.tier().followed && self.a.rows() != Rows::One
    }

    /// Rotated queries [T, H, D]; keys and values go to the cache.
    fn heads(&mut self, layer: usize, h: &Tensor, norm: &Tensor, cache: [&Tensor; 2]) -> Result<Tensor, ModelError> {
        let c = self.c;
        let weight = |a: &Assembly, part: &str| a.tensor(layer_tensor(layer, part), Role::Weight);
        let (q_width, kv_width) = (c.q_width(), c.kv_width());
        let x = self.norm("input_norm", h, norm)?; // [T, hidden]
        let mut qkv = Vec::with_capacity(3);
        for (part, width) in [("q_proj", q_width), ("k_proj", kv_width), ("v_proj", kv_width)] {
            let w = weight(self.a, &format!("self_attn.{part}.weight")); // [width, hidden]
            qkv.push(self.linear(part, &w, &x, width, c.hidden_size)?); // [T, width]
        }
        let mut biased = Vec::with_capacity(3);
        for (part, x, width) in
            [("q_bias", &qkv[0], q_width), ("k_bias", &qkv[1], kv_width), ("v_bias", &qkv[2], kv_width)]
        {
            let b = weight(self.a, &format!("self_attn.{}_proj.bias", &part[..1])); // [width]
            biased.push(self.bias(part, x, &b, width)?);
        }
        let [q, k, v] = &biased[..] else { return Ok(x) };
        let q = self.rope("q_rope", q, c.num_attention_heads)?; // [T, H, D]
        let k = self.rope("k_rope", k, c.num_key_value_heads)?; // [T, G, D]
        self.append("k_append", &k, cache[0])?;
        self.append("v_append", v, cache[1])?;
        Ok(q)
    }

    /// As [`Qwen2::heads`], from one projection whose rows are those of q, k and v.
    fn heads_stacked(
        &mut self,
        layer: usize,
        h: &Tensor,
        norm: &Tensor,
        cache: [&Tensor; 2],
    ) -> Result<Tensor, ModelError> {
        let c = self.c;
        let (hidden, width) = (c.hidden_size, c.q_width() + 2 * c.kv_width());
        let w = self.a.tensor(layer_tensor(layer, "self_attn.qkv_proj.weight"), Role::Weight); // [width, hidden]
        let b = self.a.tensor(layer_tensor(layer, "self_attn.qkv_proj.bias"), Role::Weight); // [width]
        let (heads, groups) = (c.num_attention_heads, c.num_key_value_heads);
        let angles = self.a.tensor(ANGLES, Role::Input); // [P, D]
        let q = self.activation("q"); // [T, H, D]
        let rows = self.a.rows();
        let first = |n: usize| ScalarSource::U32(n as u32);
        let scalars = [
            pos(),
            ("q.from", first(0)),
            ("q.at", first(0)),
            ("k.from", first(heads)),
            ("k.at", ScalarSource::Param("pos".into())),
            ("v.from", first(heads + groups)),
            ("in.norm.eps", ScalarSource::F32(c.rms_norm_eps)),
        ];
        let extents = [
            ("D", c.head_dim),
            ("P", self.context),
            ("q.C", rows.capacity()),
            ("q.H", heads),
            ("k.C", self.context),
            ("k.H", groups),
            ("v.G", groups),
            ("S", heads + 2 * groups),
            ("R", width),
            ("K", hidden),
        ];
        let touched = &["angles", "q.y", "k.y", "v.cache"].map(|name| (name, rows.count()));
        if self.fused() {
            self.a.op(Call {
                label: "qkv",
                kernel: "qkv",
                extents: &[&extents[..7], &extents[8..]].concat(),
                tensors: &[&angles, &q, &b, &w, h, norm, cache[0], cache[1]],
                scalars: &scalars,
                touched,
            })?;
            return Ok(q);
        }
        let x = self.norm("input_norm", h, norm)?; // [T, hidden]
        let qkv = if self.followed() {
            let qkv = self.activation("qkv"); // [T, width]
            self.a.op(Call {
                label: "qkv",
                kernel: "linear_bias",
                extents: &[("R", width), ("K", hidden)],
                tensors: &[&b, &qkv, &w, &x],
                scalars: &[],
                touched: &[],
            })?;
            qkv
        } else {
            let projected = self.linear("qkv_proj", &w, &x, width, hidden)?; // [T, width]
            self.bias("qkv", &projected, &b, width)? // [T, width]
        };
        self.a.op(Call {
            label: "rope_append",
            kernel: "rope_append",
            extents: &extents[..8],
            tensors: &[&qkv, &angles, &q, cache[0], cache[1]],
            scalars: &scalars[..6],
            touched,
        })?;
        Ok(q)
    }

    /// h += x·Wᵀ, in one op or in two; `labels` are the projection's and the sum's.
    fn add(&mut self, labels: (&str, &str), w: &Tensor, x: &Tensor, h: &Tensor, k: usize) -> Result<(), ModelError> {
        let hidden = self.c.hidden_size;
        if !self.fused() && !self.followed() {
            let y = self.linear(labels.0, w, x, hidden, k)?; // [T, hidden]
            return self.elementwise(labels.1, "residual", &[h, &y], hidden);
        }
        self.a.op(Call {
            label: labels.1,
            kernel: "linear_residual",
            extents: &[("D", hidden), ("K", k)],
            tensors: &[h, w, x],
            scalars: &[],
            touched: &[],
        })
    }

    /// Row `row[0]` of the residual stream, [1, hidden]: a lookup in it. `chunk` is its rows.
    ///
    /// # Errors
    /// Those of [`Assembly::op`].
    pub fn last_row(&mut self, h: &Tensor, chunk: usize) -> Result<Tensor, ModelError> {
        let row = self.a.tensor(ROW, Role::Input); // [1]
        let last = self.activation("last"); // [1, hidden]
        self.lookup("last_row", &row, h, chunk, &last)?;
        Ok(last)
    }

    /// From one row of the residual stream to logits, `[1, V]`, and where asked for to the greedy token, `[1]`.
    ///
    /// # Errors
    /// Those of [`Assembly::op`].
    pub fn head(&mut self, h: &Tensor, head: &str, token: bool) -> Result<(), ModelError> {
        let (hidden, vocab) = (self.c.hidden_size, self.c.vocab_size);
        let norm = self.a.tensor(FINAL_NORM, Role::Weight); // [hidden]
        let (w, logits) = (self.a.tensor(head, Role::Weight), self.a.tensor(LOGITS, Role::Output)); // [V, hidden]
        if self.fused() {
            self.a.op(Call {
                label: "head",
                kernel: "norm_linear",
                extents: &[("R", vocab), ("K", hidden)],
                tensors: &[&w, &logits, h, &norm],
                scalars: &[("norm.eps", ScalarSource::F32(self.c.rms_norm_eps))],
                touched: &[],
            })?;
        } else {
            let x = self.norm("final_norm", h, &norm)?; // [1, hidden]
            self.project("head", &w, &x, &logits, vocab, hidden)?; // [1, V]
        }
        if !token {
            return Ok(());
        }
        self.a.op(Call {
            label: "argmax",
            kernel: "argmax",
            extents: &[("V", vocab)],
            tensors: &[&logits, &self.token()],
            scalars: &[limit()],
            touched: &[],
        })
    }

    /// From one row of the residual stream to the greedy token, `[1]`. Where a tier splits and one binding holds the whole head,
    /// logits are not written: every few rows keep their largest.
    ///
    /// # Errors
    /// Those of [`Assembly::op`].
    pub fn greedy(&mut self, h: &Tensor, head: &str) -> Result<(), ModelError> {
        let (hidden, vocab) = (self.c.hidden_size, self.c.vocab_size);
        let norm = self.a.tensor(FINAL_NORM, Role::Weight); // [hidden]
        let w = self.a.tensor(head, Role::Weight); // [V, hidden]
        let (max, index) = (self.activation("head max"), self.activation("head index")); // [1, parts] each
        let parts = ("v.Parts", vocab.div_ceil(head_parts::CHUNK as usize));
        let call = Call {
            label: "head",
            kernel: "head_parts",
            extents: &[("V", vocab), ("K", hidden), parts],
            tensors: &[&max, &index, &w, h, &norm],
            scalars: &[limit(), ("head.norm.eps", ScalarSource::F32(self.c.rms_norm_eps))],
            touched: &[],
        };
        if self.a.tier().split.is_none() || !self.a.holds(&call)? {
            return self.head(h, head, true);
        }
        self.a.op(call)?;
        self.a.op(Call {
            label: "argmax",
            kernel: "argmax_merged",
            extents: &[parts],
            tensors: &[&self.token(), &max, &index],
            scalars: &[],
            touched: &[],
        })
    }

    /// The greedy token's buffer: the next step's input, or a place of its own.
    fn token(&self) -> Tensor {
        if self.a.tier().ahead { self.a.tensor(IDS, Role::Input) } else { self.a.tensor(TOKEN, Role::Output) }
    }

    /// A buffer that lives within a step.
    fn activation(&self, name: &str) -> Tensor {
        self.a.tensor(name, Role::Activation)
    }

    fn lookup(&mut self, label: &str, ids: &Tensor, w: &Tensor, rows: usize, y: &Tensor) -> Result<(), ModelError> {
        self.a.op(Call {
            label,
            kernel: "embedding",
            extents: &[("V", rows), ("D", self.c.hidden_size)],
            tensors: &[ids, w, y],
            scalars: &[],
            touched: &[("w", self.a.rows().count())],
        })
    }

    fn norm(&mut self, label: &str, x: &Tensor, w: &Tensor) -> Result<Tensor, ModelError> {
        let y = self.activation("normed");
        self.a.op(Call {
            label,
            kernel: "rmsnorm",
            extents: &[("D", self.c.hidden_size)],
            tensors: &[x, w, &y],
            scalars: &[("eps", ScalarSource::F32(self.c.rms_norm_eps))],
            touched: &[],
        })?;
        Ok(y)
    }

    /// y = x·Wᵀ in a buffer named by the op.
    fn linear(&mut self, label: &str, w: &Tensor, x: &Tensor, r: usize, k: usize) -> Result<Tensor, ModelError> {
        let y = self.activation(label);
        self.project(label, w, x, &y, r, k)?;
        Ok(y)
    }

    fn project(
        &mut self,
        label: &str,
        w: &Tensor,
        x: &Tensor,
        y: &Tensor,
        r: usize,
        k: usize,
    ) -> Result<(), ModelError> {
        self.a.op(Call {
            label,
            kernel: "linear",
            extents: &[("R", r), ("K", k)],
            tensors: &[w, x, y],
            scalars: &[],
            touched: &[],
        })
    }

    fn bias(&mut self, label: &str, x: &Tensor, b: &Tensor, width: usize) -> Result<Tensor, ModelError> {
        let y = self.activation(label);
        self.a.op(Call {
            label,
            kernel: "bias",
            extents: &[("R", width)],
            tensors: &[x, b, &y],
            scalars: &[],
            touched: &[],
        })?;
        Ok(y)
    }

    fn rope(&mut self, label: &str, x: &Tensor, heads: usize) -> Result<Tensor, ModelError> {
        let angles = self.a.tensor(ANGLES, Role::Input); // [P, D]
        let (d, rows) = (self.c.head_dim, self.a.rows());
        let y = self.activation(label);
        let first = || ScalarSource::U32(0);
        self.a.op(Call {
            label,
            kernel: "rope",
            extents: &[("S", heads), ("H", heads), ("D", d), ("P", self.context), ("C", rows.capacity())],
            tensors: &[x, &angles, &y],
            scalars: &[pos(), ("from", first()), ("at", first())],
            touched: &["angles", "y"].map(|name| (name, rows.count())),
        })?;
        Ok(y)
    }

    fn append(&mut self, label: &str, x: &Tensor, cache: &Tensor) -> Result<(), ModelError> {
        let [g, d, p] = self.cache_extents();
        self.a.op(Call {
            label,
            kernel: "kv_append",
            extents: &[("S", self.c.num_key_value_heads), g, d, p],
            tensors: &[x, cache],
            scalars: &[pos(), ("from", ScalarSource::U32(0))],
            touched: &[("cache", self.a.rows().count())],
        })
    }

    /// Causal attention over the cache, in one pass or in two.
    fn attention(&mut self, q: &Tensor, keys: &Tensor, values: &Tensor) -> Result<Tensor, ModelError> {
        let y = self.activation("mixed"); // [T, H, D]
        let [g, d, p] = self.cache_extents();
        let extents = [g, d, p, ("H", self.c.num_attention_heads)];
        let scale = 1.0 / (self.c.head_dim as f32).sqrt();
        let scalars = [pos(), ("scale", ScalarSource::F32(scale))];
        let seen = Count::Add(Box::new(Count::Param("pos".into())), Box::new(self.a.rows().count()));
        let touched = [("k", seen.clone()), ("v", seen)];
        let (extents, scalars, touched) = (&extents, &scalars, &touched);
        if self.parts {
            let count = ("j.Parts", self.context.div_ceil(attention_parts::CHUNK as usize));
            let (extents, told) = ([&extents[..], &[count]].concat(), ("j.Parts", ScalarSource::Param(PARTS.into())));
            let [max, weight, value] = ["part max", "part weight", "part value"].map(|name| self.activation(name)); // [T, H, parts, ..]
            self.a.op(Call {
                label: "attention_parts",
                kernel: "attention_parts",
                extents: &extents,
                tensors: &[q, keys, values, &max, &weight, &value],
                scalars: &[&scalars[..], std::slice::from_ref(&told)].concat(),
                touched,
            })?;
            self.a.op(Call {
                label: "attention",
                kernel: "attention_merged",
                extents: &[extents[0], extents[1], extents[3], count],
                tensors: &[&y, &max, &weight, &value],
                scalars: &[told],
                touched: &[],
            })?;
            return Ok(y);
        }
        if self.a.tier().single_pass {
            let tensors = &[q, keys, values, &y];
            self.a.op(Call { label: "attention", kernel: "attention", extents, tensors, scalars, touched })?;
            return Ok(y);
        }
        let (top, total) = (self.activation("top"), self.activation("total")); // [T, H] each
        let tensors = &[q, keys, &top, &total];
        self.a.op(Call { label: "attention_stats", kernel: "attention_stats", extents, tensors, scalars, touched })?;
        let tensors = &[q, keys, values, &top, &total, &y];
        self.a.op(Call {
            label: "attention_values",
            kernel: "attention_values",
            extents,
            tensors,
            scalars,
            touched,
        })?;
        Ok(y)
    }

    fn elementwise(
        &mut self,
        label: &str,
        kernel: &'static str,
        tensors: &[&Tensor],
        width: usize,
    ) -> Result<(), ModelError> {
        self.a.op(Call { label, kernel, extents: &[("D", width)], tensors, scalars: &[], touched: &[] })
    }

    fn cache_extents(&self) -> [(&'static str, usize); 3] {
        [("G", self.c.num_key_value_heads), ("D", self.c.head_dim), ("P", self.context)]
    }
}

fn limit() -> (&'static str, ScalarSource) {
    ("limit", ScalarSource::Param("limit".into()))
}

fn pos() -> (&'static str, ScalarSource) {
    ("pos", ScalarSource::Param("pos".into()))
}
