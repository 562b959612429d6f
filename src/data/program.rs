//! Programs (chapter Program).

use super::Node;
use super::reader::{DataReader, DataResult, FromData, Write};
use super::record::{choice, record};
use crate::grammar::{Attrs, FORMAT_VERSION, GlobalFunc, GlobalVar, IrModule, Name};

record! { IrModule, "IRModule" by rule!("GRAM.PROGRAM"), closed {
    version: or(FORMAT_VERSION),
    funcs: many,
    attrs: unless(Attrs::new()),
    global_infos: unless(Attrs::new()),
} }

choice! { GlobalFunc, "a Function or a PrimFunc" { Function(f), PrimFunc by rule!("GRAM.PROGRAM") (f), ExternFunc(f) } }

impl FromData for GlobalVar {
    fn read(r: &mut DataReader<'_>, node: &Node<'_>) -> DataResult<GlobalVar> {
        let name: Name = r.read(node)?;
        Ok(GlobalVar { name, span: node.span })
    }
}

impl Write for GlobalVar {
    fn write(&self) -> Node<'_> {
        Node::text(&*self.name)
    }
}
