"""What comes back from the device: what the host put there, true from all(), zeros otherwise."""
import sys

import torch
import torch.nn.functional as F

from check import expect, expect_equal, result


def host_values() -> None:
    expect_equal(torch.tensor(5.0, device="cuda").item(), 5.0)
    words = torch.arange(100).cuda()
    expect_equal(words.tolist(), list(range(100)))
    expect_equal(words[10:13].tolist(), [10, 11, 12])
    expect_equal(words.clone().tolist(), list(range(100)))
    words.add_(0)
    expect_equal(words.sum().item(), 0, "after a kernel")
    expect_equal(words.tolist(), [0] * 100, "after a kernel had the address")


def no_stale_values() -> None:
    """A block that held a value and was freed doesn't give it to what a kernel makes there next."""
    for _ in range(50):
        ones = torch.ones(64).cuda()
        expect_equal((ones > 0).nonzero().shape[0], 0)
        value = torch.full((4,), 3.0).cuda()
        del value
        expect_equal(torch.zeros(4, device="cuda").tolist(), [0.0] * 4)
        value = torch.full((4,), 3.0).cuda()
        del value
        expect_equal(ones.sum().item(), 0.0)
        del ones


def booleans() -> None:
    numbers = torch.randn(1000, device="cuda")
    expect(torch.isfinite(numbers).all().item())
    expect(bool(torch.isfinite(numbers.sum())))
    expect(not torch.isnan(numbers).any().item())
    expect((numbers == 0).all().item() and not (numbers == 0).any().item())


def sizes_from_values() -> None:
    numbers = torch.randn(100, device="cuda")
    expect_equal(tuple(numbers.nonzero().shape), (0, 1))
    expect_equal(tuple(numbers[numbers > 0].shape), (0,))
    expect_equal(tuple(numbers.unique().shape), (0,))
    expect_equal(tuple(numbers.sort()[0].shape), (100,))
    expect_equal(tuple(numbers.topk(3)[0].shape), (3,))
    expect_equal(tuple(torch.multinomial(numbers.abs() + 1, 3).shape), (3,))
    expect_equal(tuple(torch.randperm(100000, device="cuda").shape), (100000,))
    counts = torch.randint(0, 5, (10,), device="cuda")
    expect_equal(tuple(torch.repeat_interleave(counts).shape), (0,))
    expect_equal(tuple(F.one_hot(counts).shape), (10, 1))
    numbers.view(10, 10).to_sparse().coalesce()
    expect_equal(torch.bincount(counts).shape[0], 1)


def algebra() -> None:
    matrix = torch.randn(4, 4, device="cuda")
    for a in (matrix, matrix.expand(3, 4, 4).contiguous(), matrix.double(),
              matrix.to(torch.complex64)):
        torch.linalg.svd(a)
        torch.linalg.qr(a)
        torch.linalg.inv(a)
        torch.linalg.eigh(a)
        torch.linalg.solve(a, a)
        torch.linalg.lstsq(a, a)
        torch.linalg.det(a)
    torch.linalg.cholesky(matrix)
    torch.linalg.eig(matrix)
    torch.fft.irfft(torch.fft.rfft(matrix))
    sparse = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.ones(2), (4, 4)).cuda()
    torch.sparse.mm(sparse, matrix)


host_values()
no_stale_values()
booleans()
sizes_from_values()
algebra()
sys.exit(result())
