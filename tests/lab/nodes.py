"""The lab's hardware: what the seed repository's flavors say the data centre has."""

from tests.cluster.nodes import GpuNode

H100_TAINT = {"key": "nvidia.com/gpu", "value": "h100", "effect": "NoSchedule"}
H100 = tuple(GpuNode(f"gpu-h100-{n:02}", taints=(H100_TAINT,)) for n in range(1, 13))
A100 = tuple(
    GpuNode(f"gpu-a100-{n}", product="NVIDIA-A100-SXM4-80GB", memory_mib=81920, pool="a100")
    for n in range(1, 4)
)
NODES = (*H100, *A100)
