"""``assay open --serve``: one page on the loopback interface, to whoever knows its address, until Ctrl-C."""

import http.client
import signal
import socket
import subprocess
import urllib.parse

import pytest

import assay
from assay._program import program_file


@pytest.fixture
def served(work, tmp_path):
    """The process, the address and the page."""
    program = program_file()
    if program is None:
        pytest.skip("SKIPPED: the program assay is not there")
    result = assay.evaluate(work / "net.onnx", work / "test.npz")
    result.save_json(tmp_path / "r.json")
    arguments = [program, "open", tmp_path / "r.json", "--serve"]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    yield process, urllib.parse.urlsplit(process.stdout.readline().strip()), assay.read_result(tmp_path / "r.json").to_html()
    process.kill()
    process.communicate()


def ask(address, method="GET", path=None, host=None):
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=20)
    connection.request(method, address.path if path is None else path, headers={} if host is None else {"Host": host})
    reply = connection.getresponse()
    return reply.status, reply.read().decode(), reply


def test_the_page_is_served_until_ctrl_c(served):
    process, address, page = served
    assert address.hostname == "127.0.0.1"
    for host in (None, "localhost:9999", "127.0.0.1"):  # a tunnel has another port
        status, body, reply = ask(address, host=host)
        assert (status, body) == (200, page), host
    assert reply.headers["Content-Type"] == "text/html; charset=utf-8" and reply.headers["Cache-Control"] == "no-store"
    assert ask(address, "HEAD")[:2] == (200, "")
    process.send_signal(signal.SIGINT)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (0, "", "")
    with pytest.raises(OSError):
        socket.create_connection((address.hostname, address.port), 5)


@pytest.mark.parametrize(
    "asked, status",
    [
        ({"path": "/"}, 404),
        ({"path": "/../../etc/passwd"}, 404),
        ({"path": "/r.json"}, 404),
        ({"host": "example.org"}, 403),
        ({"host": ""}, 403),
        ({"method": "DELETE"}, 405),
        ({"host": "a" * 9000}, 431),
    ],
)
def test_nothing_else_is_served(served, asked, status):
    _, address, page = served
    found, body, _ = ask(address, **asked)
    assert found == status and str(status) in body
    assert ask(address)[:2] == (200, page)


def test_connections_that_say_nothing_keep_nobody_waiting(served):
    _, address, page = served
    silent = [socket.create_connection((address.hostname, address.port), 20) for _ in range(40)]
    silent[-1].sendall(b"no request\r\n\r\n")
    assert b" 400 " in silent[-1].recv(100)
    assert ask(address)[:2] == (200, page)
    for connection in silent:
        connection.close()


def test_other_addresses_of_the_machine_do_not_answer(served):
    _, address, _ = served
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.2", address.port), 5)


@pytest.mark.parametrize(
    "arguments, said",
    [
        (["--port", "8000"], "--port is that of --serve"),
        (["--serve", "--print"], "leave out --print"),
        (["--serve", "--watch"], "--watch: this goes on until it is interrupted"),
        (["--serve", "--port", "70000"], "--port"),
    ],
)
def test_flags_that_fit_nothing_are_refused(work, tmp_path, arguments, said):
    page = tmp_path / "page.html"
    page.write_text("<p>page")
    done = subprocess.run([program_file(), "open", page, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and said in done.stderr


def test_a_port_that_is_taken_is_a_sentence(tmp_path):
    page = tmp_path / "page.html"
    page.write_text("<p>page")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        done = subprocess.run([program_file(), "open", page, "--serve", "--port", port], capture_output=True, text=True, timeout=60)
    assert done.returncode == 7 and f"port {port} cannot be used" in done.stderr and "choose another --port" in done.stderr
