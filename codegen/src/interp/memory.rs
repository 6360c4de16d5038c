//! Who touched which word since the last barrier.

/// The touches of the words of one array.
pub(super) struct Touches {
    words: Vec<Word>,
}

#[derive(Clone, Copy, Default)]
struct Word {
    /// Epoch of the last write, and who; epochs count from 1.
    written: u32,
    writer: u32,
    /// Epoch of the last read, and two who read in it: the first and, if there is one, another.
    read: u32,
    readers: [u32; 2],
}

/// An earlier touch that this one races with.
pub(super) struct Conflict {
    /// Who.
    pub first: u32,
    /// What they did.
    pub did: &'static str,
}

impl Touches {
    pub(super) fn new(len: usize) -> Self {
        Touches { words: vec![Word::default(); len] }
    }

    /// Notes that `who` reads word `i`, which is in range, in this epoch.
    pub(super) fn read(&mut self, i: usize, who: u32, epoch: u32) -> Result<(), Conflict> {
        let word = &mut self.words[i];
        if word.written == epoch && word.writer != who {
            return Err(Conflict { first: word.writer, did: "wrote" });
        }
        if word.read != epoch {
            (word.read, word.readers) = (epoch, [who, who]);
        } else if word.readers[0] != who {
            word.readers[1] = who;
        }
        Ok(())
    }

    /// Notes that `who` writes word `i`, which is in range, in this epoch.
    pub(super) fn write(&mut self, i: usize, who: u32, epoch: u32) -> Result<(), Conflict> {
        let word = &mut self.words[i];
        if word.written == epoch && word.writer != who {
            return Err(Conflict { first: word.writer, did: "wrote" });
        }
        if let Some(first) = word.readers.into_iter().find(|r| word.read == epoch && *r != who) {
            return Err(Conflict { first, did: "read" });
        }
        (word.written, word.writer) = (epoch, who);
        Ok(())
    }
}
