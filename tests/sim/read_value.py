"""GPULEAK_SIM_READ=3:5: each fifth read of one computed value gives 3, so that loops end."""
import torch

from check import expect, expect_equal, result


def generate(model, tokens, end, most=200):
    """As text generation does it: until all sentences have their end."""
    finished = torch.zeros(tokens.shape[0], dtype=torch.long, device="cuda")
    for count in range(1, most):
        token = model(tokens.float())[:, :5].argmax(-1)
        tokens = torch.cat([tokens[:, 1:], token[:, None]], 1)
        finished = finished | (token == end)
        if (finished.max() == 1).item():
            return count
    return most


def main() -> int:
    made = [torch.ones(4, device="cuda").sum().long().item() for _ in range(10)]
    expect_equal(made, [0, 0, 0, 0, 3] * 2)
    flags = [(torch.ones(4, device="cuda").sum() > 9).item() for _ in range(10)]
    expect_equal(flags, [False, False, False, False, True] * 2, "a boolean")
    expect_equal(torch.ones(3, device="cuda").add(1).tolist(), [0.0] * 3, "several values")
    expect_equal(torch.tensor(7, device="cuda").item(), 7, "what the host put there")
    model = torch.nn.Linear(16, 16).cuda()
    count = generate(model, torch.zeros(2, 16, dtype=torch.long, device="cuda"), end=1)
    expect(count <= 5, f"a loop ends; got {count} turns")
    return result()


if __name__ == "__main__":
    raise SystemExit(main())
