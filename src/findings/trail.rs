//! The position of a traversal: a stack of steps from a global function down to a node. It becomes a [`NodePath`] only
//! if there is a finding to report.

use std::fmt::Write as _;

use crate::findings::NodePath;
use crate::grammar::Name;

/// One step down the tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrailStep {
    /// A field, for example `body`.
    Field(&'static str),
    /// An element of a field that is a list, for example `args[1]`.
    Item(&'static str, usize),
}

/// The steps from a global function to the present node.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trail {
    global: Name,
    steps: Vec<TrailStep>,
}

impl Trail {
    /// The trail at the root of a global function.
    pub fn new(global: Name) -> Trail {
        Trail { global, steps: Vec::new() }
    }

    /// Goes down to a part of the node.
    pub fn push(&mut self, step: TrailStep) {
        self.steps.push(step);
    }

    /// Goes back up to the parent node.
    pub fn pop(&mut self) {
        self.steps.pop();
    }

    /// The node that the trail has reached, as a path.
    pub fn path(&self) -> NodePath {
        let mut text = self.global.to_string();
        for step in &self.steps {
            // Writing to a String cannot fail.
            let _ = match step {
                TrailStep::Field(name) => write!(text, "/{name}"),
                TrailStep::Item(name, i) => write!(text, "/{name}[{i}]"),
            };
        }
        NodePath(text)
    }
}

impl Default for Trail {
    fn default() -> Trail {
        Trail::new("".into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_reads_from_the_global_down() {
        let mut trail = Trail::new("main".into());
        trail.push(TrailStep::Field("body"));
        trail.push(TrailStep::Item("blocks", 1));
        trail.push(TrailStep::Field("value"));
        trail.pop();
        assert_eq!(trail.path(), NodePath("main/body/blocks[1]".into()));
    }
}
