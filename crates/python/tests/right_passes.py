"""22 right passes. `test_plugin.py` runs them under the plugin, and no test may fail."""

import pytest
import seeded


@pytest.mark.parametrize("name", seeded.RIGHT)
def test_right(name):
    seeded.run(name)
