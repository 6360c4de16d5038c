//! The bytes that each token stands for.
//!
//! Byte-level BPE writes every byte as a printable character: the printable bytes of Latin-1 as themselves, the other 68
//! as the characters from U+0100 on, in order. A token with any other character stands for its own UTF-8.

use std::collections::HashSet;

/// Every token's bytes, end to end.
pub(super) struct TokenBytes {
    all: Vec<u8>,
    /// Where each id's bytes end; they begin where those of the id before end.
    ends: Vec<u32>,
    special: HashSet<u32>,
}

impl TokenBytes {
    pub(super) fn new(tokenizer: &tokenizers::Tokenizer) -> Self {
        let mut tokens: Vec<(u32, String)> =
            tokenizer.get_vocab(true).into_iter().map(|(token, id)| (id, token)).collect();
        tokens.sort_unstable();
        let (mut all, mut ends) = (Vec::new(), Vec::new());
        for (id, token) in tokens {
            // Ids that were left out get no bytes.
            ends.resize(id as usize, all.len() as u32);
            let mapped: Option<Vec<u8>> = token.chars().map(byte_of).collect();
            all.extend(mapped.unwrap_or_else(|| token.into_bytes()));
            ends.push(all.len() as u32);
        }
        let added = tokenizer.get_added_tokens_decoder();
        let special = added.iter().filter(|(_, t)| t.special).map(|(&id, _)| id).collect();
        Self { all, ends, special }
    }

    /// One more than the highest id.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn is_special(&self, id: u32) -> bool {
        self.special.contains(&id)
    }

    pub(super) fn get(&self, id: u32) -> &[u8] {
        let id = id as usize;
        let Some(&end) = self.ends.get(id) else {
            return &[];
        };
        let start = if id == 0 { 0 } else { self.ends[id - 1] };
        &self.all[start as usize..end as usize]
    }
}

/// The byte that a character of a token stands for.
fn byte_of(c: char) -> Option<u8> {
    let code = c as u32;
    match code {
        0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff => Some(code as u8),
        0x100..=0x120 => Some((code - 0x100) as u8),
        0x121..=0x142 => Some((code - 0x121 + 0x7f) as u8),
        0x143 => Some(0xad),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::byte_of;

    #[test]
    fn every_byte_has_exactly_one_character() {
        let mut bytes: Vec<u8> = (0..0x200).filter_map(char::from_u32).filter_map(byte_of).collect();
        bytes.sort_unstable();
        assert_eq!(bytes, (0..=255).collect::<Vec<u8>>());
        // The best known of them: a space and a line feed.
        assert_eq!((byte_of('Ġ'), byte_of('Ċ')), (Some(b' '), Some(b'\n')));
    }
}
