"""What the package promises its readers: a sentence on everything public, short functions, no dependency."""

import ast
import sys
import unittest
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "python" / "grapevine"
WITH = {"torch": {"torch", "_attached", "_hooks", "_meeting", "_norms", "_servers", "_state", "_streams", "_tensors",
                  "_torch_verbs"},
        "jax": {"jax"}, "numpy": {"jax", "_state"}, "pandas": {"_runs"}, "cloudpickle": {"_launch"},
        "lightning": {"lightning"}, "pytorch_lightning": {"lightning"}, "transformers": {"transformers"},
        "ray": {"ray"}, "pyspark": {"spark"}}
LONGEST = 70


def functions(tree):
    return [node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.ClassDef))]


class StyleTest(unittest.TestCase):
    def trees(self):
        files = sorted(PACKAGE.glob("*.py"))
        self.assertGreater(len(files), 10)
        return [(path, ast.parse(path.read_text())) for path in files]

    def test_everything_public_has_a_sentence(self):
        missing = [f"{path.name}:{node.lineno}: {node.name}" for path, tree in self.trees()
                   if not path.name.startswith("_") for node in tree.body
                   if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
                   and not ast.get_docstring(node)]
        self.assertEqual(missing, [])

    def test_functions_are_short(self):
        long = [f"{path.name}:{node.lineno}: {node.name}" for path, tree in self.trees() for node in functions(tree)
                if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= LONGEST]
        self.assertEqual(long, [])

    def test_the_core_imports_nothing_but_the_standard_library(self):
        for path, tree in self.trees():
            named = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import)
                     for alias in node.names}
            named |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
            others = named - set(sys.stdlib_module_names) - {"grapevine"}
            self.assertLessEqual(others, {name for name, files in WITH.items() if path.stem in files}, path.name)


if __name__ == "__main__":
    unittest.main()
