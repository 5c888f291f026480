"""Commands about files, filters and tests in hollow containers: what they print is what BusyBox 1.35 prints for the same script."""

from __future__ import annotations

import pytest

from tests.cri.hollow.shell.test_shell import NOT_RUN, script


@pytest.mark.parametrize(
    ("text", "out", "err"),
    [
        ("printf '%d %d %d %i' 010 0x1f -7 x; echo; echo $?", "8 31 -7 0\n0\n", "sh: invalid number 'x'\n"),
        ("printf '%d\\n' ''; echo $?", "0\n1\n", "sh: invalid number ''\n"),
        ("printf '100%%\\n'", "100%\n", ""),
        ("printf '%c%c|%5s|%-3s|%03d\\n' abc d e f 7", "ad|    e|f  |007\n", ""),
        ("printf '%d\\n' \"'A\"", "65\n", ""),
        ("printf '%x %o %X\\n' 255 8 255", "ff 10 FF\n", ""),
        ("printf '%b\\n' 'a\\tb'", "a\tb\n", ""),
        ("printf '%s\\n' 'a\\tb'", "a\\tb\n", ""),
        ("printf 'a\\cb'", "a", ""),
        ("[ a b c ]; echo $?", "2\n", "sh: b: unknown operand\n"),
        ("[ 1 -foo 2 ]; echo $?", "2\n", "sh: -foo: unknown operand\n"),
        ("[ a b c d ]; echo $?", "2\n", "sh: b: unknown operand\n"),
        ("[ x -lt 1 ]; echo $?", "2\n", "sh: x: bad number\n"),
        ("[ '' -lt 1 ]; echo $?", "2\n", "sh: bad number\n"),
        ("[ 1 -lt '' ]; echo $?", "2\n", "sh: bad number\n"),
        ("[[ 1 -eq 1; echo $?", "2\n", "sh: missing ]]\n"),
        ("mv nope x; echo $?", "1\n", "mv: can't rename 'nope': No such file or directory\n"),
        ("chmod 0644 nope; echo $?", "1\n", "chmod: nope: No such file or directory\n"),
        (
            "printf 'abcdefghijklmnopq\\0' | hexdump -C",
            "00000000  61 62 63 64 65 66 67 68  69 6a 6b 6c 6d 6e 6f 70  |abcdefghijklmnop|\n"
            "00000010  71 00                                             |q.|\n00000012\n",
            "",
        ),
        (
            "for i in 1 2 3; do printf 'aaaaaaaaaaaaaaaa'; done | hexdump -C",
            "00000000  61 61 61 61 61 61 61 61  61 61 61 61 61 61 61 61  |aaaaaaaaaaaaaaaa|\n*\n00000030\n",
            "",
        ),
        ("hexdump -C nope; echo $?", "1\n", "hexdump: nope: No such file or directory\n"),
        ("echo a | hexdump; echo $?", "126\n", NOT_RUN.format("hexdump")),
        ("sysctl kernel.shmmax; echo $?", "126\n", NOT_RUN.format("sysctl /proc/sys/kernel/shmmax")),
        ("expr 5 % 2; expr 4 % 2; echo $?", "1\n0\n1\n", ""),
        ("expr -7 / 2; expr -7 % 2; expr 2 '*' 3; expr b '>' a; expr 10 '>' 9", "-3\n-1\n6\n1\n1\n", ""),
        ("expr; echo $?", "2\n", "expr: too few arguments\n"),
        ("expr x + 1; echo $?", "2\n", "expr: non-numeric argument\n"),
        ("expr 1 / 0; echo $?", "2\n", "expr: division by zero\n"),
        ("expr a : b; echo $?", "126\n", NOT_RUN.format("expr a : b")),
        ("printf 'a b\\nc d e\\n' | awk '{print $3, $1}'", " a\ne c\n", ""),
        ("printf 'a b\\n' | awk {'print $1'}; printf 'x y\\n' | awk '{ print $0; }'", "a\nx y\n", ""),
        ("echo a | awk '/a/ {print}'; echo $?", "126\n", NOT_RUN.format("awk /a/ {print}")),
        ("printf abc | gzip | gunzip; printf abc | gzip -c | gzip -d", "abcabc", ""),
        ("printf abc | gunzip; echo $?", "1\n", "gunzip: invalid magic\n"),
        ("echo a > f; mv -v f g; cp -v g h; mkdir d; mv -v g d", "'f' -> 'g'\n'g' -> 'h'\n'g' -> 'd/g'\n", ""),
        ("chmod; echo $?", "126\n", NOT_RUN.format("chmod")),
        ("echo a > f; chmod u+x f; echo $?", "126\n", NOT_RUN.format("chmod u+x f")),
        ("printf; echo $?", "2\n", "sh: usage: printf FORMAT [ARGUMENT...]\n"),
        ("printf -- a", "a", ""),
        ("rmdir nope; echo $?", "1\n", "rmdir: 'nope': No such file or directory\n"),
        ("mkdir d; echo x > f; mkdir e; cp d f e; echo $?; ls e", "1\nf\n", "cp: omitting directory 'd'\n"),
        ("printf '%s-%d\\n' a 1 b 2 c", "a-1\nb-2\nc-0\n", "sh: invalid number ''\n"),
        ("touch /nope/x; echo $?", "1\n", "touch: /nope/x: No such file or directory\n"),
        ("mkdir d; rm -rf d nope; ls", "", ""),
        ("echo 1 > f; head -n 1 - < f", "1\n", ""),
        ("printf 'a\\n\\nb\\n' | grep -c ''", "3\n", ""),
        ("printf 'b 2\\na 10\\n' | sort -u -r", "b 2\na 10\n", ""),
        (
            "[ 1 -lt 2 ]; echo $?; [ 2 -lt 2 ]; echo $?; [ 2 -le 2 ]; echo $?; [ 3 -le 2 ]; echo $?; [ 3 -gt 2 ]; "
            "echo $?; [ 2 -gt 2 ]; echo $?; [ 2 -ge 2 ]; echo $?; [ 1 -ge 2 ]; echo $?; [ 1 -eq 2 ]; echo $?; "
            "[ 1 -ne 2 ]; echo $?",
            "0\n1\n0\n1\n0\n1\n0\n1\n1\n0\n",
            "",
        ),
        (
            "[ ! a ]; echo $?; [ ! '' ]; echo $?; [ ! -f x -a a ]; echo $?; [ a -a '' -o b ]; echo $?",
            "1\n0\n0\n0\n",
            "",
        ),
        ("printf 'x\\nb\\n10\\n9\\n' | sort -n", "b\nx\n9\n10\n", ""),
        ("printf '01\\n1\\n2\\n' | sort -nu", "01\n2\n", ""),
        ("printf 'b\\na\\n1\\n' | sort -nr", "1\nb\na\n", ""),
        ("printf 'b\\na\\nb\\n' | sort -u", "a\nb\n", ""),
        ("printf 'b\\na\\nb\\n' | sort -r", "b\nb\na\n", ""),
        ("printf -- '-2\\n1.5\\n1.25\\n  3\\n' | sort -n", "-2\n1.25\n1.5\n  3\n", ""),
        ("printf 'a\\rb\\rc\\nd\\n' | tail -n 1", "d\n", ""),
        ("printf 'b\\na' | sort", "a\nb\n", ""),
        ("printf '' | sort", "", ""),
        ("printf '\\n\\na\\n' | sort", "\n\na\n", ""),
        ("printf '1\\n2\\n3\\n' | head -n 2", "1\n2\n", ""),
        ("printf '1\\n2\\n3\\n' | head -2", "1\n2\n", ""),
        ("printf '1\\n2\\n3\\n' | head -n2", "1\n2\n", ""),
        ("printf '1\\n2\\n3\\n' | head -n 0", "", ""),
        ("printf '1\\n2' | head", "1\n2", ""),
        ("printf '1\\n2\\n3' | tail -n 2", "2\n3", ""),
        ("printf '1\\n2\\n3\\n' | tail -1", "3\n", ""),
        ("printf '1\\n2\\n3\\n' | tail -n 0", "", ""),
        ("printf '1\\n2\\n3\\n' | tail -n9", "1\n2\n3\n", ""),
        ("seq 12 2>/dev/null | head | wc -l", "10\n", ""),
        ("for i in 1 2 3 4 5 6 7 8 9 a b c; do echo $i; done | head | wc -l", "10\n", ""),
        ("for i in 1 2 3 4 5 6 7 8 9 a b c; do echo $i; done | tail | head -n 1", "3\n", ""),
        ("head nope; echo $?", "1\n", "head: nope: No such file or directory\n"),
        ("tail nope; echo $?", "1\n", "tail: can't open 'nope': No such file or directory\ntail: no files\n"),
        ("sort nope; echo $?", "2\n", "sort: nope: No such file or directory\n"),
        ("grep x nope; echo $?", "2\n", "grep: nope: No such file or directory\n"),
        ("wc -l nope; echo $?", "1\n", "wc: nope: No such file or directory\n"),
        (
            "printf 'ab\\nAB\\nc\\n' > f; grep a f; grep -i a f; grep -v a f; grep -c b f; grep -vc a f; grep -q c f; "
            "echo $?; grep -q z f; echo $?; grep -c z f; echo $?",
            "ab\nab\nAB\nAB\nc\n1\n2\n0\n1\n0\n1\n",
            "",
        ),
        (
            "printf 'a.b\\naxb\\n' > f; grep a.b f; echo -; grep -F a.b f; echo -; fgrep a.b f; echo -; "
            "grep -E 'a(x|y)b' f; egrep '^a.b$' f",
            "a.b\naxb\n-\na.b\n-\na.b\n-\naxb\na.b\naxb\n",
            "",
        ),
        ("printf 'a\\nb' | grep b", "b\n", ""),
        (
            "printf 'one two\\nthree\\n' > f; wc -l f; wc -w f; wc -c f; wc -l < f; cat f | wc -w",
            "2 f\n3 f\n14 f\n2\n3\n",
            "",
        ),
        ("printf 'a' | wc -l", "0\n", ""),
        ("echo x | tee a b; cat a b; echo y | tee -a a; cat a; echo z | tee a; cat a", "x\nx\nx\ny\nx\ny\nz\nz\n", ""),
        ("echo x | tee /nope/y; echo $?", "x\n1\n", "tee: /nope/y: No such file or directory\n"),
        ("printf '2\\n' > f; printf '1\\n' > g; sort f g", "1\n2\n", ""),
        ("printf '1\\n' | sort -", "1\n", ""),
        ("printf '1\\n' | head -", "1\n", ""),
        (
            "mkdir d; mkdir d; echo $?; mkdir -p d/e/f; ls d; rmdir d; echo $?; rmdir d/e/f d/e d; ls d; echo $?",
            "1\ne\n1\n1\n",
            "mkdir: can't create directory 'd': File exists\nrmdir: 'd': Directory not empty\nls: d: No such file or directory\n",
        ),
        (
            "touch a .h b; ls; ls a nope; echo $?; mkdir d e; touch d/x e/y; ls d e; ls a d; ls -1 d",
            "a\nb\na\n1\nd:\nx\n\ne:\ny\na\n\nd:\nx\nx\n",
            "ls: nope: No such file or directory\n",
        ),
        (
            "rm nope; echo $?; rm -f nope; echo $?; mkdir d; rm d; echo $?; rm -r d; ls",
            "1\n0\n1\n",
            "rm: can't remove 'nope': No such file or directory\nrm: 'd' is a directory\n",
        ),
        (
            "echo 1 > a; cp a b; cat b; mv b c; ls; mkdir d; cp a c d; ls d; cat d/c; mv a c d; ls; cp nope x; echo $?",
            "1\na\nc\na\nc\n1\nd\n1\n",
            "cp: can't stat 'nope': No such file or directory\n",
        ),
        (
            "cat nope; echo $?; echo x | cat; echo x | cat -; echo 1 > a; echo 2 | cat a - a; cat a nope a; echo $?",
            "1\nx\nx\n1\n2\n1\n1\n1\n1\n",
            "cat: can't open 'nope': No such file or directory\ncat: can't open 'nope': No such file or directory\n",
        ),
        (
            "[ -z '' ]; echo $?; [ -n '' ]; echo $?; [ x ]; echo $?; [ '' ]; echo $?; [ a = a ]; echo $?; [ a != a ]; "
            "echo $?; [ a == b ]; echo $?",
            "0\n1\n0\n1\n0\n1\n1\n",
            "",
        ),
        (
            "[ 1 -lt 2 -a 2 -gt 1 ]; echo $?; [ 1 -gt 2 -o 2 -ge 2 ]; echo $?; [ ! 1 -le 0 ]; echo $?; [ 1 -eq 01 ]; "
            "echo $?; [ 1 -ne 1 ]; echo $?; test 1 -eq x; echo $?; [ 1 -eq 1; echo $?",
            "0\n0\n0\n0\n1\n2\n2\n",
            "sh: x: bad number\nsh: missing ]\n",
        ),
        (
            "echo > f; echo x > g; mkdir d; printf '' > e; for o in -e -f -d -s -r; do for n in f g d e no; "
            "do test $o $n; echo $o $n $?; done; done",
            "f 0\ng 0\nd 0\ne 0\nno 1\n-f f 0\n-f g 0\n-f d 1\n-f e 0\n-f no 1\n"
            "-d f 1\n-d g 1\n-d d 0\n-d e 1\n-d no 1\n-s f 0\n-s g 0\n-s d 0\n-s e 1\n-s no 1\n"
            "-r f 0\n-r g 0\n-r d 0\n-r e 0\n-r no 1\n",
            "",
        ),
    ],
)
def test_a_script_prints_what_busybox_prints(text: str, out: str, err: str) -> None:
    _, stdout, stderr = script(f"mkdir /tmp/w; cd /tmp/w; {text}")
    assert (stdout, stderr) == (out, err)


def test_a_line_ends_where_a_line_feed_is_and_nowhere_else() -> None:
    assert script(r"printf 'b\r\na\r\n' | sort")[1] == "a\r\nb\r\n"
    assert script(r"printf 'a\rb\nc\rd\n' | tail -n 1")[1] == "c\rd\n"
