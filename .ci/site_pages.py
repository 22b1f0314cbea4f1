"""A hook of mkdocs: pages that lie beside docs/ are pages of the site too.

In the tree, docs/answers.md links to ../experiments/map/README.md, as GitHub and an editor want it. In the site, docs/ is the
root, so ARCHITECTURE.md, experiments/ and configs/ become its neighbours, and every relative link is turned to where its
target has gone. A link to a file that is none of the site's (a source) leads to a copy of that file.
"""
import glob
import json
import os
import posixpath
import re
import subprocess

from mkdocs.structure.files import File

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LINK = re.compile(r"(\]\()([^)\s#:]+)((?:#[^)\s]*)?\))")
FENCE = re.compile(r"^(```.*?^```)", re.MULTILINE | re.DOTALL)


def tracked():
    """Files of the repository beside docs/ that the site takes: documents, pictures, fleet files."""
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"],
                            capture_output=True, text=True, check=True)
    return [path for path in listed.stdout.splitlines()
            if not path.startswith(("docs/", "tests/")) and path.endswith((".md", ".svg", ".yaml", ".csv"))
            and path != "README.md"]


def on_config(config):
    """Pages of docs/how-to that the navigation does not name come behind those that it does."""
    how_to = next(item["How to"] for item in config["nav"] if "How to" in item)
    named = {path for item in how_to for path in item.values()}
    folder = os.path.join(ROOT, "docs", "how-to")
    for name in sorted(os.listdir(folder)):
        if name.endswith(".md") and "how-to/" + name not in named:
            with open(os.path.join(folder, name), encoding="utf-8") as page:
                how_to.append({page.readline().lstrip("# ").strip(): "how-to/" + name})
    return config


def on_files(files, config):
    for path in tracked():
        files.append(File(path, ROOT, config["site_dir"], config["use_directory_urls"]))
    return files


def on_page_markdown(markdown, page, config, files):
    """Links as they are in the tree become links as they are in the site."""
    inside = page.file.abs_src_path.startswith(os.path.join(ROOT, "docs") + os.sep)
    here = posixpath.dirname(("docs/" if inside else "") + page.file.src_uri)

    def turned(match):
        target = posixpath.normpath(posixpath.join(here, match[2]))
        site = target[len("docs/"):] if target.startswith("docs/") else target
        if site == "README.md":
            site = "index.md"
        return match[1] + posixpath.relpath(site, posixpath.dirname(page.file.src_uri) or ".") + match[3]

    parts = FENCE.split(markdown)
    return "".join(part if part.startswith("```") else LINK.sub(turned, part) for part in parts)


def on_post_page(output, page, config):
    """site.js acts before the page is drawn, so it is in the head; mkdocs would put it at the end."""
    root = posixpath.relpath(".", posixpath.dirname(page.file.dest_uri) or ".")
    return output.replace("</head>", '<script src="%s/site.js"></script></head>' % root, 1)


def on_post_build(config):
    """search/folder.js: the index, and the theme's worker as text, because a page of a folder may not start a file's."""
    site = config["site_dir"]
    with open(os.path.join(site, "search", "search_index.json"), encoding="utf-8") as index:
        found = index.read()
    [worker] = glob.glob(os.path.join(site, "assets", "javascripts", "workers", "search.*.js"))
    with open(worker, encoding="utf-8") as code:
        program = json.dumps(re.sub(r"\n//# sourceMappingURL.*", "", code.read()))
    with open(os.path.join(site, "search", "folder.js"), "w", encoding="utf-8") as script:
        script.write("var __search = {index: Promise.resolve(%s),\n"
                     "  worker: URL.createObjectURL(new Blob([%s], {type: 'text/javascript'}))};\n" % (found, program))
