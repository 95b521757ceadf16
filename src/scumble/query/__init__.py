"""Questions: SQL in, estimates with intervals out.

parse -> RULES (rewrites.py) -> the form's answer (rows: normalize -> compile -> engine.run -> reconstruct) -> undo, order, notes
"""
