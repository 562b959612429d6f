//! Virtual devices.

use super::record::{choice, record};
use crate::grammar::{Target, VDevice};

record! { VDevice, "VDevice" by rule!("GRAM.VDEVICE"), { target: one, dev_id: or(0), mem_scope: or("global".into()) } }

choice! { Target, "a target: Null, Tag(..) or Config(..)" {
    Null by rule!("GRAM.TARGET"),
    Tag by rule!("GRAM.TARGET") (tag),
    Config by rule!("GRAM.TARGET") (config),
} }
