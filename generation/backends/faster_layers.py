"""Linear layers that compute faster in fp32, and more exactly in bf16."""

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from generation.backends.memory import free_memory


class FasterLayers:
    """A model's linear layers, by far the most of its work, with another way to compute them.

    On a processor their weights are converted once to the layout of oneDNN: PyTorch gives products
    in fp32 to MKL, which is half as fast on processors of other makers. In bf16 only these layers
    compute in bf16. The values between them stay in fp32, which about halves the error.

    Until `keep` or `undo` is called, converted weights are in memory twice.
    """

    def __init__(self, model: Any, is_bf16: bool) -> None:
        """Change the layers if memory has room for a second copy of their weights."""
        import torch

        self._model, self._is_bf16 = model, is_bf16
        self._originals: dict[Any, Any] = {}
        layers = list(_linear_layers(model, torch.bfloat16 if is_bf16 else torch.float32))
        if not _has_room(layers):
            return
        try:
            self._change(layers)
        except Exception:  # PyTorch's operators for this are private and may disappear
            self.undo()
            self.keep()

    def _change(self, layers: list[Any]) -> None:
        import torch

        has_onednn: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
        for layer in layers:
            weight = layer.weight
            if weight.device.type == "cpu" and has_onednn:
                layer.forward = _on_onednn(layer)
                # The original weight is not used any more: only its type and shape are kept.
                layer.weight = torch.nn.Parameter(weight.to("meta"), requires_grad=False)
            elif self._is_bf16:
                layer.forward = _in_bf16(layer)
            else:
                continue
            self._originals[layer] = weight
        if self._is_bf16:
            self._let_the_rest_be(torch.float32)

    def __bool__(self) -> bool:
        return bool(self._originals)

    def undo(self) -> None:
        """Restore the original layers and their weights."""
        import torch

        if self._is_bf16:
            self._let_the_rest_be(torch.bfloat16)
        for layer, weight in self._originals.items():
            del layer.forward
            layer.weight = weight

    def keep(self) -> None:
        """Release the memory of the original weights."""
        self._originals.clear()

    def _let_the_rest_be(self, dtype: Any) -> None:
        """Convert all floating-point values that belong to none of these layers."""
        ours = {id(own) for layer in self._originals for own in layer.parameters()}
        for own in [*self._model.parameters(), *self._model.buffers()]:
            if id(own) not in ours and own.is_floating_point():
                own.data = own.data.to(dtype)


def _linear_layers(model: Any, dtype: Any) -> Iterator[Any]:
    """Yield the linear layers of a precision that share their weights with no other module."""
    import torch

    owners = Counter(
        id(own) for module in model.modules() for own in module.parameters(recurse=False)
    )
    for module in model.modules():
        is_plain = type(module) is torch.nn.Linear and module.weight.dtype is dtype
        if is_plain and owners[id(module.weight)] == 1:
            yield module


def _has_room(layers: list[Any]) -> bool:
    free = free_memory()
    here = sum(layer.weight.nbytes for layer in layers if layer.weight.device.type == "cpu")
    return free is None or here < free


def _on_onednn(layer: Any) -> Callable[[Any], Any]:
    import torch

    weight = torch.ops.mkldnn._reorder_linear_weight(layer.weight.detach())
    bias = None if layer.bias is None else layer.bias.detach()
    multiply = torch.ops.mkldnn._linear_pointwise
    if layer.weight.dtype is torch.float32:
        return lambda x: multiply(x, weight, bias, "none", [], "")
    return lambda x: multiply(x.bfloat16(), weight, bias, "none", [], "").float()


def _in_bf16(layer: Any) -> Callable[[Any], Any]:
    from torch.nn.functional import linear

    return lambda x: linear(x.bfloat16(), layer.weight, layer.bias).float()
