"""Manual pages, made from what the program says of itself."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

HEADINGS = re.compile(r"^([A-Z][\w ]*):$")
ARGUMENT = re.compile(r"^  (\S.*?)(?:  +(\S.*))?$")


def quoted(text: str) -> str:
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^(?=[.'])", "\\\\&", text, flags=re.M)


def help_of(program: Path, *words: str) -> list[str]:
    environment = {"PATH": "/usr/bin:/bin", "COLUMNS": "80"}
    done = subprocess.run([program, *words], capture_output=True, text=True, check=True, env=environment)
    return done.stdout.splitlines()


def head(name: str, section: int, version: str, date: str) -> str:
    return f'.TH "{name.upper()}" "{section}" "{date}" "truce {version}" "Truce"\n.ad l\n.nh\n'


def body(lines: list[str]) -> str:
    """Sections of a help text: definitions where words stand beside their explanation, else as it stands."""
    out, verbatim = [], False
    for line in lines:
        heading = HEADINGS.match(line)
        plain = not line.startswith("  ") or heading
        if verbatim and (plain or not line.strip()):
            out.append(".fi")
            verbatim = False
        if heading or re.match(r"(Examples?|Usage):", line):
            out.append(f".SH {line.partition(':')[0].upper()}")
            rest = line.partition(":")[2].strip()
            if rest:
                out.append(quoted(rest))
            definitions = bool(heading) and not line.startswith("Example")
            continue
        if not line.strip():
            out.append(".PP")
        elif plain:
            out += [".PP", quoted(line)]
        elif definitions and (found := ARGUMENT.match(line)) and not line.startswith("   "):
            out += [".TP", f".B {quoted(found[1])}", *([quoted(found[2])] if found[2] else [])]
        elif definitions:
            out.append(quoted(line.strip()))
        else:
            if not verbatim:
                out.append(".nf")
                verbatim = True
            out.append(quoted(line))
    return "\n".join(out + ([".fi"] if verbatim else [])) + "\n"


def command_page(program: Path, command: str, summary: str, version: str, date: str) -> str:
    lines = help_of(program, command, "--help")
    name = f"truce-{command}"
    return (head(name, 1, version, date) + f".SH NAME\n{quoted(name)} \\- {quoted(summary)}\n" + body(lines[1:]) +
            ".SH SEE ALSO\n.BR truce (1),\n.BR truce.yaml (5)\n")


def pages(program: Path, version: str, date: str) -> dict[str, str]:
    """Text by file name: truce.1, one page of each command, truce.yaml.5."""
    lines = help_of(program, "--help")
    commands = {}
    for line in lines:
        if listed := re.match(r"  ([a-z][a-z-]*) {2,}(.*)", line):
            commands[listed[1]] = listed[2]
    title = lines[0].partition(": ")[2]
    made = {"truce.1": head("truce", 1, version, date) + f".SH NAME\ntruce \\- {quoted(title)}\n" + body(lines[1:]) +
            ".SH SEE ALSO\n" + ",\n".join(f".BR truce\\-{word.replace('-', chr(92) + '-')} (1)" for word in commands) +
            ",\n.BR truce.yaml (5)\n"}
    for command, summary in commands.items():
        made[f"truce-{command}.1"] = command_page(program, command, summary, version, date)
    settings = [head("truce.yaml", 5, version, date), ".SH NAME\ntruce.yaml \\- configuration of Truce\n",
                ".SH DESCRIPTION\nYAML; each setting is also a flag and a variable of the environment, in which "
                "order the later wins:\nfile, variable, flag.\n.SH SETTINGS\n.nf\n"]
    settings += [quoted(line) + "\n" for line in help_of(program, "config", "--keys")]
    made["truce.yaml.5"] = "".join(settings) + ".fi\n.SH SEE ALSO\n.BR truce (1)\n"
    return made
