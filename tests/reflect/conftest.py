"""Stand-ins for the tools of schedulers, which keep what they are given as the real ones do."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CRONTAB = r"""#!/bin/sh
# Like Vixie cron's: -l fails where there is no table; one that does not end with a line end, or holds a line that is
# none, is refused.
table="$STORE/crontab"
case "$1" in
-l) [ -e "$table" ] || { echo "no crontab for $(id -un)" >&2; exit 1; }; cat "$table" ;;
-)  cat > "$table.new"
    if [ -s "$table.new" ] && [ -n "$(tail -c 1 "$table.new")" ]; then
        echo "new crontab file is missing newline before EOF, can't install." >&2; exit 1
    fi
    bad=$(LC_ALL=C grep -a -n -v -E '^[[:space:]]*(#|$)|^[A-Z_]+ *=|^(@[a-z]+|([0-9*/,-]+ ){5})' "$table.new")
    if [ -n "$bad" ]; then echo "\"-\":${bad%%:*}: bad minute" >&2; exit 1; fi
    mv "$table.new" "$table" ;;
*)  echo "crontab: usage error" >&2; exit 1 ;;
esac
"""
SYSTEMCTL = r"""#!/bin/sh
# Like a user's systemd: a unit is known after daemon-reload, enabling links it, a timer that is enabled has a next run.
[ "$1" = --user ] || { echo "not the user's" >&2; exit 1; }
shift
[ -e "$STORE/no-bus" ] && { echo "Failed to connect to bus: No medium found" >&2; exit 1; }
units="$XDG_CONFIG_HOME/systemd/user"
echo "$*" >> "$STORE/systemctl.log"
case "$1" in
show-environment) echo "HOME=$HOME" ;;
daemon-reload) rm -rf "$STORE/known"; mkdir "$STORE/known"; cp "$units"/*.* "$STORE/known" 2>/dev/null ;;
enable) [ "$2" = --now ] || exit 1
    [ -e "$STORE/known/$3" ] || { echo "Failed to enable unit: Unit file $3 does not exist." >&2; exit 1; }
    mkdir -p "$units/timers.target.wants"; ln -sf "$units/$3" "$units/timers.target.wants/$3" ;;
disable) [ "$2" = --now ] || exit 1
    [ -e "$STORE/known/$3" ] || { echo "Failed to disable unit: Unit file $3 does not exist." >&2; exit 1; }
    rm -f "$units/timers.target.wants/$3" ;;
show) [ -h "$units/timers.target.wants/$2" ] && echo "Sat 2025-12-06 03:30:00 UTC" || echo ;;
*) echo "Unknown command verb $1." >&2; exit 1 ;;
esac
exit 0
"""
LAUNCHCTL = r"""#!/bin/sh
# Like launchctl: what is loaded is not loaded twice, what is not loaded cannot be taken out.
case "$1" in
bootstrap) name=$(basename "$3" .plist); [ -e "$3" ] || { echo "Bootstrap failed: 2: No such file" >&2; exit 2; }
    [ -e "$STORE/$name.loaded" ] && { echo "Bootstrap failed: 5: Input/output error" >&2; exit 5; }
    cp "$3" "$STORE/$name.loaded" ;;
bootout) name=${2##*/}; [ -e "$STORE/$name.loaded" ] || { echo "Boot-out failed: 3: No such process" >&2; exit 3; }
    rm "$STORE/$name.loaded" ;;
*) exit 64 ;;
esac
"""


class Tools:
    """A folder of stand-ins on PATH, and ``store``: where they keep what they are given."""

    def __init__(self, folder: Path, variables: dict[str, str]) -> None:
        self.folder, self.store, self.variables = folder / "tools", folder / "store", variables
        self.home = folder / "home"
        for place in (self.folder, self.store, self.home):
            place.mkdir(exist_ok=True)
        variables |= {
            "PATH": f"{self.folder}:/usr/bin:/bin",
            "STORE": str(self.store),
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
        }

    def add(self, name: str) -> None:
        path = self.folder / name
        path.write_text({"crontab": CRONTAB, "systemctl": SYSTEMCTL, "launchctl": LAUNCHCTL}[name], "utf-8")
        path.chmod(0o755)

    @property
    def crontab(self) -> bytes:
        return (self.store / "crontab").read_bytes()

    @crontab.setter
    def crontab(self, table: bytes) -> None:
        (self.store / "crontab").write_bytes(table)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tools:
    """No tool is there until ``add``; the machine's own stay out of reach by name."""
    if os.name == "nt":
        pytest.skip("the stand-ins are shell scripts")
    variables: dict[str, str] = {}
    made = Tools(tmp_path, variables)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return made
