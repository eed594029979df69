"""What Megatron keeps of a model at rest. Its activations are not estimated.

Source: Megatron-LM, docs of the distributed optimizer: 6 bytes a parameter and 12 more that are cut
over the data-parallel ranks (bf16 parameters, fp32 gradients; fp32 copy and two moments).
"""

from __future__ import annotations

from ..config.settings import Settings
from ..config.sizes import ACTOR, sizes
from .shape import Shape
from .spans import Part, Phase, Span


def update(shape: Shape, settings: Settings) -> Phase:
    """The state during the update, of an average pipeline stage (the largest holds more).

    The parts are unknown where the parallel sizes are, or where experts are cut by a size of their
    own.
    """
    found, of = sizes(settings), f"{ACTOR}.megatron"
    names = ("tensor_model_parallel_size", "pipeline_model_parallel_size")
    tensor, pipeline = (settings.get(f"{of}.{name}", 1) for name in names)
    if not (isinstance(tensor, int) and isinstance(pipeline, int) and found.gpus) or shape.experts:
        return Phase("update", (Part("weights, gradients, optimizer", None),))
    own = shape.parameters / (tensor * pipeline)
    ranks = found.gpus / (tensor * pipeline)  # context-parallel ranks share the states too
    cut = settings.get(f"{of}.use_distributed_optimizer") is not False
    return Phase(
        "update",
        (
            Part("weights", Span.exactly(2 * own)),
            Part("gradients", Span.exactly(4 * own)),
            Part("optimizer", Span.exactly(12 * own / (ranks if cut else 1))),
            Part("activations", None),
        ),
    )
