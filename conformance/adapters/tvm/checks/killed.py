"""Does `KillAfterLastUse` kill a tensor under one name, while another one that a `match_cast` has given it is still used?"""

import ast


class Uses(ast.NodeVisitor):
    """A function that is read from its beginning: the names of a tensor, those that a cast has given it, and its uses."""

    def __init__(self, name):
        self.names, self.of_casts = {name}, set()
        self.is_killed = self.is_read_under_a_name = self.is_read_under_a_cast = False

    def visit_Assign(self, binding):
        self.bind(ast.unparse(binding.targets[0]), binding.value)

    def visit_AnnAssign(self, binding):
        self.bind(ast.unparse(binding.target), binding.value)

    def bind(self, name, value):
        is_cast = isinstance(value, ast.Call) and ast.unparse(value.func) == "R.match_cast"
        bound = ast.unparse(value.args[0] if is_cast else value) if value is not None else None
        if bound in self.of_casts or bound in self.names and is_cast:
            self.of_casts.add(name)
        elif bound in self.names:
            self.names.add(name)
        elif value is not None:
            self.visit(value)

    def visit_Call(self, call):
        if ast.unparse(call.func) == "R.memory.kill_tensor":
            self.is_killed |= ast.unparse(call.args[0]) in self.names
        else:
            self.generic_visit(call)

    def visit_Name(self, name):
        self.is_read_under_a_name |= self.is_killed and name.id in self.names
        self.is_read_under_a_cast |= self.is_killed and name.id in self.of_casts


def is_killed_under_another_name(name, module):
    """Whether a module kills a tensor, reads it behind that, and does so by names alone that casts have given it."""
    for function in ast.walk(ast.parse(module)):
        if isinstance(function, ast.FunctionDef) and name in {
            node.id for node in ast.walk(function) if isinstance(node, ast.Name)
        }:
            uses = Uses(name)
            for statement in function.body:
                uses.visit(statement)
            if uses.is_read_under_a_cast and not uses.is_read_under_a_name:
                return True
    return False
