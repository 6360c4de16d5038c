//! A layer's attention: heads from the projections, keys and values into the cache, and the mix of values.
//!
//! The rule: which of attention's texts runs is the plan's business; a head's arithmetic is the same in all of them.
//! Absent: the output projection, which is the layer's.

use tilewright_codegen::program::Count;
use tilewright_runtime::{Role, ScalarSource};

use super::{ANGLES, HEADS, PARTS, Qwen2, SEEN, pos};
use crate::checkpoint::layer_tensor;
use crate::engine::assembly::{Assembly, Call, Tensor, times};
use crate::error::ModelError;
use crate::kernels::attention_parts;
use crate::variants::Attention;

impl Qwen2<'_, '_> {
    /// Rotated queries [T, H, D]; keys and values go to the cache.
    pub(super) fn heads(
        &mut self,
        layer: usize,
        h: &Tensor,
        norm: &Tensor,
        cache: [&Tensor; 2],
    ) -> Result<Tensor, ModelError> {
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
    pub(super) fn heads_stacked(
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
        let whole = Call {
            label: "qkv",
            kernel: "qkv",
            extents: &[&extents[..7], &extents[8..]].concat(),
            tensors: &[&angles, &q, &b, &w, h, norm, cache[0], cache[1]],
            scalars: &scalars,
            touched,
        };
        // With a table of pages it takes nine bindings, and a device may have eight.
        if self.fused() && self.a.holds(&whole)? {
            self.a.op(whole)?;
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

    /// Causal attention over the cache, in the plan's way.
    pub(super) fn attention(&mut self, q: &Tensor, keys: &Tensor, values: &Tensor) -> Result<Tensor, ModelError> {
        let y = self.activation("mixed"); // [T, H, D]
        let [g, d, p] = self.cache_extents();
        let extents = [g, d, p, ("H", self.c.num_attention_heads)];
        let scalars = [pos(), ("scale", self.scale())];
        let seen = Count::Add(Box::new(Count::Param("pos".into())), Box::new(self.a.rows().count()));
        let touched = [("k", seen.clone()), ("v", seen)];
        let (extents, scalars, touched) = (&extents, &scalars, &touched);
        match self.attention {
            Attention::Naive => self.by_table(q, keys, values, &y)?,
            Attention::Chunked => {
                let (top, total) = (self.activation("top"), self.activation("total")); // [T, H] each
                let (label, tensors) = ("attention_stats", &[q, keys, &top, &total]);
                self.a.op(Call { label, kernel: label, extents, tensors, scalars, touched })?;
                let (label, tensors) = ("attention_values", &[q, keys, values, &top, &total, &y]);
                self.a.op(Call { label, kernel: label, extents, tensors, scalars, touched })?;
            }
            Attention::Fused => {
                let (label, tensors) = ("attention", &[q, keys, values, &y]);
                self.a.op(Call { label, kernel: label, extents, tensors, scalars, touched })?;
            }
            Attention::Split => {
                let count = ("j.Parts", self.context.div_ceil(attention_parts::CHUNK as usize));
                let told = ("j.Parts", ScalarSource::Param(PARTS.into()));
                // [T, H, parts, ..] each.
                let [max, weight, value] = ["part max", "part weight", "part value"].map(|name| self.activation(name));
                self.a.op(Call {
                    label: "attention_parts",
                    kernel: "attention_parts",
                    extents: &[&extents[..], &[count]].concat(),
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
            }
        }
        Ok(y)
    }

    /// Attention by a table of all scores.
    fn by_table(&mut self, q: &Tensor, keys: &Tensor, values: &Tensor, y: &Tensor) -> Result<(), ModelError> {
        let (scores, weights) = (self.activation("scores"), self.activation("weights")); // [T · H, P] each
        let [g, d, p] = self.cache_extents();
        let (heads, rows) = (self.c.num_attention_heads, self.a.rows());
        let table = [("R", rows.capacity() * heads), ("C", self.context)];
        let told = [("C", ScalarSource::Param(SEEN.into())), ("R", ScalarSource::Param(HEADS.into()))];
        let extents = &[&[g, d, p, ("H", heads)], &table[..]].concat();
        let seen = Count::Param("C".into());
        let lines = times(rows.count(), heads as u64);
        self.a.op(Call {
            label: "scores",
            kernel: "attention_scores",
            extents,
            tensors: &[q, keys, &scores],
            scalars: &[&[pos(), ("scale", self.scale())], &told[..]].concat(),
            touched: &[("k", seen.clone()), ("scores", lines.clone())],
        })?;
        self.a.op(Call {
            label: "softmax",
            kernel: "softmax",
            extents: &table,
            tensors: &[&scores, &weights],
            scalars: &told,
            touched: &[("x", lines.clone()), ("y", lines.clone())],
        })?;
        self.a.op(Call {
            label: "attention",
            kernel: "attention_mix",
            extents,
            tensors: &[&weights, values, y],
            scalars: &[&[pos()], &told[..]].concat(),
            touched: &[("weights", lines), ("v", seen)],
        })
    }

    fn scale(&self) -> ScalarSource {
        ScalarSource::F32(1.0 / (self.c.head_dim as f32).sqrt())
    }

    fn cache_extents(&self) -> [(&'static str, usize); 3] {
        [("G", self.c.num_key_value_heads), ("D", self.c.head_dim), ("P", self.context)]
    }
}
