"""What is: Kueue, DCGM and GPU Operator facts, and the arithmetic on them."""
