"""What the question at hand says of itself beside its arguments."""


class Asked:
    """`NOW` is the question that is being answered: one at a time."""

    def __init__(self, op="", edition="2023-02"):
        self.op = op
        self.edition = edition

    def take(self, request):
        self.__init__(request.get("op", ""), request.get("edition") or "2023-02")

    @property
    def purity_is_declared(self):
        """From 2023-12 on a function that says nothing of its purity is pure; before, it is what its body makes it."""
        return self.edition >= "2023-12"


NOW = Asked()
