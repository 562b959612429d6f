//! Virtual devices: the devices on which tensors are stored (editions 2023-12 and later).

use std::fmt;
use std::sync::Arc;

use super::{AttrValue, Attrs, IrModule, Name, ObjectCall};

/// GRAM.VDEVICE: a device for tensors. GRAM.VDEVICE.EQ: two devices are equal if all fields are equal.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct VDevice {
    /// The target for which its code is generated.
    pub target: Target,
    /// The index among the devices of that kind.
    pub dev_id: i64,
    /// The memory of the device.
    pub mem_scope: Name,
}

/// GRAM.TARGET: the target of code generation.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Target {
    /// No particular target.
    Null,
    /// By its tag, such as `llvm`.
    Tag(Name),
    /// By its configuration; the entry `kind` is the name of the kind.
    Config(Attrs),
}

/// The memory of a device if none is named.
const WHOLE_MEMORY: &str = "global";

impl Target {
    /// The name of its kind, if it has one: `llvm`.
    pub fn kind(&self) -> Option<&str> {
        match self {
            Target::Null => None,
            // Options follow the kind: `cuda -arch=sm_80`.
            Target::Tag(tag) => tag.split_whitespace().next(),
            Target::Config(config) => match config.get("kind") {
                Some(AttrValue::Str(kind)) => Some(kind),
                Some(_) | None => None,
            },
        }
    }

    /// Reads `T.target(..)`, a tag or configuration alone, or nothing.
    fn of(value: &AttrValue) -> Option<Target> {
        if matches!(value, AttrValue::None) {
            Some(Target::Null)
        } else if let AttrValue::Str(tag) = value {
            Some(Target::Tag(tag.clone()))
        } else if let AttrValue::Dict(config) = value {
            Some(Target::Config(config.clone()))
        } else if let AttrValue::Made(made) = value {
            match (&*made.name, made.args.as_slice()) {
                ("T.target" | "T.Target", [of]) => Target::of(of),
                ("T.target" | "T.Target", []) => Some(Target::Null),
                _ => None,
            }
        } else {
            None
        }
    }

    fn to_attr(&self) -> AttrValue {
        match self {
            Target::Null => AttrValue::None,
            Target::Tag(tag) => AttrValue::Str(tag.clone()),
            Target::Config(config) => AttrValue::Dict(config.clone()),
        }
    }
}

impl VDevice {
    /// The device made by `I.vdevice(target, id, scope)`.
    pub fn made_by(value: &AttrValue) -> Option<VDevice> {
        let made = value.as_made()?;
        let field = |at: usize, name: &str| made.args.get(at).or_else(|| made.named.get(name));
        if !["I.vdevice", "VDevice"].contains(&&*made.name) {
            return None;
        }
        let target = field(0, "target").map_or(Some(Target::Null), Target::of)?;
        let dev_id = match field(1, "vdevice_id").or_else(|| made.named.get("dev_id")) {
            Some(AttrValue::Int(id)) => *id,
            Some(_) => return None,
            None => 0,
        };
        let mem_scope = match field(2, "memory_scope").or_else(|| made.named.get("mem_scope")) {
            Some(AttrValue::Str(scope)) => scope.clone(),
            Some(_) => return None,
            None => WHOLE_MEMORY.into(),
        };
        Some(VDevice { target, dev_id, mem_scope })
    }

    /// The call that makes this device.
    pub fn to_attr(&self) -> AttrValue {
        let args = vec![self.target.to_attr(), AttrValue::Int(self.dev_id), AttrValue::Str(self.mem_scope.clone())];
        AttrValue::Made(Arc::new(ObjectCall { name: "I.vdevice".into(), args, named: Attrs::new() }))
    }

    /// The device named by a text such as `llvm`, `cuda:1` or `cuda:0:shared`. The number counts the devices of that
    /// kind in the list, or all of them after `vdevice`. A name that is not in the list is a device of its own.
    pub fn named(name: &str, listed: &[VDevice]) -> VDevice {
        let mut parts = name.splitn(3, ':');
        let kind = parts.next().unwrap_or(name);
        let index: usize = parts.next().and_then(|index| index.parse().ok()).unwrap_or(0);
        let scope = parts.next();
        let of_kind = |device: &&VDevice| {
            (kind == "vdevice" || device.target.kind() == Some(kind))
                && scope.is_none_or(|scope| scope == &*device.mem_scope)
        };
        let unlisted = || VDevice {
            target: Target::Tag(kind.into()),
            dev_id: i64::try_from(index).unwrap_or(i64::MAX),
            mem_scope: scope.unwrap_or(WHOLE_MEMORY).into(),
        };
        listed.iter().filter(of_kind).nth(index).cloned().unwrap_or_else(unlisted)
    }
}

/// The kinds of targets that run on a device type, given by its number in DLPack; `None` for an unknown type.
fn kinds_of(device_type: &AttrValue) -> Option<&'static [&'static str]> {
    const KINDS: [(i64, &[&str]); 8] = [
        (1, &["llvm", "c", "cpu"]),
        (2, &["cuda"]),
        (4, &["opencl"]),
        (7, &["vulkan"]),
        (8, &["metal"]),
        (10, &["rocm"]),
        (15, &["webgpu"]),
        (16, &["hexagon"]),
    ];
    let AttrValue::Int(number) = device_type else { return None };
    KINDS.iter().find(|(known, _)| known == number).map(|(_, kinds)| *kinds)
}

impl VDevice {
    /// Whether this device may be of the given type.
    pub fn is_of_type(&self, device_type: &AttrValue) -> bool {
        kinds_of(device_type).is_none_or(|kinds| self.target.kind().is_none_or(|kind| kinds.contains(&kind)))
    }
}

impl fmt::Display for VDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.target.kind().unwrap_or("null"), self.dev_id, self.mem_scope)
    }
}

impl IrModule {
    /// MOD.DEVICES: the virtual devices in the module's list. A name may have several, as in TVM.
    pub fn vdevices(&self) -> Vec<VDevice> {
        devices_of(&self.global_infos)
    }
}

/// The virtual devices among the shared objects. Others have no meaning here (GRAM.PROGRAM.GLOBAL-INFO-EXT).
pub fn devices_of(global_infos: &Attrs) -> Vec<VDevice> {
    let items = |value| AttrValue::as_list(value).map_or(std::slice::from_ref(value), Vec::as_slice);
    let lists = global_infos.values().flat_map(items);
    lists.filter_map(VDevice::made_by).collect()
}
