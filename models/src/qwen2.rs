//! Qwen2's forward pass as a list of ops, in the order of the paper, with a shape on every tensor.
//!
//! The rule: what is computed stands here once, for one position and for many; how each op runs is its schedule's business,
//! and which text of attention runs is the plan's. T is the positions of a step, H the query heads, G the key-value heads,
//! D the columns of a head, P the positions of the cache, V the vocabulary.
//! Qwen2 and Qwen2.5: arXiv:2407.10671, arXiv:2412.15115; transformers' `modeling_qwen2.py`.

mod attention;
mod head;
mod names;
mod sampling;

pub use names::{ANGLES, HEADS, IDS, KEY, LOGITS, PAGE_TABLE, PAIRS, PARTS, ROW, SEEN, TOKEN, TOKENS};

use tilewright_runtime::{Role, ScalarSource};

use crate::checkpoint::{EMBEDDING, layer_tensor};
use crate::config::Config;
use crate::engine::assembly::{Assembly, Call, Tensor};
use crate::error::ModelError;
use crate::variants::Attention;

/// A model's ops in the making.
pub struct Qwen2<'m, 'a> {
    a: &'m mut Assembly<'a>,
    c: &'m Config,
    /// Positions of the cache.
    context: usize,
    /// How attention reads the cache.
    attention: Attention,
}

impl<'m, 'a> Qwen2<'m, 'a> {
    /// The model of `c` with a cache of `context` positions that attention reads in that way.
    pub fn new(a: &'m mut Assembly<'a>, c: &'m Config, context: usize, attention: Attention) -> Self {
        Qwen2 { a, c, context, attention }
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
        self.a.tier().fused && self.a.rows().decodes()
    }

    /// Whether this step's projections are made with what follows them.
    fn followed(&self) -> bool {
        self.a.tier().followed && !self.a.rows().decodes()
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

    fn elementwise(
        &mut self,
        label: &str,
        kernel: &'static str,
        tensors: &[&Tensor],
        width: usize,
    ) -> Result<(), ModelError> {
        self.a.op(Call { label, kernel, extents: &[("D", width)], tensors, scalars: &[], touched: &[] })
    }
}

fn pos() -> (&'static str, ScalarSource) {
    ("pos", ScalarSource::Param("pos".into()))
}
