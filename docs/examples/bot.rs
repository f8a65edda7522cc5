//! A bot in Rust without crates: it plays the first legal move of any game that lists them.
//!
//!   rustc -O -o bot docs/examples/bot.rs
//!   kibitz play line-nim line-nim/random --stdio -- ./bot

use std::io::{self, BufRead, Write};

/// Returns the length of the JSON value at the start of `text`.
fn length(text: &str) -> usize {
    let (mut depth, mut quoted, mut escaped) = (0, false, false);
    for (at, c) in text.char_indices() {
        match c {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if quoted => {}
            '{' | '[' => depth += 1,
            '}' | ']' | ',' if depth == 0 => return at,
            '}' | ']' => depth -= 1,
            _ => {}
        }
    }
    text.len()
}

/// Returns the elements of a JSON array as text, or the members of an object as `"key":value`.
fn elements(text: &str) -> Vec<&str> {
    let mut rest = text.get(1..).unwrap_or("");
    let mut found = Vec::new();
    while rest.len() > 1 {
        let (element, after) = rest.split_at(length(rest));
        found.push(element);
        rest = after.get(1..).unwrap_or("");
    }
    found
}

/// Returns the value of a key in a JSON object. Lines have no spaces.
fn field<'a>(object: &'a str, key: &str) -> Option<&'a str> {
    let start = format!("\"{key}\":");
    elements(object).into_iter().find_map(|pair| pair.strip_prefix(&start))
}

/// Put your ideas here: `view` is the position, as `kibitz game show NAME --json` describes it.
fn choose<'a>(_view: &str, legal: &[&'a str]) -> &'a str {
    legal[0]
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut output = io::stdout();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if field(&line, "type") != Some("\"turn\"") {
            continue;
        }
        let legal = elements(field(&line, "legal").unwrap_or(""));
        if !legal.first().is_some_and(|action| action.starts_with('{')) {
            return Err("this game lists no legal moves".into());
        }
        writeln!(output, "{}", choose(field(&line, "view").unwrap_or(""), &legal))?;
        output.flush()?; // otherwise the answer stays in the buffer
    }
    Ok(())
}
