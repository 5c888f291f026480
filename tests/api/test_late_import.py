"""Modules that are loaded when they are first used."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lifecycle.api.late_import import LibraryMissingError, late_import


def test_a_module_is_loaded_at_its_first_use_and_not_before() -> None:
    program = (
        "import sys\n"
        "from lifecycle.api.late_import import late_import\n"
        "colorsys = late_import('colorsys')\n"
        "print('colorsys' in sys.modules, colorsys.rgb_to_hsv(1, 1, 1)[2], 'colorsys' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "False 1 True\n"


def test_what_stands_in_it_is_the_modules_own() -> None:
    import json

    late = late_import("json")
    assert late.dumps is json.dumps
    assert late.loads is json.loads
    with pytest.raises(AttributeError, match="nothing"):
        _ = late.nothing


def test_a_library_that_is_not_here_is_missed_by_its_name_when_it_is_used() -> None:
    late = late_import("no_such_library.part")
    with pytest.raises(LibraryMissingError) as caught:
        _ = late.something
    assert str(caught.value).startswith("this needs the Python library no_such_library, which is not here: ")
    assert isinstance(caught.value.__cause__, ImportError)


def test_libraries_that_are_loaded_beside_are_there_for_who_needs_them_and_those_that_are_not_say_nothing() -> None:
    program = (
        "import sys, threading\n"
        "from lifecycle.api.late_import import load_beside\n"
        "load_beside('colorsys', 'no_such_library.part')\n"
        "for thread in threading.enumerate():\n"
        "    if thread is not threading.current_thread(): thread.join()\n"
        "print('colorsys' in sys.modules)\n"
        "load_beside('colorsys')\n"
        "print(threading.active_count())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("True\n1\n", "")
