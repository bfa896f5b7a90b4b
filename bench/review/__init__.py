"""What `bench/review_bench.py` is made of: histories, floors, the world, the rows."""
