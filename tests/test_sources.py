"""Reading one source: every kind of input gives the same bytes, in flat memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
import zstandard

from verl_doctor.sources import Source, chunks, expand, lines, unpack

MIB = 1 << 20
LINE = b"(WorkerDict pid=%d) step:%d - actor/grad_norm:%.4f - critic/score/mean:0.0\n"
LOG = b"".join(LINE % (i % 64, i, i / 7) for i in range(20_000))
CHINESE = "训练失败:显存不足,请减小批大小。\n步骤 12 完成,用时 3.5 秒\n"


def zst(data: bytes) -> bytes:
    return zstandard.ZstdCompressor(write_checksum=True).compress(data)


def get(path: Path | str, size: int = 1 << 16) -> tuple[bytes, list[str]]:
    """All bytes of a file and the notes; checks what every chunk must satisfy."""
    sources, failures = expand([str(path)])
    assert not failures
    return collect(sources[0], size)


def collect(source: Source, size: int = 1 << 16, stdin: object = None) -> tuple[bytes, list[str]]:
    notes: list[str] = []
    parts = list(chunks(source, stdin=stdin, size=size, notes=notes))  # type: ignore[arg-type]
    assert all(parts)
    if not any("in pieces" in note for note in notes):
        assert all(part.endswith(b"\n") for part in parts[:-1])
    return b"".join(parts), notes


def write(folder: Path, data: bytes, name: str = "run.log") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


STDIN = Source("<stdin>", "stdin")
PACK = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zst}


def test_plain_file_in_chunks_of_whole_lines(tmp_path: Path) -> None:
    source = expand([str(write(tmp_path, LOG + b"no line end"))])[0][0]
    parts = list(chunks(source, size=10_000))
    assert b"".join(parts) == LOG + b"no line end"
    assert len(parts) > 100
    assert max(map(len, parts)) < 10_000 + 200


@pytest.mark.parametrize("kind", PACK)
def test_compressed_by_content_not_by_name(tmp_path: Path, kind: str) -> None:
    path = write(tmp_path, PACK[kind](LOG), "misnamed.log")
    assert expand([str(path)])[0][0].kind == kind
    assert get(path) == (LOG, [])


@pytest.mark.parametrize("kind", PACK)
def test_members_are_joined_and_padding_skipped(tmp_path: Path, kind: str) -> None:
    pack = PACK[kind]
    path = write(tmp_path, pack(LOG) + pack(b"") + b"\0" * 512 + pack(b"second\n") + pack(b""))
    assert get(path) == (LOG + b"second\n", [])
    assert collect(STDIN, stdin=io.BytesIO(path.read_bytes())) == (LOG + b"second\n", [])


@pytest.mark.parametrize("kind", PACK)
def test_cut_short(tmp_path: Path, kind: str) -> None:
    data = LOG * 3
    got, notes = get(write(tmp_path, PACK[kind](data)[:-200]))
    assert data.startswith(got)
    assert len(got) > len(data) // 2 or kind == "bz2"
    assert len(notes) == 1
    assert "ends in the middle" in notes[0]


def test_a_gzip_member_with_a_wrong_checksum_keeps_its_last_line(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(LOG + b"RuntimeError: the last line\n"))
    data[-6] ^= 1
    got, notes = get(write(tmp_path, bytes(data)))
    assert got.endswith(b"RuntimeError: the last line\n")
    assert "damaged" in notes[0]


@pytest.mark.parametrize("kind", PACK)
def test_damaged_in_the_middle(tmp_path: Path, kind: str) -> None:
    noise = random.Random(1).randbytes(200_000)  # what damaged bz2 gives before its end can differ
    data = bytearray(PACK[kind](noise.hex().encode() + b"\n"))
    data[len(data) // 2 : len(data) // 2 + 60] = b"\xff" * 60
    _, notes = get(write(tmp_path, bytes(data)))
    assert len(notes) == 1
    assert "damaged" in notes[0] or "ends in the middle" in notes[0]


def test_text_after_a_gzip_member_is_not_silently_lost(tmp_path: Path) -> None:
    got, notes = get(write(tmp_path, gzip.compress(LOG) + b"appended by someone\n"))
    assert got == LOG
    assert "ignored" in notes[0]


def test_a_bomb_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpack, "MAX_TOTAL", 8 * MIB)
    got, notes = get(write(tmp_path, zst((b"a" * 99 + b"\n") * 500_000)))
    assert 8 * MIB <= len(got) <= 25 * MIB
    assert "more than" in notes[0]


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("bom", ["\ufeff", ""])
def test_utf16(tmp_path: Path, codec: str, bom: str) -> None:
    text = (
        "Traceback (most recent call last):\r\n" + CHINESE + "RuntimeError: \u0a0a \U0001f600\r\n"
    )
    got, notes = get(write(tmp_path, (bom + text * 3000).encode(codec)), size=1024)
    assert got == (text * 3000).encode()
    assert notes == []


def test_utf8_byte_order_mark_is_dropped_and_utf8_left_alone(tmp_path: Path) -> None:
    text = (CHINESE * 2000).encode()
    assert get(write(tmp_path, b"\xef\xbb\xbf" + text))[0] == text
    french = "Erreur : mémoire dépassée, été décidé\n".encode() * 50
    assert get(write(tmp_path, french)) == (french, [])
    broken = LOG + "✓ 完成\n".encode() + b"caf\xe9 M\xfcller \xff\n" + b"\xe8\xae\n" + text
    assert get(write(tmp_path, broken)) == (broken, [])


def test_gb18030_is_transcoded_with_a_note(tmp_path: Path) -> None:
    text = CHINESE * 5000
    for data in (text.encode("gb18030"), LOG + text.encode("gb18030")):
        got, notes = get(write(tmp_path, data), size=4096)
        assert got == data[: data.index(text.encode("gb18030"))] + text.encode()
        assert len(notes) == 1
        assert "GB18030" in notes[0]


def test_gb18030_and_utf8_in_one_log(tmp_path: Path) -> None:
    data = CHINESE.encode("gb18030") + CHINESE.encode() + "联通\n".encode("gb18030")
    got, _ = get(write(tmp_path, data))
    assert got.decode() == CHINESE + CHINESE + "联通\n"


@pytest.mark.parametrize("encoding", ["latin-1", "cp1251", "shift_jis", "cp1252"])
def test_other_encodings_pass_unchanged(tmp_path: Path, encoding: str) -> None:
    text = {"cp1251": "Ошибка память\n", "shift_jis": "エラー: メモリ不足です\n"}.get(
        encoding, "Müller: Größe überschritten, à bientôt\n"
    )
    data = LOG[:1000] + b"\n" + text.encode(encoding) * 50
    assert get(write(tmp_path, data)) == (data, [])


def test_carriage_returns_end_no_line(tmp_path: Path) -> None:
    data = b"".join(b"%d%%|#####| 3/100\r" % i for i in range(5000)) + b"RuntimeError: x\n"
    assert get(write(tmp_path, data), size=1024) == (data, [])


def test_a_line_of_40_mib_comes_in_pieces(tmp_path: Path) -> None:
    data = b"first\n" + "é".encode() * (20 * MIB) + b"\nlast\n"
    source = expand([str(write(tmp_path, data))])[0][0]
    notes: list[str] = []
    parts = list(chunks(source, notes=notes))
    assert b"".join(parts) == data
    assert max(map(len, parts)) <= 2 * lines.MAX_LINE
    assert len(notes) == 1
    assert "longer than 4 MiB" in notes[0]
    for part in parts:
        part.decode()
    bars = b"progress 50%\r" * (2 * MIB)
    parts = list(chunks(STDIN, stdin=io.BytesIO(bars)))
    assert b"".join(parts) == bars
    assert all(part.endswith(b"\r") for part in parts)


def test_a_long_line_in_small_blocks_is_held_but_not_copied_again_and_again() -> None:
    line, block = lines.Lines(), b"step " * 200
    start = time.process_time()
    parts = [line.take(block) for _ in range(20_000)]
    assert time.process_time() - start < 2  # usually 0.1
    assert b"".join(parts) + line.rest() == block * 20_000
    assert max(map(len, parts)) < lines.MAX_LINE + len(block)


def test_a_pipe_yields_whole_lines_at_once(tmp_path: Path) -> None:
    out, into = os.pipe()
    with os.fdopen(out, "rb") as stream:
        it = chunks(STDIN, stdin=stream)
        os.write(into, b"one\n")
        assert next(it) == b"one\n"
        os.write(into, b"two\nthr")
        assert next(it) == b"two\n"
        os.write(into, b"ee\nfour")
        assert next(it) == b"three\n"
        os.close(into)
        assert next(it) == b"four"
        assert next(it, None) is None
        assert not stream.closed


@pytest.mark.parametrize("buffering", [-1, 0])
def test_a_non_blocking_pipe_is_waited_for(buffering: int) -> None:
    out, into = os.pipe()
    os.set_blocking(out, False)
    with os.fdopen(out, "rb", buffering=buffering) as stream:

        def late() -> None:
            for part in (b"one\n", b"two\n"):
                time.sleep(0.1)
                os.write(into, part)
            os.close(into)

        thread = threading.Thread(target=late)
        thread.start()
        assert b"".join(chunks(STDIN, stdin=stream)) == b"one\ntwo\n"
        thread.join()


def test_a_subprocess_and_a_fifo(tmp_path: Path) -> None:
    code = "import sys; sys.stdout.write('x' * 70 + '\\n' + 'y\\n' * 200000)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        got, _ = collect(STDIN, stdin=process.stdout)
    assert got == b"x" * 70 + b"\n" + b"y\n" * 200_000

    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    thread = threading.Thread(target=lambda: fifo.write_bytes(gzip.compress(LOG)))
    sources, failures = expand([str(fifo)])
    assert (sources, failures) == ([Source(str(fifo), "file", None)], [])
    thread.start()
    assert collect(sources[0]) == (LOG, [])
    thread.join()


def test_what_goes_wrong_after_expand_is_a_note(tmp_path: Path) -> None:
    path = write(tmp_path, LOG)
    source = expand([str(path)])[0][0]
    it = chunks(source, size=4096, notes=(notes := []))
    first = next(it)
    os.truncate(path, 8192)
    assert LOG.startswith(first + b"".join(it))
    assert "became shorter" in notes[0]

    path.unlink()
    assert collect(source)[0] == b""
    assert "could not be opened" in collect(source)[1][0]

    parts = [b"one\ntw", b"o\n"]

    class Bad(io.RawIOBase):
        def read(self, size: int = -1) -> bytes:
            if not parts:
                raise OSError(5, "Input/output error")
            return parts.pop(0)

    got, notes = collect(STDIN, stdin=Bad())
    assert got == b"one\ntwo\n"
    assert notes == ["<stdin>: could not be read any further: Input/output error."]


@pytest.mark.parametrize("data", [b"PAR1\x15\x04\x15" + b"\0" * 900, bytes(range(256)) * 20])
def test_binary_on_standard_input(data: bytes) -> None:
    got, notes = collect(STDIN, stdin=io.BytesIO(data))
    assert got == b""
    assert len(notes) == 1
    assert "Give verl-doctor the console log" in notes[0]


def test_nuls_do_not_hide_a_log(tmp_path: Path) -> None:
    """A log that was emptied under a writer that does not append begins with a hole."""
    data = b"\0" * 100_000 + LOG
    assert get(write(tmp_path, data)) == (data, [])
    assert get(write(tmp_path, b"a\0b\n" + LOG)) == (b"a\0b\n" + LOG, [])


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the peak is read from /proc")
@pytest.mark.parametrize("how", ["file", "pipe", "gz", "zst-bomb", "one-line"])
def test_memory_stays_flat(tmp_path: Path, how: str) -> None:
    """200 MB through a process of its own, whose peak the kernel tells."""
    program = textwrap.dedent(
        """
        import sys
        from verl_doctor.sources import Source, chunks, expand
        path = sys.argv[1]
        source = Source("<stdin>", "stdin") if path == "-" else expand([path])[0][0]
        total = sum(map(len, chunks(source)))
        status = open("/proc/self/status").read()
        print(total, int(status.split("VmHWM:")[1].split()[0]) // 1024)
        """
    )
    block, big = LOG * 3, 200_000_000
    path, feed = "-", ""
    if how == "pipe":
        feed = (
            f"import sys\nfor _ in range({big // MIB}): sys.stdout.write('step 1 of 15\\n' * 80660)"
        )
    else:
        target = tmp_path / "big.log"
        with open(target, "wb") as raw:
            if how == "gz":
                with gzip.open(raw, "wb", compresslevel=1) as file:
                    for _ in range(big // len(block)):
                        file.write(block)
            elif how == "zst-bomb":
                raw.write(zst(b"a" * big))
            else:
                for _ in range(big // len(block)):
                    raw.write(block if how == "file" else block.replace(b"\n", b"\r"))
        path = str(target)
    with subprocess.Popen([sys.executable, "-c", feed], stdout=subprocess.PIPE) as feeder:
        out = subprocess.run(
            [sys.executable, "-c", program, path],
            stdin=feeder.stdout,
            capture_output=True,
            check=True,
            text=True,
        ).stdout.split()
    assert int(out[0]) > 150_000_000
    assert int(out[1]) < (200 if how in ("zst-bomb", "one-line") else 90), out


def test_modules_of_the_formats_are_imported_only_when_needed(tmp_path: Path) -> None:
    write(tmp_path, LOG)
    code = (
        "import sys; from verl_doctor.sources import chunks, expand\n"
        "for s in expand(sys.argv[1:])[0]: list(chunks(s))\n"
        "print([m for m in ('bz2', 'lzma', 'zlib', 'gzip', 'zstandard', 'click', 'rich')"
        " if m in sys.modules])"
    )
    plain = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "run.log")],
        capture_output=True,
        check=True,
        text=True,
    )
    assert plain.stdout.strip() == "[]"
