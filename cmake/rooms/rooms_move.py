#!/usr/bin/env python3
"""Moves the flat rooms of peer/ into ten: files, includes, paths, build files, documents and tests.

    rooms_move.py [TREE] [--map FILE] [--dry-run] [--force]

TREE (default: .) is a clean checkout that has not moved yet; otherwise nothing is touched. --dry-run prints the figures
before and after and what stands against the walls, and touches nothing. The index holds the result; nothing is committed.
Circles, more than 10 floors or more than 80 arrows end it before anything is touched, unless --force is given.

Beside this file: rooms_map.txt (where everything goes) and rooms_files/ (new files of tests/tidy).
"""
import argparse
import collections
import difflib
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOMS = 'fleet record wire model runtime sim launch study show cli'.split()
GROUND = 'graph optim gossip gpu'.split()
SOURCES = ('.h', '.cpp', '.cu', '.cuh', '.proto')
MOST_ARROWS, MOST_FLOORS = 80, 10
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
warnings = []


def warn(text):
    warnings.append(text)


def git(tree, *args):
    return subprocess.check_output(['git', '-C', tree, *args], text=True)


# ---------------------------------------------------------------- the map

class Map:
    def __init__(self, path):
        self.folders, self.files = [], {}
        for number, line in enumerate(open(path), 1):
            words = line.split('#')[0].split()
            if not words:
                continue
            if len(words) != 2:
                sys.exit(f'{path}:{number}: two paths')
            old, new = words
            if old.endswith('/'):
                self.folders.append((old, new))
                if old.startswith('peer/'):
                    self.folders.append(('tests/' + old, 'tests/' + new))
            else:
                self.files[old] = new
                self.files['tests/' + old + '_test'] = 'tests/' + new + '_test'
        self.folders.sort(key=lambda rule: -len(rule[0]))

    def folder(self, path):
        """Of a path below a folder that has a rule, and of the folder itself; None of any other."""
        for old, new in self.folders:
            if path.startswith(old):
                return new + path[len(old):]
            if path == old[:-1]:
                return new[:-1]
        return None

    def file(self, path):
        stem, dot, ending = path.rpartition('.')
        if dot and stem in self.files:
            return f'{self.files[stem]}.{ending}'
        return self.folder(path)


def moves_of(tree, where):
    moves = {}
    for path in git(tree, 'ls-files', 'peer', 'tests/peer').splitlines():
        if path in ('peer/CMakeLists.txt', 'tests/peer/CMakeLists.txt'):
            continue
        new = where.file(path)
        if new is None:
            sys.exit(f'{path}: no rule of the map says where it goes')
        moves[path] = new
    twice = [new for new, count in collections.Counter(moves.values()).items() if count > 1]
    if twice:
        sys.exit('two files go to one place: ' + ', '.join(twice))
    return moves


# ---------------------------------------------------------------- the house

def room_of(path):
    parts = path.split('/')
    if parts[0] in GROUND and len(parts) > 1:
        return parts[0]
    return '/'.join(parts[:2]) if parts[0] == 'peer' and len(parts) > 2 else None


def folder_of(path):
    return path.rpartition('/')[0] if room_of(path) else None


def sources_in(tree):
    texts = {}
    for path in git(tree, 'ls-files', *GROUND, 'peer').splitlines():
        if path.endswith(SOURCES):
            texts[path] = open(os.path.join(tree, path), encoding='utf-8').read()
    return texts


def arrows(texts, place, moved=lambda path: path):
    graph = collections.defaultdict(lambda: collections.defaultdict(list))
    for path, text in texts.items():
        here = place(moved(path))
        if here is None:
            continue
        graph[here]
        for included in INCLUDE.findall(text):
            there = place(moved(included))
            if there and there != here:
                graph[here][there].append((moved(path), moved(included)))
    return graph


def floors(graph):
    known = {}

    def floor(room, above):
        if room in above:
            return 0
        if room not in known:
            below = [floor(next_room, above | {room}) for next_room in graph[room]]
            known[room] = 0 if 0 in below else max(below, default=0) + 1
        return known[room]
    found = [floor(room, frozenset()) for room in list(graph)]
    return 0 if 0 in found else max(found)


def circles(graph):
    """Pairs of rooms that reach each other, by the arrows that go against the others."""
    reach = {}
    for room in list(graph):
        seen, open_rooms = set(), [room]
        while open_rooms:
            for next_room in graph[open_rooms.pop()]:
                if next_room not in seen:
                    seen.add(next_room)
                    open_rooms.append(next_room)
        reach[room] = seen
    found = []
    for a in list(graph):
        for b in graph[a]:
            if a in reach.get(b, ()):
                found.append((a, b, graph[a][b]))
    return found


def count(graph):
    return sum(len(row) for row in graph.values())


def figures(words, texts, graph):
    lines = sum(text.count('\n') for text in texts.values())
    inside = sum(1 for a in graph for b in graph[a] if a.startswith('peer') and b.startswith('peer'))
    rooms = sum(1 for room in graph if room.startswith('peer'))
    print(f'{words}: {rooms} rooms in peer/, {count(graph)} arrows ({inside} inside peer/), {floors(graph)} floors, '
          f'{lines} product lines, {len(texts)} product files')


def show_circles(what, found):
    for a, b, files in found:
        print(f'{what}: {a} -> {b}')
        for path, included in files[:6]:
            print(f'    {path} includes {included}')


# ---------------------------------------------------------------- texts

class Rewriter:
    """Paths in any text: peer/..., tests/peer/..., and `room/file.h` without the peer/."""
    TOKEN = re.compile(r'(?<![\w-])((?:tests/)?peer/[A-Za-z0-9_./-]*)')

    def __init__(self, where, moves):
        self.where, self.moves = where, moves
        self.stems, self.guessed = {}, collections.Counter()
        for old, new in moves.items():
            if old.endswith(SOURCES):
                self.stems.setdefault(old.rpartition('.')[0], set()).add(new.rpartition('.')[0])
        rooms = sorted({old.split('/')[1] for old in moves if old.startswith('peer/')})
        self.short = re.compile(r'(?<![\w/.-])((?:' + '|'.join(rooms) + r')/[a-z0-9_/]+)(\.h|\.cpp)?(?![\\]|[\w/.-]*\w)')

    def path(self, token):
        """The new path of a token, which may end with a full stop or a slash, or be the beginning of a name."""
        bare = token.rstrip('.')
        tail = token[len(bare):]
        if bare in self.moves:
            return self.moves[bare] + tail
        stems = self.stems.get(bare)
        if stems and len(stems) == 1:
            return next(iter(stems)) + tail
        below = self.where.folder(bare)
        if below is None:
            return token
        folder = bare if bare.endswith('/') else bare + '/'
        if not any(old.startswith(folder) for old in self.moves):
            # The beginning of names, such as "peer/compare/comparison_"; or a file that is not there, as in tests of rules.
            fits = {new for old, new in self.moves.items() if old.startswith(bare)}
            name = bare.rpartition('/')[2]
            places = {new[:new.rindex('/') + 1] for new in fits}
            if len(places) == 1:
                return next(iter(places)) + name + tail
            self.guessed[f'{token} -> {below}{tail}' + (' (its files go to several places)' if places else '')] += 1
        return below + tail

    def short_path(self, match):
        stems = self.stems.get('peer/' + match[1])
        if not stems or len(stems) > 1:
            return match[0]
        return next(iter(stems))[len('peer/'):] + (match[2] or '')

    def text(self, text, short=True):
        text = self.TOKEN.sub(lambda match: self.path(match[1]), text)
        return self.short.sub(self.short_path, text) if short else text


# Texts that no path says: (file, old, new). An `old` that is not there is told.
def specials(moves):
    # Reports that read an assembly: they are screens as the other reports are.
    views = sorted(new[:-4] for old, new in moves.items()
                   if old.startswith('peer/report/') and new.startswith('peer/runtime/') and new.endswith('_view.cpp'))
    views = [f'"{view}"' for view in views]
    return [
        ('tests/fuzz/CMakeLists.txt',
         '/peer/(agent|checkpoint|fleet|launch|live|runs|runtime|sweep|tensors|wire)/|\\\n/tls/(certificate',
         '/peer/(fleet|launch|runtime|model/(checkpoint|tensors)|record/runs|show/live|study/sweep|wire/frame)/|\\\n'
         '/seal/(certificate'),
        ('tests/fuzz/CMakeLists.txt', '/fleet/(content|digest|table_statistics)',
         '/fleet/(content|digest|json/|table_statistics)'),
        ('tests/fuzz/CMakeLists.txt', 'gv_fuzz_replay gv_peer', 'gv_fuzz_replay gv_show'),
        ('tests/tidy/rules.cpp', '^peer/(tcp/.*|', '^peer/(wire/tcp/.*|'),
        ('tests/tidy/tidy_test.cpp', '"^(peer/cli|peer/bench|gpu/bench)/.*|"\n      "^peer/launch/(',
         '"^peer/cli/[^/]*|^(peer/study/bench|gpu/bench)/.*|"\n      "^peer/launch/('),
        ('tests/tidy/message_page.cpp', '{"peer/fleet/", "peer/keys/", "peer/runtime/assembly", "peer/draft/"}',
         '{"peer/fleet/", "peer/runtime/assembly"}'),
        ('tests/tidy/message_page.cpp', '        "peer/record/",\n        "peer/checkpoint/",\n        "peer/embed/",\n',
         '        "peer/record/disk/",\n        "peer/record/held_round",\n        "peer/record/life/",\n'
         '        "peer/record/run_folder",\n        "peer/record/watch/",\n        "peer/model/checkpoint/",\n'
         '        "peer/study/simulated_run",\n        "peer/cli/embed/",\n'),
        ('tests/tidy/message_page.cpp', '{"gossip/link/", "peer/tcp/", "peer/wire/", "peer/shared/", "peer/network/"}',
         '{"gossip/link/", "peer/wire/"}'),
        ('tests/tidy/message_page.cpp', '"optim/", "peer/model/", "peer/tensors/"', '"optim/", "peer/model/"'),
        ('tests/tidy/message_page.cpp', '"peer/sim/", "peer/drawn/", ', '"peer/sim/", '),
        ('tests/tidy/message_page.cpp',
         '"peer/compare/", "peer/runs/", "peer/report/", "peer/page/", "peer/export/", "peer/json/"',
         ', '.join(['"peer/study/compare/"', '"peer/record/"'] + views + ['"peer/show/page/"', '"peer/fleet/json/"'])),
        ('tests/tidy/screen_places.cpp', '"peer/runtime/example_fleet",',
         ''.join(view + ',\n' + ' ' * 39 for view in views) + '"peer/runtime/example_fleet",'),
        ('tests/tidy/screen_places.cpp', 'bool of_screens(const std::string& path) {\n',
         'bool of_screens(const std::string& path) {\n'
         '  // What other programs call stands beside the commands, and has no screens.\n'
         '  if (path.starts_with("peer/cli/embed/")) return false;\n'),
        ('tests/tidy/CMakeLists.txt', '    cpp_tokens.cpp\n', '    cpp_tokens.cpp\n    house.cpp\n    house_test.cpp\n'),
        ('CONTRIBUTING.md', '`peer/CMakeLists.txt` finds every file `*_command.cpp`',
         '`peer/cli/CMakeLists.txt` finds every file `*_command.cpp`'),
        ('docs/architecture.svg', 'launch (all of them), predict, report, page, cli (the commands)',
         'launch (all of them), study, record, show, cli (the commands)'),
        ('cmake/GvEmbed.cmake', 'gv_embed gv_peer gv_live gv_program gv_runtime gv_gossip',
         'gv_embed gv_show gv_live gv_study gv_launch gv_sim gv_runtime gv_model gv_wire gv_record\n  gv_fleet gv_gossip'),
        ('cmake/GvLibrary.cmake', 'PRIVATE gv_program fmt::fmt', 'PRIVATE gv_embed fmt::fmt'),
        ('ARCHITECTURE.md', PEER_ROW, None),   # rows_of_table
        ('ARCHITECTURE.md', 'fails on an arrow against this table or on a circle between two folders.',
         'fails on an arrow against this table or on a circle between two folders. Each room of `peer/` is a CMake library '
         '`gv_ROOM` (`gv_fleet`), and its link line is its row: the same test holds includes, link lines and table together, '
         f'and the whole house to {MOST_ARROWS} arrows and {MOST_FLOORS} floors.'),
        # Of the rooms beside gv_live, what has threads uses the simulator and what that stands on; of launch headers alone.
        ('tests/peer/CMakeLists.txt', 'LIBRARIES gv_live Asio::Asio', 'LIBRARIES gv_live gv_sim Asio::Asio'),
    ]


PEER_ROW = re.compile(r'^\| `peer/` \|.*\n', re.M)
WORDS = {
    'fleet': 'the fleet file: its keys, their readers, the digest, plug-ins, networks and who may come in; `keys` (for people), '
             '`draft` (a first file), `json`, which all others write with',
    'record': 'what a run says and leaves: the observer and its records, the run\'s folder; `report` (figures as text and '
              'JSON), `life` (where each peer\'s time goes), `watch` (what is seen while it goes on, and ordered), `runs` '
              '(reads what runs left), `export` (for other programs), `disk`',
    'wire': 'bytes between two peers: `frame`, `lend` (memory within one machine), `seal` (keys, TLS, and who may come in), '
            '`tcp`',
    'model': 'files of a model: `tensors`, `card` (what a saved model says of itself, and of new rows), `checkpoint`, `onnx` '
             '(for other runtimes)',
    'runtime': 'one peer: its assembly from the fleet file and the data, its plan, its parts, its life over TCP',
    'sim': 'all peers in virtual time, and the swarm; `drawn` (fleets that are drawn for it)',
    'launch': 'all peers for real: processes, restarts, resuming; `agent` (on other machines), `deploy` (what starts peers on '
              'Kubernetes, under systemd or Slurm), `program` (what trains in each of them, where that is the user\'s own)',
    'study': 'what fleets would do, and did: `predict`, `compare` (which run is first), `sweep` (a fleet in many variations), '
             '`bench`',
    'show': 'what people and other programs see: `page` (draws graphs, and runs with what `compare` says), `live` (a run while '
            'it goes on)',
    'cli': 'the commands; `embed`, what other programs call: one header for programs that hold a fleet, and the C interface '
           'for those that hold a peer',
}


def cell(used):
    return ', '.join(f'`{room.split("/")[-1]}`' for room in used) or 'nothing of ours'


def in_order(rooms):
    """From the ground up."""
    everything = GROUND + ['peer/' + room for room in ROOMS]
    return sorted(rooms, key=everything.index)


def rows_of_table(graph):
    return ''.join(f'| `peer/{room}/` | {WORDS[room]} | {cell(in_order(graph["peer/" + room]))} |\n' for room in ROOMS)


# ---------------------------------------------------------------- CMake

# What the old peer/CMakeLists.txt has beside lists of sources and comments: where it is another, look at it.
OLD_LINES = '''set(GV_SOURCES_HASH ${CMAKE_CURRENT_BINARY_DIR}/sources_hash.cpp)
set(GV_SOURCES_HEADER ${PROJECT_BINARY_DIR}/generated/grapevine_sources.h)
add_custom_target(gv_sources_hash BYPRODUCTS ${GV_SOURCES_HASH} ${GV_SOURCES_HEADER}
COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${GV_SOURCES_HASH} -DHEADER=${GV_SOURCES_HEADER}
-P ${PROJECT_SOURCE_DIR}/cmake/SourcesHash.cmake
VERBATIM)
add_library(gv_runtime STATIC
${GV_SOURCES_HASH}
)
add_dependencies(gv_runtime gv_sources_hash)
gv_options(gv_runtime)
gv_shared(gv_runtime)
gv_precompile(gv_runtime <fmt/format.h> <fmt/ranges.h>)
PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-Os> SKIP_PRECOMPILE_HEADERS ON)
target_link_libraries(gv_runtime
PUBLIC gv_gossip gv_gpu
PRIVATE gv_wire_proto nlohmann_json::nlohmann_json Eigen3::Eigen Asio::Asio XxHash::XxHash yaml-cpp fmt::fmt ZLIB::ZLIB
OpenSSL::SSL)
add_library(gv_program STATIC
)
gv_options(gv_program)
gv_shared(gv_program)
gv_precompile(gv_program <fmt/format.h> <fmt/ranges.h>)
target_compile_options(gv_program PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Os>)
set_source_files_properties(embed/program_info.cpp PROPERTIES COMPILE_DEFINITIONS GV_VERSION="${PROJECT_VERSION}")
target_link_libraries(gv_program PUBLIC gv_runtime PRIVATE fmt::fmt OpenSSL::SSL)
add_library(gv_live STATIC
)
gv_options(gv_live)
gv_precompile(gv_live <fmt/format.h> <fmt/ranges.h>)
target_link_libraries(gv_live
PUBLIC gv_program
PRIVATE nlohmann_json::nlohmann_json Asio::Asio XxHash::XxHash fmt::fmt OpenSSL::SSL)
add_library(gv_peer STATIC
)
gv_options(gv_peer)
gv_precompile(gv_peer <fmt/format.h> <fmt/ranges.h>)
set_source_files_properties(agent/own_facts.cpp PROPERTIES COMPILE_DEFINITIONS GV_VERSION="${PROJECT_VERSION}")
target_link_libraries(gv_peer
PUBLIC gv_live
PRIVATE gv_wire_proto nlohmann_json::nlohmann_json Eigen3::Eigen Asio::Asio XxHash::XxHash yaml-cpp fmt::fmt ZLIB::ZLIB
OpenSSL::SSL)
add_subdirectory(wire)
add_subdirectory(onnx)
add_library(gv_embed STATIC embed/grapevine.cpp)
gv_options(gv_embed)
target_link_libraries(gv_embed PUBLIC gv_peer PRIVATE fmt::fmt)
file(GLOB gv_command_files CONFIGURE_DEPENDS cli/*_command.cpp)
add_library(gv_cli STATIC
${gv_command_files})
gv_options(gv_cli)
gv_precompile(gv_cli <fmt/format.h>)
target_compile_definitions(gv_cli PRIVATE GV_VERSION="${PROJECT_VERSION}" GV_BUILD_TYPE="${CMAKE_BUILD_TYPE}")
target_link_libraries(gv_cli
PUBLIC gv_peer
PRIVATE gv_onnx CLI11::CLI11 fmt::fmt Eigen3::Eigen)
add_executable(grapevine cli/main.cpp)
gv_options(grapevine)
target_link_libraries(grapevine PRIVATE gv_cli)
set_target_properties(grapevine PROPERTIES ENABLE_EXPORTS ON)
install(TARGETS grapevine)
'''.splitlines()

PACKAGES = [('"wire/wire\\.pb', 'gv_wire_proto'), ('<nlohmann/', 'nlohmann_json::nlohmann_json'),
            ('<Eigen/', 'Eigen3::Eigen'), ('<Spectra/', 'Spectra::Spectra'), ('<asio', 'Asio::Asio'),
            ('<CLI/', 'CLI11::CLI11'), ('<xxhash\\.h', 'XxHash::XxHash'), ('<yaml-cpp/', 'yaml-cpp'),
            ('<fmt/', 'fmt::fmt'), ('<zlib\\.h', 'ZLIB::ZLIB'), ('<openssl/', 'OpenSSL::SSL')]
SHARED = 'fleet record wire model runtime sim launch embed'.split()
ABOVE = {
    'fleet': '# The fleet file, and what it says.',
    'record': '# What a run says and leaves.',
    'wire': '# Bytes between two peers.',
    'model': '# Files of a model. Those of ONNX are apart: a test must not link their messages beside ONNX\'s own.',
    'runtime': '# One peer.',
    'sim': '# All peers in virtual time.',
    'launch': '# All peers for real.',
    'study': '# What fleets would do, and what they did.',
    'show': '# What people and other programs see of runs.',
    'cli': '# All of the program but its main(), so that tests can link other programs from it. A command is a file\n'
           '# *_command.cpp and a row of commands.cpp.',
    'live': '# What shows a run while it goes on, apart: it has threads, and .ci/tsan builds it without the rooms that study a '
            'run.',
    'embed': '# One peer inside a program that brings its own gradients, but for the C interface itself '
             '(cmake/GvLibrary.cmake);\n# and the header for programs that hold a fleet (cmake/GvEmbed.cmake).',
}


class Build:
    def __init__(self, old_text, moves, texts, moved):
        self.moves, self.moved = moves, moved
        self.lists, self.small = {}, []
        self.parse(old_text)
        self.texts = {moved(path): text for path, text in texts.items()}
        self.included = {path: [moved(name) for name in INCLUDE.findall(text)] for path, text in self.texts.items()}
        self.libraries = self.divide()

    def parse(self, text):
        lines = [line.split(' #')[0].strip() for line in text.splitlines()]
        rest, current, small = [], None, False
        for line in lines:
            if not line or line.startswith('#'):
                continue
            opened = re.match(r'add_library\((\w+) STATIC', line)
            current = opened[1] if opened else current
            if line.startswith('set_source_files_properties(') and '.cpp' in line and 'COMPILE_DEFINITIONS' not in line:
                small = True
            names = re.findall(r'[\w/]+\.cpp(?![\w.])', line)
            only_names = line.strip(')').split() == names or small
            if names and small:
                self.small += ['peer/' + name for name in names]
            elif names and (only_names or opened):
                self.lists.setdefault(current, []).extend('peer/' + name for name in names)
            if small and ('PROPERTIES' in line or line.endswith(')')):
                small = False
            if not (names and only_names):
                rest.append(line)
            elif line.endswith(')') and not opened:
                rest.append(')')
        difference = [line for line in difflib.unified_diff(OLD_LINES, rest, 'known', 'peer/CMakeLists.txt', lineterm='', n=0)]
        if difference:
            warn('peer/CMakeLists.txt says more than the script knows; take it over by hand:\n  ' + '\n  '.join(difference))

    def divide(self):
        libraries = collections.defaultdict(list)
        for target, sources in self.lists.items():
            for source in sources:
                new = self.moves.get(source)
                if new is None:
                    sys.exit(f'peer/CMakeLists.txt: {source} is not in the tree')
                room = new.split('/')[1]
                if target == 'gv_live' and room == 'show':
                    room = 'live'
                elif new.startswith('peer/cli/embed/'):
                    room = 'embed'
                elif target == 'gv_program' and source not in self.small:
                    self.small.append(source)
                libraries[room].append(new)
        for path in self.texts:   # the glob of peer/CMakeLists.txt
            if re.fullmatch(r'peer/cli/\w+_command\.cpp', path):
                libraries['cli'].append(path)
        return libraries

    def closure(self, sources):
        """All headers of ours that these include, and the sources themselves."""
        seen, open_files = set(sources), list(sources)
        while open_files:
            for name in self.included.get(open_files.pop(), ()):
                if name in self.texts and name not in seen:
                    seen.add(name)
                    open_files.append(name)
        return seen

    def files_of(self, library):
        """Its sources, and the headers that stand beside them."""
        stems = {path.rpartition('.')[0] for path in self.libraries[library]}
        return {path for path in self.texts if path in self.libraries[library] or path.rpartition('.')[0] in stems}

    def files(self, library):
        """For the link line: what its files include. A room's own library answers for all of its headers."""
        room = {'live': 'show', 'embed': 'cli'}.get(library, library)
        mine = self.files_of(library)
        if library == room:
            parts = [self.files_of(part) for part, of in (('live', 'show'), ('embed', 'cli')) if of == room]
            others = set().union(*parts) if parts else set()
            mine = {path for path in self.texts if path.startswith(f'peer/{room}/') and path not in others
                    and not path.startswith(('peer/model/onnx/', 'peer/cli/embed/'))}
        elif library == 'embed':
            mine = {path for path in self.texts if path.startswith('peer/cli/embed/')}
        elif library == 'live':
            mine |= {path for path in self.texts if path.startswith('peer/show/live/') and path.endswith('.h')
                     and path.replace('.h', '.cpp') not in self.texts}
        return mine

    def link_line(self, library):
        room = {'live': 'show', 'embed': 'cli', 'onnx': 'model'}.get(library, library)
        mine = self.onnx_files() if library == 'onnx' else self.files(library)
        rooms = {room_of(name) for path in mine for name in self.included[path] if name in self.texts} - {None}
        rooms.discard('peer/' + room)
        names = ['gv_' + name.split('/')[-1] for name in reversed(in_order(rooms))]
        if library == 'show':
            names.insert(0, 'gv_live')
        if library == 'onnx':
            names.insert(0, 'gv_model')
        sources = mine if library == 'onnx' else self.libraries[library]
        whole = '\n'.join(self.texts[path] for path in self.closure(sources))
        needs = [package for pattern, package in PACKAGES if re.search('^#include ' + pattern, whole, re.M)]
        if library == 'cli':
            needs.insert(0, 'gv_onnx')
        if library == 'onnx':
            needs.insert(0, 'gv_onnx_proto')
        return names, needs

    def onnx_files(self):
        return {path for path in self.texts if path.startswith('peer/model/onnx/')}

    def target(self, library):
        room = {'live': 'show', 'embed': 'cli'}.get(library, library)
        base = f'peer/{room}/'
        text = ABOVE[library] + '\n'
        if library == 'cli':
            text += 'file(GLOB gv_command_files CONFIGURE_DEPENDS *_command.cpp)\n'
        names = sorted({path[len(base):] for path in self.libraries[library] if not (
            library == 'cli' and path.endswith('_command.cpp'))})
        head = ['${GV_SOURCES_HASH}'] if library == 'fleet' else []
        tail = ['${gv_command_files}'] if library == 'cli' else []
        text += f'add_library(gv_{library} STATIC\n  ' + '\n  '.join(head + names + tail) + ')\n'
        if library == 'fleet':
            text += 'add_dependencies(gv_fleet gv_sources_hash)\n'
        text += f'gv_options(gv_{library})\n'
        if library in SHARED:
            text += f'gv_shared(gv_{library})\n'
        text += f'gv_precompile(gv_{library} <fmt/format.h>' + ('' if library == 'cli' else ' <fmt/ranges.h>') + ')\n'
        if library == 'embed':
            text += '# The library is loaded into programs of others, and none of this is arithmetic.\n' \
                    'target_compile_options(gv_embed PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-Os>)\n' \
                    'set_source_files_properties(embed/program_info.cpp PROPERTIES COMPILE_DEFINITIONS ' \
                    'GV_VERSION="${PROJECT_VERSION}")\n'
        small = sorted(self.moves[path][len(base):] for path in self.small if self.moves[path] in self.libraries[library]
                       and library != 'embed')
        if small:
            text += '# ' + ('The largest readers of fleet files' if library == 'fleet' else 'Those') + \
                ' which libgrapevine.so carries into programs of others: none of this is arithmetic.\n'
            text += wrapped(['set_source_files_properties(' + small[0]] + small[1:]) + '\n' \
                '  PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-Os> SKIP_PRECOMPILE_HEADERS ON)\n'
        if library == 'launch':
            text += 'set_source_files_properties(agent/own_facts.cpp PROPERTIES COMPILE_DEFINITIONS ' \
                    'GV_VERSION="${PROJECT_VERSION}")\n'
        if library == 'cli':
            text += 'target_compile_definitions(gv_cli PRIVATE GV_VERSION="${PROJECT_VERSION}" ' \
                    'GV_BUILD_TYPE="${CMAKE_BUILD_TYPE}")\n'
        rooms, needs = self.link_line(library)
        text += f'target_link_libraries(gv_{library}\n' + wrapped(['PUBLIC'] + rooms, '  ', '    ') + '\n' + \
            wrapped(['PRIVATE'] + needs, '  ', '    ') + ')\n'
        return text

    def write(self, tree):
        for room in ROOMS:
            text = ''
            if room == 'fleet':
                text += HASH
            if room == 'wire':
                text += 'add_subdirectory(frame)\n\n'
            if room == 'show':
                text += self.target('live') + '\n'
            if room == 'cli':
                text += self.target('embed') + '\n'
            text += self.target(room)
            if room == 'model':
                text += '\nadd_subdirectory(onnx)\n'
            write(os.path.join(tree, 'peer', room, 'CMakeLists.txt'), text)
        write(os.path.join(tree, 'peer/CMakeLists.txt'), TOP)
        path = os.path.join(tree, 'peer/model/onnx/CMakeLists.txt')
        text = open(path).read()
        rooms, needs = self.link_line('onnx')
        changed = re.sub(r'target_link_libraries\(gv_onnx PUBLIC gv_peer PRIVATE [^)]*\)',
                         f'target_link_libraries(gv_onnx PUBLIC {" ".join(rooms)} PRIVATE {" ".join(needs)})', text)
        if changed == text:
            warn('peer/model/onnx/CMakeLists.txt: its link line is not as it was known')
        write(path, changed)


HASH = '''# What program this is: a hash of its sources, looked at again whenever something is built.
set(GV_SOURCES_HASH ${CMAKE_CURRENT_BINARY_DIR}/sources_hash.cpp)
set(GV_SOURCES_HEADER ${PROJECT_BINARY_DIR}/generated/grapevine_sources.h)
add_custom_target(gv_sources_hash BYPRODUCTS ${GV_SOURCES_HASH} ${GV_SOURCES_HEADER}
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUTPUT=${GV_SOURCES_HASH} -DHEADER=${GV_SOURCES_HEADER}
    -P ${PROJECT_SOURCE_DIR}/cmake/SourcesHash.cmake
  VERBATIM)

'''
TOP = '''# Ten rooms, each a library whose link line names the rooms that it includes: the rows of the table in ARCHITECTURE.md.
# tests/tidy holds sources, link lines and table together.
''' + ''.join(f'add_subdirectory({room})\n' for room in ROOMS) + '''
add_executable(grapevine cli/main.cpp)
gv_options(grapevine)
target_link_libraries(grapevine PRIVATE gv_cli)
# What plug-ins call: nothing of it is in them.
set_target_properties(grapevine PROPERTIES ENABLE_EXPORTS ON)
install(TARGETS grapevine)
'''


def wrapped(words, begin='', indent='  ', columns=118):
    lines, line = [], begin
    for word in words:
        if line.strip() and len(line) + 1 + len(word) > columns:
            lines.append(line)
            line = indent + word
        else:
            line += (' ' if line.strip() else '') + word
    return '\n'.join(lines + [line])


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, 'w', encoding='utf-8') as file:
        file.write(text)


# ---------------------------------------------------------------- the move

def refuse_unless_ready(tree):
    if not os.path.exists(os.path.join(tree, '.git')):
        sys.exit(f'{tree}: not the root of a checkout')
    if os.path.exists(os.path.join(tree, 'peer/study')) or not os.path.isdir(os.path.join(tree, 'peer/tcp')):
        sys.exit(f'{tree}: its rooms have moved already')
    if git(tree, 'status', '--porcelain', '--untracked-files=no').strip():
        sys.exit(f'{tree}: commit or put away its changes first')
    stray = git(tree, 'ls-files', '--others', '--exclude-standard', 'peer', 'tests/peer').strip()
    if stray:
        sys.exit(f'{tree}: files that git does not know:\n{stray}')


def move_files(tree, moves):
    waiting = os.path.join(tree, '.rooms_move')
    for old, new in moves.items():
        if old != new:
            os.makedirs(os.path.join(waiting, os.path.dirname(new)), exist_ok=True)
            os.rename(os.path.join(tree, old), os.path.join(waiting, new))
    for old, new in moves.items():
        if old != new:
            os.makedirs(os.path.join(tree, os.path.dirname(new)), exist_ok=True)
            os.rename(os.path.join(waiting, new), os.path.join(tree, new))
    for top in (waiting, os.path.join(tree, 'peer'), os.path.join(tree, 'tests/peer')):
        for folder, _, _ in sorted(os.walk(top), reverse=True):
            if not os.listdir(folder):
                os.rmdir(folder)


def text_files(tree):
    for path in git(tree, 'ls-files').splitlines():
        full = os.path.join(tree, path)
        if os.path.islink(full) or not os.path.isfile(full) or path.startswith('tests/fuzz/seeds/'):
            continue
        try:
            yield path, open(full, encoding='utf-8', newline='').read()
        except UnicodeDecodeError:
            continue


def rewrite(path, text, rewriter, special, table):
    held = []
    for file, old, new in special:
        if file != path:
            continue
        before = text
        mark = f'\0{len(held)}\0'
        text = old.sub(lambda _: mark, text, 1) if hasattr(old, 'sub') else text.replace(old, mark, 1)
        if text == before:
            warn(f'{path}: does not say any more, so do by hand: {getattr(old, "pattern", old)!r} -> {new!r}')
        held.append(table if new is None else new)
    if path == 'tests/peer/CMakeLists.txt':
        text = re.sub(r'(?<![\w/.$}-])([a-z_]+/[\w/]+\.(?:cpp|h))', lambda m: below_tests(rewriter, m[1]), text)
    elif path == 'peer/CMakeLists.txt':
        return text   # written anew
    else:
        text = rewriter.text(text, short=not path.endswith(('CMakeLists.txt', '.txt', '.yaml', '.seed')))
    if path.startswith('tests/') and path.endswith('CMakeLists.txt'):
        text = re.sub(r'\bgv_peer\b', 'gv_show', text)
        text = re.sub(r'\bgv_program\b', 'gv_embed', text)
    for number, new in enumerate(held):
        text = text.replace(f'\0{number}\0', new)
    if path == 'tests/tidy/screen_places.cpp':
        text = sorted_places(text)
    if path.endswith('.md'):
        text = sorted_includes(text)
    return text


def below_tests(rewriter, name):
    new = rewriter.moves.get('tests/peer/' + name)
    return new[len('tests/peer/'):] if new else name


def sorted_places(text):
    found = re.search(r'((?:\s*"peer/[^"]*",)+)', text)
    if not found:
        warn('tests/tidy/screen_places.cpp: its list was not found')
        return text
    places = sorted(re.findall(r'"peer/[^"]*"', found[1]))
    return text[:found.start()] + ''.join(('' if k == 0 else '\n' + ' ' * 39) + place + ','
                                         for k, place in enumerate(places)) + text[found.end():]


def sorted_includes(text):
    """In the listings of documents."""
    return re.sub(r'(?:^#include "[^"]+"\n){2,}', lambda m: ''.join(sorted(m[0].splitlines(True))), text, flags=re.M)


def rewrite_all(tree, rewriter, special, table):
    changed = []
    old_of = {new: old for old, new in rewriter.moves.items()}
    for path, text in list(text_files(tree)):
        new = rewrite(path, text, rewriter, special, table)
        if new != text:
            with open(os.path.join(tree, path), 'w', encoding='utf-8', newline='') as file:
                file.write(new)
            changed.append(path)
    for file in {file for file, _, _ in special}:
        if not os.path.exists(os.path.join(tree, file)):
            warn(f'{file}: is not there any more')
    return changed


def format_sources(tree, paths):
    paths = [path for path in paths if path.endswith(('.h', '.cpp', '.cu'))]
    for k in range(0, len(paths), 100):
        subprocess.check_call(['clang-format', '-i'] + paths[k:k + 100], cwd=tree)


def copy_new_files(tree):
    new = []
    for folder, _, names in os.walk(os.path.join(HERE, 'rooms_files')):
        for name in names:
            full = os.path.join(folder, name)
            path = os.path.relpath(full, os.path.join(HERE, 'rooms_files'))
            write(os.path.join(tree, path), open(full, encoding='utf-8').read())
            new.append(path)
    return new


# ---------------------------------------------------------------- what must be so afterwards

def verify(tree):
    wrong = []
    long_before = subprocess.run(['git', '-C', tree, 'grep', '-h', '-E', '^.{101,}', 'HEAD', '--', '*.h', '*.cpp', '*.cu'],
                                 capture_output=True, text=True).stdout.splitlines()
    tracked = set(git(tree, 'ls-files').splitlines())
    texts = sources_in(tree)
    for path in tracked:
        if not path.endswith(('.h', '.cpp', '.cu', '.cuh')):
            continue
        text = open(os.path.join(tree, path), encoding='utf-8').read()
        for included in INCLUDE.findall(text):
            if included.startswith(('peer/', 'tests/', 'graph/', 'optim/', 'gossip/', 'gpu/')) and included not in tracked:
                wrong.append(f'{path}: includes {included}, which is not there')
        for number, line in enumerate(text.splitlines(), 1):
            if len(line) > 100 and line not in long_before:
                wrong.append(f'{path}:{number}: over 100 columns')
    for path in sorted(tracked):
        if not path.endswith('CMakeLists.txt'):
            continue
        base = os.path.dirname(path)
        text = re.sub(r'#.*', '', open(os.path.join(tree, path)).read())
        for name in re.findall(r'(?<![\w/.{}$*<-])((?:\.\./)*[a-z_][\w/]*\.cpp)', text):
            if os.path.normpath(os.path.join(base, name)) not in tracked and name not in tracked:
                wrong.append(f'{path}: {name} is not there')
    listed = set()
    for room in ROOMS:
        for part in ('', '/onnx'):
            path = f'peer/{room}{part}/CMakeLists.txt'
            if path in tracked:
                for name in re.findall(r'^\s+([\w/]+\.cpp)', open(os.path.join(tree, path)).read(), re.M):
                    listed.add(f'peer/{room}{part}/{name}')
    for path in sorted(tracked):
        apart = path in ('peer/cli/main.cpp', 'peer/cli/embed/grapevine_program.cpp', 'peer/cli/embed/no_models.cpp')
        if path.startswith('peer/') and path.endswith('.cpp') and not path.endswith('_command.cpp') and not apart \
                and path not in listed:
            wrong.append(f'{path}: no CMakeLists.txt lists it')
    for path in sorted(tracked):
        if path.startswith('tests/fuzz/planted/') and path.endswith('.patch'):
            if subprocess.run(['git', '-C', tree, 'apply', '--check', '--recount', path], capture_output=True).returncode:
                plain = subprocess.run(['patch', '--dry-run', '--quiet', '-p1', '-i', path], cwd=tree, capture_output=True)
                if plain.returncode:
                    wrong.append(f'{path}: does not apply any more')
    included = {room: set(row) for room, row in arrows(texts, room_of).items()}
    for words, house in (('link', linked_rooms(tree)), ('ARCHITECTURE.md lists', listed_rooms(tree))):
        for room in sorted(set(house) | set(included)):
            if house.get(room) != included.get(room):
                wrong.append(f'{room}: sources include {included.get(room)}; {words} {house.get(room)}')
    folders = arrows(texts, folder_of)
    show_circles('a circle between folders', circles(folders))
    if circles(folders):
        wrong.append('folders have circles')
    return wrong


def called(name):
    return name if name in GROUND else 'peer/' + name


def linked_rooms(tree):
    house = {}
    for path in git(tree, 'ls-files', '*/CMakeLists.txt').splitlines():
        room = room_of(path)
        if room:
            text = open(os.path.join(tree, path)).read()
            calls = re.findall(r'^\s*target_link_libraries\((.*?)\)', text, re.M | re.S)
            house.setdefault(room, set()).update(called(name) for call in calls for name in re.findall(r'\bgv_(\w+)', call))
    return {room: {used for used in row if used in house and used != room} for room, row in house.items()}


def listed_rooms(tree):
    house = {}
    for name, last in re.findall(r'^\| `([\w/]+)` \|.*\|([^|\n]*)\|$', open(os.path.join(tree, 'ARCHITECTURE.md')).read(),
                                 re.M):
        room = room_of(name + 'x')
        if room:
            house[room] = {called(used) for used in re.findall(r'`(\w+)`', last)}
    return house


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('tree', nargs='?', default='.')
    parser.add_argument('--map', default=os.path.join(HERE, 'rooms_map.txt'))
    parser.add_argument('--dry-run', action='store_true')
    parser.add_argument('--force', action='store_true')
    args = parser.parse_args()
    tree = os.path.abspath(args.tree)
    refuse_unless_ready(tree)
    where = Map(args.map)
    moves = moves_of(tree, where)
    texts = sources_in(tree)

    def moved(path):
        return moves.get(path, path)
    before, after = arrows(texts, room_of), arrows(texts, room_of, moved)
    figures('before', texts, before)
    figures('after', texts, after)
    bad = circles(after)
    show_circles('a circle between rooms', bad)
    folders = circles(arrows(texts, folder_of, moved))
    show_circles('a circle between folders', folders)
    strange = [room for room in after if room not in GROUND + ['peer/' + name for name in ROOMS]]
    if strange:
        print('rooms that are none of the ten:', *strange)
    too_much = bad or folders or strange or floors(after) > MOST_FLOORS or count(after) > MOST_ARROWS
    if too_much and not args.force:
        sys.exit('nothing was touched: the walls do not stand (--force moves all the same)')
    for room in ROOMS:
        print(f'  {room:8}', cell(in_order(after['peer/' + room])).replace('`', ''))
    if args.dry_run:
        return
    build = Build(open(os.path.join(tree, 'peer/CMakeLists.txt')).read(), moves, texts, moved)
    rewriter = Rewriter(where, moves)
    move_files(tree, moves)
    subprocess.check_call(['git', '-C', tree, 'add', '-A', '--', 'peer', 'tests'])
    changed = rewrite_all(tree, rewriter, specials(moves), rows_of_table(after))
    build.write(tree)
    changed += copy_new_files(tree)
    format_sources(tree, changed)
    subprocess.check_call(['git', '-C', tree, 'add', '-A', '--', 'peer', 'tests'] + [
        path for path in changed if not path.startswith(('peer/', 'tests/'))])
    print(f'{sum(old != new for old, new in moves.items())} files moved, {len(changed)} texts rewritten')
    figures('now', sources_in(tree), arrows(sources_in(tree), room_of))
    for text, times in sorted(rewriter.guessed.items()):
        print(f'by the folder\'s rule alone, {times} times: {text}')
    for text in warnings:
        print('BY HAND:', text)
    wrong = verify(tree)
    for text in wrong:
        print('WRONG:', text)
    sys.exit(1 if wrong else 0)


if __name__ == '__main__':
    main()
