"""Descriptions of functions and their parameters, in three styles."""

import inspect
import unittest

from mcp_bash.docstrings import parse

STYLES = {
    "google": """Adds two numbers,
        with care.

        Not this paragraph.

        Args:
            a (int): the first
            b: the second,
                which goes on: here
            *rest: others

        Returns:
            c: not a parameter
        """,
    "numpy": """Adds two numbers,
        with care.

        Parameters
        ----------
        a : int
            the first
        b : int, optional
            the second,
            which goes on: here
        *rest
            others

        Returns
        -------
        c : int
            not a parameter
        """,
    "rest": """Adds two numbers,
        with care.

        :param int a: the first
        :param b: the second,
            which goes on: here
        :type b: int
        :param rest: others
        :returns: nothing
        """,
}


class Docstrings(unittest.TestCase):
    def test_styles(self):
        for style, text in STYLES.items():
            with self.subTest(style=style):
                description, parameters = parse(text)
                self.assertEqual(description, "Adds two numbers, with care.")
                self.assertEqual(parameters, {"a": "the first", "b": "the second, which goes on: here", "rest": "others"})

    def test_as_inspect_gives_them(self):
        def f():
            """
            Begins on the second line.

            Args:
                x: it
            """

        self.assertEqual(parse(inspect.getdoc(f)), ("Begins on the second line.", {"x": "it"}))

    def test_nothing_and_only_parameters(self):
        self.assertEqual(parse(None), ("", {}))
        self.assertEqual(parse(""), ("", {}))
        self.assertEqual(parse("Args:\n    a: it"), ("", {"a": "it"}))
        self.assertEqual(parse("Notes: these words are a sentence."), ("Notes: these words are a sentence.", {}))
        self.assertEqual(parse(":param a: it"), ("", {"a": "it"}))


if __name__ == "__main__":
    unittest.main()
