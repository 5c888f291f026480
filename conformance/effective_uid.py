"""A program that says as whom it runs, and the image in which it is setuid root.

With it a test sees whether a process may gain rights: started by somebody else, the program says 0 if it may, and
that user's number if it may not. A shell will not do: it drops such rights by itself.
"""

from __future__ import annotations

import platform

from lifecycle.cri.images.oci_image import BuiltImage, File, build
from lifecycle.cri.images.small_images import PATH, elf_program

TEXT = b"Effective uid: "


def effective_uid_program() -> bytes:
    """A whole ELF executable. Raises NotImplementedError on a machine other than x86-64."""
    if platform.machine() != "x86_64":
        raise NotImplementedError("the program is assembled for x86-64 only")
    code = bytes.fromhex(
        "b801000000"  # mov eax, 1         write
        "bf01000000"  # mov edi, 1         to standard output
        "488d3546000000"  # lea rsi, [rip+70]  the text below
        "ba0f000000"  # mov edx, 15        its length
        "0f05"  # syscall
        "b86b000000"  # mov eax, 107       geteuid
        "0f05"  # syscall
        "488d7424ff"  # lea rsi, [rsp-1]   digits are written backwards from here
        "c6060a"  # mov byte [rsi], 10 the line break
        "b90a000000"  # mov ecx, 10
        "31d2"  # xor edx, edx
        "f7f1"  # div ecx
        "80c230"  # add dl, '0'
        "48ffce"  # dec rsi
        "8816"  # mov [rsi], dl
        "85c0"  # test eax, eax
        "75f0"  # jne to `xor edx, edx`
        "4889e2"  # mov rdx, rsp
        "4829f2"  # sub rdx, rsi       how many
        "b801000000"  # mov eax, 1         write
        "bf01000000"  # mov edi, 1
        "0f05"  # syscall
        "b83c000000"  # mov eax, 60        exit
        "31ff"  # xor edi, edi
        "0f05"  # syscall
    )
    return elf_program(code + TEXT)


def effective_uid_image() -> BuiltImage:
    """The program alone, setuid root."""
    files = {"nnp": File(effective_uid_program(), 0o4755)}
    return build([files], {"Cmd": ["/nnp"], "Env": [PATH], "WorkingDir": "/"})
