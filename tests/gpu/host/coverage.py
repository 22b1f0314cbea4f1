#!/usr/bin/env python3
"""Says how many lines of gpu/ the tests have carried out on the host, file by file, and which they have not.

    tests/gpu/host/coverage.py [--lines] BUILD_FOLDER

The build is one of the preset cuda-coverage, whose tests have been run. Lines of gpu/bench do not count, nor does what is
compiled into a build without CUDA or cuDNN alone. Fails where less than 95 % of the lines were carried out.
"""
import argparse
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
LEAST = 0.95


def notes_of(build):
    """What the compiler wrote of each object of gpu/."""
    notes = [path for path in sorted((build / 'gpu').rglob('*.gcno')) if 'gpu_bench' not in str(path)]
    if not notes:
        sys.exit(f'{build} counts no lines: build the preset cuda-coverage')
    return notes


def counts_of(notes):
    """How often each line was carried out, by file: the most of all objects, since a header is in several."""
    counts = collections.defaultdict(dict)
    with tempfile.TemporaryDirectory() as folder:
        for note in notes:
            subprocess.run(['gcov', '--json-format', '--object-file', note.with_suffix('.o'), note], cwd=folder,
                           check=True, capture_output=True)
            for answer in pathlib.Path(folder).glob('*.gcov.json.gz'):
                told = json.loads(gzip.decompress(answer.read_bytes()))
                for file in told['files']:
                    lines = counts[pathlib.Path(told['current_working_directory'], file['file']).resolve()]
                    for line in file['lines']:
                        lines[line['line_number']] = max(lines.get(line['line_number'], 0), line['count'])
                answer.unlink()
    return counts


def of_gpu(counts):
    """Those of the files of gpu/, by their names from the root of the tree."""
    own = {}
    for path, lines in counts.items():
        if lines and path.is_relative_to(ROOT / 'gpu') and not path.is_relative_to(ROOT / 'gpu/bench'):
            own[str(path.relative_to(ROOT))] = lines
    return own


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--lines', action='store_true', help='print the lines that were not carried out')
    parser.add_argument('build', type=pathlib.Path)
    asked = parser.parse_args()
    counts = of_gpu(counts_of(notes_of(asked.build.resolve())))
    all_lines = all_reached = 0
    for name, lines in sorted(counts.items()):
        missed = sorted(number for number, count in lines.items() if count == 0)
        reached = len(lines) - len(missed)
        all_lines += len(lines)
        all_reached += reached
        print(f'{reached / len(lines):7.1%} {reached:5} of {len(lines):5}  {name}')
        text = (ROOT / name).read_text().splitlines() if asked.lines else []
        for number in missed if asked.lines else []:
            print(f'        {number:5}: {text[number - 1]}')
    share = all_reached / all_lines
    print(f'{share:7.1%} {all_reached:5} of {all_lines:5}  lines of gpu/')
    sys.exit(f'less than {LEAST:.0%} of the lines of gpu/ were carried out' if share < LEAST else 0)


if __name__ == '__main__':
    main()
