"""22 wrong passes. `test_plugin.py` runs them under the plugin, and each test must fail."""

import pytest
import seeded


@pytest.mark.parametrize("name", seeded.WRONG)
def test_wrong(name):
    seeded.run(name)
