#!/usr/bin/env python3
"""rooms_check.py BEFORE AFTER [MAP]: what the move must not change, of two checkouts: groups of messages, places of screens,
what the fuzz targets are made of, sources that tests reach."""
import fnmatch, glob, importlib.util, os, re, subprocess, sys
spec = importlib.util.spec_from_file_location('rm', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'rooms_move.py'))
rm = importlib.util.module_from_spec(spec); spec.loader.exec_module(rm)
one, two = sys.argv[1:3]
where = rm.Map(sys.argv[3] if len(sys.argv) > 3 else os.path.join(rm.HERE, 'rooms_map.txt'))
def read(root, path): return open(os.path.join(root, path), encoding='utf-8').read()
def tracked(root, *what): return subprocess.check_output(['git', '-C', root, 'ls-files', *what], text=True).split()
def groups(root):
    t = read(root, 'tests/tidy/message_page.cpp')
    t = t[t.index('groups{\n'):t.index('return groups;')]
    return [(m[1], re.findall(r'"([^"]*)"', m[2])) for m in re.finditer(r'\{"([^"]+)",\s*\{([^}]*)\}\}', t)]
def group(gs, p):
    best = ('', -1)
    for t, ps in gs:
        for q in ps:
            if p.startswith(q) and len(q) >= best[1]: best = (t, len(q))
    return best[0]
def places(root):
    t = read(root, 'tests/tidy/screen_places.cpp')
    return re.findall(r'"([^"]*)"', t[t.index('places[]'):t.index('};')])
# A message is in it, perhaps: it throws, says, refuses, returns or keeps text.
said = re.compile(r'throw|refuse|say\(|warn|error\(|return [^;]*"|= [^;]*"|\.message|\.why|\.problem')
g1, g2, s1, s2 = groups(one), groups(two), places(one), places(two)
bad = 0
for p in tracked(one, 'peer'):
    if not p.endswith(('.h', '.cpp')): continue
    n = where.file(p) or p
    t = re.sub(r'//.*', '', read(one, p))
    if '"' not in re.sub(r'#include.*', '', t) or not said.search(t): continue
    if group(g1, p) != group(g2, n):
        print(f'group: {p}: {group(g1, p)} -> {group(g2, n)}')
    if any(p.startswith(q) for q in s1) != (any(n.startswith(q) for q in s2) and not n.startswith('peer/cli/embed/')):
        print(f'screen: {p}: {not any(n.startswith(q) for q in s2)} -> {any(n.startswith(q) for q in s2)}')
def fuzzed(root):
    t = read(root, 'tests/fuzz/CMakeLists.txt')
    t = t.replace('\\\n', '')
    calls = re.findall(r'gv_fuzzed\((gv_fuzzed_\w+)\n(.*?)\)', t, re.S)
    ex, inc = re.search(r'files EXCLUDE REGEX "([^"]*)"', t)[1], re.search(r'readers INCLUDE REGEX "([^"]*)"', t)[1]
    ex2 = re.search(r'readers EXCLUDE REGEX "([^"]*)"', t)[1]
    out = {}
    for name, globs in calls:
        fs = set()
        for g in globs.split():
            hit = [os.path.relpath(f, root) for f in glob.glob(os.path.join(root, g))]
            if not hit: print(root, 'fuzz: nothing is', g)
            fs |= set(hit)
        fs = {f for f in fs if not re.search(ex, '/' + f)}
        out[name] = fs
        out[name + ' readers'] = {f for f in fs if re.search(inc, '/' + f) and not re.search(ex2, '/' + f)}
    return out
f1, f2 = fuzzed(one), fuzzed(two)
for k in f1:
    a = {where.file(f) or f for f in f1[k]}
    print('fuzz', k, len(a), 'lost', sorted(a - f2[k]), 'new', sorted(f2[k] - a))
def reached(root):
    files = [f for f in tracked(root, 'graph', 'optim', 'gossip', 'gpu', 'peer', 'tests') if f.endswith(('.h', '.cpp', '.cu', '.cuh', '.proto'))]
    have, follows, todo = set(files), {}, []
    for f in files:
        if f.startswith('tests/'): todo.append(f)
        own = f.rpartition('.')[0] + '.h'
        for i in rm.INCLUDE.findall(read(root, f)):
            follows.setdefault(f, []).append(i)
            if f.endswith(('.cpp', '.cu')) and (i == own or own not in have): follows.setdefault(i, []).append(f)
    seen = set()
    while todo:
        p = todo.pop()
        if p in seen: continue
        seen.add(p); todo += follows.get(p, [])
    t = read(root, 'tests/tidy/tidy_test.cpp')
    m = re.search(r'by_program\((.*?)\);', t, re.S)
    pattern = ''.join(re.findall(r'"([^"]*)"', m[1])).replace('\\\\', '\\')
    return sorted(f for f in files if f not in seen and not f.endswith('.proto') and not re.fullmatch(pattern, f))
print('unreached before', reached(one), 'after', reached(two))
