// A bot in Rust without crates: it plays the first legal move of any game that lists them.
//
//   rustc -O -o bot docs/examples/bot.rs
//   kibitz play number-merge number-merge/random --stdio -- ./bot
use std::io::{self, BufRead, Write};

/// Returns the length of the JSON value that `text` begins with.
fn value_length(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (place, byte) in text.bytes().enumerate() {
        if escaped {
            escaped = false;
        } else if quoted {
            escaped = byte == b'\\';
            quoted = byte != b'"';
        } else {
            match byte {
                b'"' => quoted = true,
                b',' | b']' | b'}' if depth == 0 => return place,
                b'[' | b'{' => depth += 1,
                b']' | b'}' => depth -= 1,
                _ => {}
            }
        }
    }
    text.len()
}

/// Returns the value of a key of the object in `line`; lines have no spaces between their parts.
fn value_of<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let mut rest = line.strip_prefix('{')?;
    loop {
        let name_end = rest.strip_prefix('"')?.find('"')? + 1;
        let (name, value) = (&rest[1..name_end], rest[name_end + 1..].strip_prefix(':')?);
        let length = value_length(value);
        if name == key {
            return Some(&value[..length]);
        }
        rest = value[length..].strip_prefix(',')?;
    }
}

fn main() -> io::Result<()> {
    for line in io::stdin().lock().lines() {
        let line = line?;
        if value_of(&line, "type") != Some("\"turn\"") {
            continue;
        }
        let moves = value_of(&line, "legal").and_then(|legal| legal.strip_prefix('['));
        match moves.filter(|moves| moves.starts_with('{')) {
            Some(moves) => println!("{}", &moves[..value_length(moves)]),
            None => {
                eprintln!("this game lists no legal moves");
                std::process::exit(1);
            }
        }
        io::stdout().flush()?;
    }
    Ok(())
}
