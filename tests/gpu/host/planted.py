#!/usr/bin/env python3
"""Plants one bug after the other in a copy of gpu/ and says which way of running the tests finds it.

    tests/gpu/host/planted.py [--quick] [--table] [NUMBER | WORD ...]

The copy is in build/planted; it is built as the preset cuda-watch. --quick: the first way that finds a bug is enough.
Fails where a bug is found by nothing, or where its place in the source is no longer there.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

from planted_bugs import BUGS

ROOT = pathlib.Path(__file__).resolve().parents[3]
COPY = ROOT / 'build/planted'
BUILD = COPY / 'build/cuda-watch'
SECONDS = 300
UNWATCHED = {'GV_HOST_WATCH': '0'}
# What each adds to the ones before: values in the plainest order; then in orders that a device may choose; then every
# access.
WAYS = {
    'eager': {**UNWATCHED, 'GV_HOST_ORDER': 'eager'},
    'late': {**UNWATCHED, 'GV_HOST_ORDER': 'late', 'GV_HOST_THREADS': 'down', 'GV_HOST_BLOCKS': 'down',
             'GV_HOST_GUARD': '1'},
    'ahead': {**UNWATCHED, 'GV_HOST_ORDER': 'ahead', 'GV_HOST_THREADS': 'random', 'GV_HOST_BLOCKS': 'random'},
    'watch': {'GV_HOST_ORDER': 'eager'},
}


def copy_tree():
    """What git tracks, as it is here; what is unchanged keeps its time."""
    COPY.mkdir(parents=True, exist_ok=True)
    files = subprocess.run(['git', 'ls-files', '-z', '--cached', '--others', '--exclude-standard'], cwd=ROOT,
                           check=True, capture_output=True).stdout
    for name in files.decode().rstrip('\0').split('\0'):
        there, here = COPY / name, ROOT / name
        if not here.is_file() or there.is_file() and there.read_bytes() == here.read_bytes():
            continue
        there.parent.mkdir(parents=True, exist_ok=True)
        there.write_bytes(here.read_bytes())
        there.chmod(here.stat().st_mode)


def build():
    """Why it cannot be built; empty: it is."""
    done = subprocess.run(['cmake', '--build', BUILD, '--target', 'gv_cuda', 'test_gpu', 'test_gpu_inside'], cwd=COPY,
                          capture_output=True, text=True)
    return '' if done.returncode == 0 else done.stdout[-2000:] + done.stderr[-2000:]


def finding(output, code):
    """In a few words, how a program that ended with `code` says what is wrong."""
    said = re.search(r'host CUDA: (.*)', output)
    if said:
        return said[1].split(', at /')[0].split(' (block')[0]
    failed = re.search(r'\[  FAILED  \] (?:Every/)?([\w.]+)', output)
    if failed:
        return 'fails ' + failed[1]
    return f'signal {-code}' if code < 0 else f'exit {code}'


def run(settings, cases):
    """How the first program that fails says so; empty: none does."""
    env = {**os.environ, 'GRAPEVINE_REQUIRE_CUDA': '1', 'GRAPEVINE_CASES': 'small', **settings}
    for program in ('test_gpu', 'test_gpu_inside'):
        try:
            done = subprocess.run([BUILD / 'tests/gpu' / program, '--gtest_brief=1', '--gtest_filter=' + cases],
                                  env=env, capture_output=True, text=True, timeout=SECONDS, errors='replace')
        except subprocess.TimeoutExpired:
            return 'does not end'
        if done.returncode != 0:
            return finding(done.stdout + done.stderr, done.returncode)
    return ''


def judge(bug, quick):
    """Of each way that was tried, what it found."""
    path = COPY / bug.file
    whole = path.read_text()
    if whole.count(bug.old) == 0:
        return {'source': ''}
    path.write_text(whole.replace(bug.old, bug.new, 1))
    found = {}
    try:
        wrong = build()
        if wrong:
            print(wrong)
            return {'build': ''}
        for way, settings in WAYS.items():
            found[way] = run(settings, bug.cases)
            if quick and found[way]:
                break
    finally:
        path.write_text(whole)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--quick', action='store_true')
    parser.add_argument('--table', action='store_true', help='rows of a Markdown table')
    parser.add_argument('wanted', nargs='*')
    asked = parser.parse_args()
    copy_tree()
    subprocess.run(['cmake', '--preset', 'cuda-watch'], cwd=COPY, check=True, stdout=subprocess.DEVNULL)
    wrong = build()
    if wrong:
        sys.exit(wrong)
    missed = tried = 0
    for number, bug in enumerate(BUGS, 1):
        if asked.wanted and not any(word == str(number) or word in bug.name for word in asked.wanted):
            continue
        tried += 1
        found = judge(bug, asked.quick)
        ways = [way for way, how in found.items() if how]
        missed += not ways
        how = found[ways[-1]] if ways else 'MISSED ' + ' '.join(found)
        line = f'| {number} | {bug.name} | {", ".join(ways)} | {how} |'
        print(line if asked.table else line.strip('| ').replace(' | ', '; '), flush=True)
    print(f'{tried} planted bugs, {missed} found by nothing')
    sys.exit(1 if missed else 0)


if __name__ == '__main__':
    main()
