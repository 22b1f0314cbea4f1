#!/usr/bin/env python3
"""Fleets whose peers train on CUDA on the host and on the CPU, in processes that share memory: as good as peers of the CPU
alone, with books that agree, and with the bits of the same fleet over TCP; a checkpoint of one device goes on upon the
other; a peer on a device that is killed comes back.

    tests/gpu/host/mixed_fleet.py GRAPEVINE
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

FLEET = '''version: 1
name: mixed
seed: 3
topology: ring
algorithm: d-psgd
model: { kind: mlp, hidden: [20] }
data: { kind: digits, train: 400, test: 100 }
train: { batch: 16, optimizer: { kind: sgd, lr: 0.05, momentum: 0.9 } }
stop: { rounds: %d }
checkpoint: { every: 10 rounds }
evaluate: { every: 20 rounds }
faults: { ledger: true }
launch: { restart: on-failure }
output: { dir: %s }
peers: [%s]
'''
HOST, DEVICE = '{ device: cpu }', '{ device: cuda }'


def fleet(folder, name, devices, rounds):
    """The file of a fleet, and the folder of its run."""
    path = folder / f'{name}.yaml'
    path.write_text(FLEET % (rounds, folder / name, ', '.join(devices)))
    return path, folder / name


def summary(text):
    rows = [json.loads(line) for line in text.splitlines() if line.startswith('{')]
    return [row for row in rows if row.get('event') == 'summary'][-1]


def run(program, *arguments):
    done = subprocess.run([program, 'run', *arguments, '--json'], capture_output=True, text=True)
    if done.returncode != 0:
        words = ' '.join(map(str, arguments))
        sys.exit(f'run {words} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}')
    return summary(done.stdout)


def must_have_gone_well(program, folder):
    done = subprocess.run([program, 'audit', folder], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'audit of {folder.name}:\n{done.stdout}{done.stderr}')
    for log in folder.glob('peers/*/stderr.log'):
        must('host CUDA' not in log.read_text(), f'{log}: a peer did what no device allows, and came back')


def must(holds, what):
    if not holds:
        sys.exit(what)


def killed_and_back(program, folder):
    """Kills peer 0, which is on a device and has a neighbour on one, when the first checkpoint is there; the fleet goes
    on to its end."""
    path, out = fleet(folder, 'killed', [DEVICE, DEVICE, HOST, HOST], 3000)
    launcher = subprocess.Popen([program, 'run', path, '--json'], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True)
    peer = out / 'peers/000'
    while launcher.poll() is None and not list(peer.glob('checkpoints/*.ckpt')):
        time.sleep(0.05)
    os.kill(int((peer / 'pid').read_text().split()[0]), signal.SIGKILL)
    text, _ = launcher.communicate()
    must(launcher.returncode == 0, f'the fleet ended with {launcher.returncode} after a kill:\n{text[-3000:]}')
    end = summary(text)
    must(end['peers'] == 4 and end['lost'] == 0, f'not all four were there at the end: {end}')
    must(len(end['shared_edges']) == 4, f'not all edges shared memory at the end: {end}')
    must_have_gone_well(program, out)


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        ends = {}
        fleets = {'host': [HOST] * 4, 'mixed': [DEVICE, DEVICE, HOST, HOST], 'devices': [DEVICE] * 4}
        for kind, devices in fleets.items():
            path, out = fleet(folder, kind, devices, 40)
            ends[kind] = run(program, path)
            must_have_gone_well(program, out)
            print(f'{kind}: loss {ends[kind]["loss"]:.6f}, accuracy {ends[kind]["accuracy"]}', flush=True)
            must(len(ends[kind]['shared_edges']) == 4, f'{kind}: not all edges shared memory')
            path, out = fleet(folder, kind + '-tcp', devices, 40)
            over_tcp = run(program, path, '--set', 'network.local=tcp')
            must_have_gone_well(program, out)
            must(not over_tcp['shared_edges'], f'{kind}: memory was shared that was not to be')
            must(over_tcp['model_hash'] == ends[kind]['model_hash'], f'{kind}: other bits over TCP')
        must(ends['devices']['model_hash'] != ends['host']['model_hash'], 'not a bit differs: nobody was on a device')
        for kind in ('mixed', 'devices'):
            # Sums in another order, over forty rounds of a network of two layers.
            must(abs(ends[kind]['loss'] / ends['host']['loss'] - 1) < 1e-3, f'{kind}: another loss than on the host')
            must(ends[kind]['sent_bytes'] == ends['host']['sent_bytes'], f'{kind}: other bytes than on the host')
        # Each peer's checkpoint goes on upon the device that it was not made on.
        moved = {}
        for kind, devices in {'host': [DEVICE] * 4, 'mixed': [HOST, HOST, DEVICE, DEVICE]}.items():
            moved[kind] = run(program, '--resume', folder / kind, '--set', 'stop.rounds=80', '--set',
                              f'peers=[{", ".join(devices)}]')
            print(f'{kind}, gone on elsewhere: loss {moved[kind]["loss"]:.6f}', flush=True)
        must(abs(moved['mixed']['loss'] / moved['host']['loss'] - 1) < 1e-2, 'fleets that moved differ')
        killed_and_back(program, folder)
        print('killed and back')


if __name__ == '__main__':
    main()
