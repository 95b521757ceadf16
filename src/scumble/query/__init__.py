"""Questions: SQL in, estimates with intervals out.

parse(sql) -> normalize -> compile -> engine.run -> reconstruct -> answer
"""
