"""`truce reference`: the reference pages of the manual are as the program has them."""

import subprocess

from support.truce_process import BINARY, REPOSITORY


def test_the_pages_are_as_the_program_writes_them(tmp_path):
    """After a change: `build/release/truce reference docs/reference`, and read the difference."""
    subprocess.run([BINARY, "reference", tmp_path / "new"], check=True, timeout=60)
    written = {page.name: page.read_text() for page in (tmp_path / "new").iterdir()}
    kept = {page.name: page.read_text() for page in (REPOSITORY / "docs/reference").iterdir()}
    assert written.keys() == kept.keys()
    for name, text in written.items():
        assert text == kept[name], name


def test_a_folder_that_cannot_be_made_is_told(tmp_path):
    (tmp_path / "file").write_text("")
    done = subprocess.run([BINARY, "reference", tmp_path / "file/below"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 5 and "cannot be made" in done.stderr and not done.stdout
