//! The oracle behind the protocol.

use std::io::{self, BufRead, Read as _, Write};

use crate::process::MAX_REPLY;
use crate::protocol::{
    AdapterGreeting, AdapterLine, AdapterReply, AdapterRequest, Identity, ORACLE, ProtocolError, VERSION,
    all_capabilities, to_line,
};
use relax_spec::book::{Edition, Reading};
use relax_spec::judge::Cx;
use relax_spec::oracle::{self, Engine};

/// Answers the questions of a runner until the input ends. A line outside the protocol is answered with an error if it
/// has an id, and ends the conversation otherwise.
pub fn serve(engine: Engine, reading: &Reading, mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    while let Some(line) = next_line(&mut input)? {
        if line.trim().is_empty() {
            continue;
        }
        match AdapterRequest::parse(&line) {
            Ok((_, Ok(AdapterRequest::Bye))) => return Ok(()),
            Ok((_, Ok(AdapterRequest::Hello { id, versions }))) => write_line(&mut output, &greet(id, versions))?,
            Ok((_, Ok(AdapterRequest::Question(question)))) => {
                let mut cx = Cx::new().with_edition(question.basis).with_reading(reading.clone());
                let outcome = oracle::outcome_by(&mut cx, engine, &question.ask);
                write_line(&mut output, &reply_text(question.id, AdapterReply::of(&outcome)))?;
            }
            Ok((Some(id), Err(error))) => write_line(&mut output, &reply_text(id, not_understood(&error)))?,
            Ok((None, Err(error))) | Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
    }
    Ok(())
}

/// The next line, which has at most the length of a reply.
///
/// # Errors
///
/// It is longer, or is not text.
pub fn next_line(input: &mut impl BufRead) -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    input.take(MAX_REPLY + 1).read_until(b'\n', &mut bytes)?;
    if bytes.len() as u64 > MAX_REPLY {
        let message = format!("a line of more than {MAX_REPLY} bytes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    match String::from_utf8(bytes) {
        Ok(line) if line.is_empty() => Ok(None),
        Ok(line) => Ok(Some(line)),
        Err(_) => Err(io::Error::new(io::ErrorKind::InvalidData, "a line that is not UTF-8")),
    }
}

fn write_line(output: &mut impl Write, line: &str) -> io::Result<()> {
    output.write_all(line.as_bytes())?;
    output.write_all(b"\n")?;
    output.flush()
}

fn greet(id: u64, [low, high]: [u32; 2]) -> String {
    if !(low..=high).contains(&VERSION) {
        let error = ProtocolError::Shape(format!("only protocol version {VERSION} is spoken"));
        return reply_text(id, not_understood(&error));
    }
    let implementation = Identity { name: ORACLE.to_string(), version: env!("CARGO_PKG_VERSION").to_string() };
    // The oracle claims no edition. It answers in the edition that a question names.
    let edition = Edition::default();
    to_line(&AdapterGreeting { id, protocol: VERSION, implementation, edition, capabilities: all_capabilities() })
}

/// A future runner may send requests that this version does not know.
fn not_understood(error: &ProtocolError) -> AdapterReply {
    match error {
        ProtocolError::UnknownOp(_) => AdapterReply::Unsupported { what: error.to_string() },
        ProtocolError::Json(_) | ProtocolError::Shape(_) | ProtocolError::Version(_) => {
            AdapterReply::InternalError { message: error.to_string() }
        }
    }
}

fn reply_text(id: u64, reply: AdapterReply) -> String {
    AdapterLine::Reply { id, reply }.to_text()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn talk(input: &str) -> Vec<serde_json::Value> {
        let mut output = Vec::new();
        serve(Engine::default(), &Reading::corrected(), input.as_bytes(), &mut output).unwrap();
        String::from_utf8(output).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    #[test]
    fn greets_and_ends_on_bye() {
        let replies = talk(
            "{\"id\":0,\"op\":\"hello\",\"protocol\":[1,3],\"new\":true}\n{\"op\":\"bye\"}\n{\"op\":\"hello\",\"id\":9}\n",
        );
        assert_eq!(replies.len(), 1);
        assert_eq!((&replies[0]["id"], &replies[0]["protocol"]), (&json!(0), &json!(1)));
        assert!(replies[0]["capabilities"].as_array().unwrap().contains(&json!("erase_to_well_defined")));
    }

    #[test]
    fn what_is_not_known_is_unsupported_and_what_is_malformed_an_error() {
        let replies =
            talk("{\"id\":1,\"op\":\"frobnicate\",\"args\":[]}\n{\"id\":2,\"op\":\"erase\",\"args\":[\"Nonsense\"]}\n");
        assert_eq!((&replies[0]["id"], &replies[0]["outcome"]), (&json!(1), &json!("unsupported")));
        assert_eq!((&replies[1]["id"], &replies[1]["outcome"]), (&json!(2), &json!("internal_error")));
    }
}
