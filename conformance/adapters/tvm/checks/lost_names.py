"""Does a pass give up a tensor behind the last use of its name, while another name that a cast has given it is still used?

`KillAfterLastUse` kills it, `StaticPlanBlockMemory` makes another tensor in its storage.
"""

import ast


class Uses(ast.NodeVisitor):
    """A function that is read from its beginning: the names of a tensor, those that a cast has given it, and its uses.

    The tensor is given up where it is killed, or where the other one is made."""

    def __init__(self, name, other):
        self.names, self.of_casts, self.other = {name}, set(), other
        self.is_lost = self.is_read_under_a_name = self.is_read_under_a_cast = False

    def visit_Assign(self, binding):
        self.bind(ast.unparse(binding.targets[0]), binding.value)

    def visit_AnnAssign(self, binding):
        self.bind(ast.unparse(binding.target), binding.value)

    def bind(self, name, value):
        self.is_lost |= name == self.other
        is_cast = isinstance(value, ast.Call) and ast.unparse(value.func) == "R.match_cast"
        bound = ast.unparse(value.args[0] if is_cast else value) if value is not None else None
        if bound in self.of_casts or bound in self.names and is_cast:
            self.of_casts.add(name)
        elif bound in self.names or isinstance(value, ast.Tuple) and self.holds(value):
            # What is read through a tuple is read under no name that a cast has given.
            self.names.add(name)
        elif value is not None:
            self.visit(value)

    def holds(self, value):
        return any(isinstance(part, ast.Name) and part.id in self.names for part in ast.walk(value))

    def visit_Call(self, call):
        if ast.unparse(call.func) == "R.memory.kill_tensor":
            self.is_lost |= ast.unparse(call.args[0]) in self.names
        else:
            self.generic_visit(call)

    def visit_Name(self, name):
        self.is_read_under_a_name |= self.is_lost and name.id in self.names
        self.is_read_under_a_cast |= self.is_lost and name.id in self.of_casts


def is_lost_under_another_name(module, name, other=None):
    """Whether a module gives up a tensor, reads it behind that, and does so by names alone that casts have given it."""
    for function in ast.walk(ast.parse(module)):
        if isinstance(function, ast.FunctionDef) and name in {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name)
        }:
            uses = Uses(name, other)
            for statement in function.body:
                uses.visit(statement)
            if uses.is_read_under_a_cast and not uses.is_read_under_a_name:
                return True
    return False
