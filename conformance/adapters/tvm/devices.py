"""Virtual devices: the JSON form to TVM objects and back."""

import names
from faults import Unsupported

#: The memory of a device of which none is named.
WHOLE = "global"


class Devices:
    """The devices of a module or of a free-standing judgement: one object for each, as TVM takes objects for the same."""

    def __init__(self):
        self.made = {}
        #: The form in which the question has them, for reading answers back.
        self.json = {}
        #: Those that the module lists.
        self.listed = []

    def take(self, global_infos):
        """Lists the devices of a module."""
        for value in global_infos.values():
            for item in value.get("List", []):
                if item.get("Made", {}).get("name") in ("I.vdevice", "VDevice"):
                    self.listed.append(self.build(_of_made(item["Made"])))

    def build(self, json):
        key = (_kind(json["target"]), json.get("dev_id", 0), json.get("mem_scope", WHOLE))
        if key not in self.made:
            self.made[key] = names.VDevice(_target(json["target"]), key[1], key[2])
            self.json[key] = json
        return self.made[key]

    def named(self, text):
        """`llvm`, `cuda:1` or `cuda:0:shared`: the number counts the devices of that kind in the list, or all after `vdevice`."""
        kind, index, scope = (*text.split(":"), None, None)[:3]
        alike = [device for device in self.listed if kind == "vdevice" or device.target.kind.name == kind]
        if scope is None and index is None and alike:
            return alike[0]
        if scope is None and int(index or 0) < len(alike):
            return alike[int(index or 0)]
        return self.build({"target": {"Tag": kind}, "dev_id": int(index or 0), "mem_scope": scope or WHOLE})

    def read(self, device):
        key = (device.target.kind.name, int(device.vdevice_id), str(device.memory_scope))
        return self.json.get(key) or {"target": {"Tag": key[0]}, "dev_id": key[1], "mem_scope": key[2]}


def _of_made(made):
    args = made.get("args", [])
    target, index, scope = (*args, None, None, None)[:3]
    form = {"Tag": target["Str"]} if "Str" in target else {"Config": target["Dict"]}
    return {"target": form, "dev_id": index["Int"] if index else 0, "mem_scope": scope["Str"] if scope else WHOLE}


def _kind(target):
    if "Tag" in target:
        return target["Tag"].split(" ")[0]
    kind = target.get("Config", {}).get("kind", {}).get("Str") if isinstance(target, dict) else None
    if kind is None:
        raise Unsupported("a device of no kind of target")
    return kind


def _target(target):
    if "Tag" in target:
        return target["Tag"]
    config = {key: _plain(value) for key, value in target["Config"].items()}
    return config["kind"] if len(config) == 1 else config


def _plain(value):
    """A value of a configuration: what stands below its kind, of a list in each item."""
    (plain,) = value.values()
    return [_plain(item) for item in plain] if isinstance(plain, list) else plain
