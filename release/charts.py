"""The charts as archives that Helm installs, CRDs in one file, and the policy pack."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import urlsplit

import policy_pack as pack
from packages import ReleaseError, run
from tree import Tree

ROOT = Path(__file__).resolve().parent.parent
CHARTS = ("truce", "truce-check", "truce-presync")


def field(chart: str, name: str) -> str:
    text = (ROOT / f"charts/{chart}/Chart.yaml").read_text()
    found = re.search(rf"^{name}: *\"?([^\"\n]+)\"?$", text, re.M)
    return found[1] if found else ""


def archives(epoch: int, home_url: str = "", image: str = "") -> dict[str, bytes]:
    """Archive by file name. With `image` (registry/repository) the chart's default is that image."""
    made = {}
    for chart in CHARTS:
        tree = chart_tree(chart, home_url)
        if chart == "truce" and image:
            name_image(tree, image)
        if chart == "truce-presync":  # what `helm dependency build` would put there
            for path, node in chart_tree("truce-check", home_url).below("charts").nodes.items():
                tree.nodes[f"{chart}/{path}"] = node
        made[f"{chart}-{field(chart, 'version')}.tgz"] = tree.tar_gz(epoch)
    return made


def chart_tree(chart: str, home_url: str) -> Tree:
    tree = committed(f"charts/{chart}", without="ci/").below(chart)
    if home_url:
        links = (f"home: {home_url}\nsources:\n  - {home_url}\nmaintainers:\n  - name: {owner_of(home_url)}\n"
                 f"    url: {home_url}\n")
        text = tree.nodes[f"{chart}/Chart.yaml"].data.decode()
        about = (f"  artifacthub.io/links: |\n    - name: source\n      url: {home_url}\n"
                 f"    - name: support\n      url: {home_url}/issues\n")
        # Annotations stand last in the file.
        tree.file(f"{chart}/Chart.yaml", text.rstrip("\n") + "\n" + about + links)
    return tree


def owner_of(home_url: str) -> str:
    """Whose repository it is: the first part of its path, else the host."""
    address = urlsplit(home_url)
    return address.path.strip("/").partition("/")[0] or address.netloc


def name_image(tree: Tree, image: str) -> None:
    """`image` as the default of the values and in the table of them."""
    registry, _, repository = image.rpartition("/") if image.count("/") == 1 else image.partition("/")
    if not registry or not repository:
        raise ReleaseError(f"IMAGE={image}: write REGISTRY/REPOSITORY, as registry.example.org/platform/truce")
    for name, old, new in (("registry", '""', registry), ("repository", "truce", repository)):
        comment = f"{name.capitalize()} of the image"
        _replace(tree, "truce/values.yaml", rf"  # -- {comment}.*\n  {name}: .*", f"  # -- {comment}\n  {name}: {new}")
        _replace(tree, "truce/README.md", rf"\| `image\.{name}` \| `{re.escape(old)}` \| .* \|",
                 f"| `image.{name}` | `{new}` | {comment} |")


def _replace(tree: Tree, path: str, pattern: str, new: str) -> None:
    text, count = re.subn(pattern, lambda _: new, tree.nodes[path].data.decode())
    if count != 1:
        raise ReleaseError(f"charts/{path} has no line for {new.splitlines()[-1].strip()!r}")
    tree.file(path, text)


def committed(folder: str, without: str = "") -> Tree:
    """Files of the repository below `folder`; nothing that only lies there. `without`: what begins with it
    is for tests, and Helm leaves it out too (.helmignore)."""
    tree = Tree()
    for name in run("git", "ls-files", "--", folder, cwd=ROOT).splitlines():
        path = name.removeprefix(folder + "/")
        if not (without and path.startswith(without)):
            tree.copy(path, ROOT / name)
    if not tree.nodes:
        raise ReleaseError(f"{folder} holds no file of the repository")
    return tree


def crds() -> str:
    """Every kind of Truce, for kubectl apply -f."""
    texts = [file.read_text().strip() for file in sorted((ROOT / "schema/crds").glob("*.yaml"))]
    return "---\n" + "\n---\n".join(text.removeprefix("---\n") for text in texts) + "\n"


def policy_pack(version: str, epoch: int) -> bytes:
    tree = committed("policies/pack")
    for path, text in pack.made().items():
        tree.file(path, text)
    return tree.below(f"truce-policy-pack-{version}").tar_gz(epoch)
