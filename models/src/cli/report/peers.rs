//! Figures of other programs, to stand beside our own: quoted, not measured here.

/// Where and how they were measured.
pub const HOW: &str = "\
Others on one NVIDIA H200 (driver 580.159), batch 1, random weights of the real shapes. llama.cpp at commit 0c1e57098: `llama-bench \
-m MODEL -p 512 -n 128 -r 5 -fa 1` (CUDA; Vulkan with NV_cooperative_matrix2; WebGPU on Dawn). transformers 5.17: `generate` with \
`cache_implementation=\"static\"` and `torch.compile(mode=\"reduce-overhead\")`, prefill eager.";

/// A row of others' figures, in the order of [`HEADS`].
pub struct Peers {
    /// The shape.
    pub model: &'static str,
    /// The beginning of what is measured.
    pub what: &'static str,
    /// The figures.
    pub figures: [&'static str; 4],
}

/// Who they are.
pub const HEADS: [&str; 4] = ["llama.cpp CUDA", "llama.cpp Vulkan", "llama.cpp WebGPU", "transformers"];

/// All of them.
pub const PEERS: [Peers; 4] = [
    Peers { model: "0.5B", what: "decode after a prompt of 128", figures: ["791", "731", "190", "653"] },
    Peers { model: "7B", what: "decode after a prompt of 128", figures: ["199.5", "198.5", "", "199"] },
    Peers { model: "0.5B", what: "prefill of 512", figures: ["82,100", "63,870", "17,210", "35,700"] },
    Peers { model: "7B", what: "prefill of 512", figures: ["25,540", "14,180", "", "39,400"] },
];

/// The figures that stand beside one of ours.
pub fn beside(model: &str, what: &str) -> [&'static str; 4] {
    let found = PEERS.iter().find(|p| p.model == model && p.what == what);
    found.map_or([""; 4], |p| p.figures)
}
