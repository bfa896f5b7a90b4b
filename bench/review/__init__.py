"""The modules of `bench/review_bench.py`: histories, floors, the world, the rows."""
