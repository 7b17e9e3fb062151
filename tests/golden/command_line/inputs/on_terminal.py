# SPDX-License-Identifier: Apache-2.0
"""Runs a command with a terminal as its standard error, and prints its output there, escaped.

    on_terminal.py FIFO COMMAND...

The command writes to FIFO, which is read only after the delay of a progress bar, so that the
command is slow enough to show one.
"""
import os
import pty
import subprocess
import sys
import time

fifo, command = sys.argv[1], sys.argv[2:]
os.mkfifo(fifo)
terminal, end = pty.openpty()
environment = {**os.environ, "TERM": "xterm"}
environment.pop("NO_COLOR", None)
process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=end, env=environment)
os.close(end)
time.sleep(1.6)
if process.poll() is None:
    with open(fifo, "rb") as pipe:
        pipe.read()
shown = b""
while True:
    try:
        block = os.read(terminal, 4096)
    except OSError:  # the other end is closed
        break
    if not block:
        break
    shown += block
print(repr(shown.decode()), process.wait())
