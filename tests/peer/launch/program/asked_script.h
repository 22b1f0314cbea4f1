#pragma once

#include <fstream>
#include <string>

namespace gv {

/// Writes a Python script that speaks to its launcher without the C library. It has functions that
/// introduce `tensors` with x_0 = 0, 1, 2, ... and answer with `figures(x)`, a dict. The second
/// argument is the code that calls them.
inline void write_asked_script(const std::string& path, const std::string& says) {
  std::ofstream(path) << R"(
import array, json, os, socket, sys
tensors = [{"name": "fc.weight", "shape": [2, 3], "strides": [3, 1]},
           {"name": "b", "shape": [], "strides": []}]
channel = socket.socket(fileno=3)
ear = os.fdopen(4)
def give(values):
    file = os.memfd_create("vector")
    os.write(file, array.array("f", values).tobytes())
    socket.send_fds(channel, [b"\0"], [file])
    os.close(file)
def take():
    fds = socket.recv_fds(channel, 1, 1)[1]
    x = array.array("f", os.pread(fds[0], 1 << 20, 0))
    os.close(fds[0])
    return list(x)
def say(**words):
    os.write(5, (json.dumps(words) + "\n").encode())
def introduce(evaluates=True, values=range(7), tensors=tensors, whole=False):
    give(values)
    say(schema="grapevine.program/1", parameters=tensors, evaluates=evaluates, optimizer="SGD",
        batches=3, versions={"python": sys.version.split()[0]}, whole=whole)
def answer(figures):
    for line in ear:
        order = json.loads(line)
        if "evaluate" in order:
            say(evaluated=order["evaluate"], **figures(take()))
)" << says;
}

}  // namespace gv
