"""Handwritten digits with Horovod: a script in the manner of its PyTorch example, whose import alone is another one.

The digits are drawn here, so that nothing is loaded from anywhere.
"""

import argparse

import torch
import torch.multiprocessing
import torch.nn as nn
import torch.nn.functional as F
import torch.optim as optim
import torch.utils.data.distributed

import grapevine.torch as hvd     # import horovod.torch as hvd

parser = argparse.ArgumentParser(description="Digits with Horovod")
parser.add_argument("--batch-size", type=int, default=16)
parser.add_argument("--test-batch-size", type=int, default=100)
parser.add_argument("--epochs", type=int, default=5)
parser.add_argument("--lr", type=float, default=0.005)
parser.add_argument("--momentum", type=float, default=0.9)
parser.add_argument("--seed", type=int, default=42)
parser.add_argument("--log-interval", type=int, default=10)
parser.add_argument("--fp16-allreduce", action="store_true")
parser.add_argument("--broadcast-last", action="store_true")
parser.add_argument("--gradient-predivide-factor", type=float, default=1.0)


class Digits(torch.utils.data.Dataset):
    """Seven-segment digits of 16 x 16 pixels, shifted and noisy."""

    segments = ["abcdef", "bc", "abged", "abgcd", "fgbc", "afgcd", "afgedc", "abc", "abcdefg", "abcdfg"]
    strokes = {"a": (slice(2, 4), slice(4, 12)), "b": (slice(3, 8), slice(10, 12)), "c": (slice(8, 13), slice(10, 12)),
               "d": (slice(12, 14), slice(4, 12)), "e": (slice(8, 13), slice(4, 6)), "f": (slice(3, 8), slice(4, 6)),
               "g": (slice(7, 9), slice(4, 12))}

    def __init__(self, size, seed):
        draw = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(10, (size,), generator=draw)
        self.images = 0.3 * torch.randn(size, 1, 16, 16, generator=draw)
        for image, label in zip(self.images, self.labels):
            clean = torch.zeros(16, 16)
            for segment in self.segments[label]:
                clean[self.strokes[segment]] = 1.0
            down, right = torch.randint(-1, 2, (2,), generator=draw).tolist()
            image[0] += torch.roll(clean, (down, right), (0, 1))

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index], self.labels[index]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, kernel_size=3)
        self.conv2 = nn.Conv2d(8, 16, kernel_size=3)
        self.fc1 = nn.Linear(64, 50)
        self.fc2 = nn.Linear(50, 10)

    def forward(self, x):
        x = F.relu(F.max_pool2d(self.conv1(x), 2))
        x = F.relu(F.max_pool2d(self.conv2(x), 2))
        x = x.view(-1, 64)
        x = F.relu(self.fc1(x))
        x = F.dropout(x, training=self.training)
        return F.log_softmax(self.fc2(x), dim=1)


def main(args):
    def train(epoch):
        model.train()
        train_sampler.set_epoch(epoch)
        for batch_idx, (data, target) in enumerate(train_loader):
            optimizer.zero_grad()
            output = model(data)
            loss = F.nll_loss(output, target)
            loss.backward()
            optimizer.step()
            if batch_idx % args.log_interval == 0:
                print("Train Epoch: {} [{}/{} ({:.0f}%)]\tLoss: {:.6f}".format(
                    epoch, batch_idx * len(data), len(train_sampler), 100. * batch_idx / len(train_loader),
                    loss.item()), flush=True)

    def metric_average(val, name):
        tensor = torch.tensor(val)
        avg_tensor = hvd.allreduce(tensor, name=name)
        return avg_tensor.item()

    def test():
        model.eval()
        test_loss = 0.
        test_accuracy = 0.
        for data, target in test_loader:
            output = model(data)
            test_loss += F.nll_loss(output, target, reduction="sum").item()
            pred = output.data.max(1, keepdim=True)[1]
            test_accuracy += pred.eq(target.data.view_as(pred)).float().sum().item()
        test_loss /= len(test_sampler)
        test_accuracy /= len(test_sampler)
        test_loss = metric_average(test_loss, "avg_loss")
        test_accuracy = metric_average(test_accuracy, "avg_accuracy")
        if hvd.rank() == 0:
            print("Test set: Average loss: {:.4f}, Accuracy: {:.2f}%".format(test_loss, 100. * test_accuracy),
                  flush=True)

    # Horovod: initialize library.
    hvd.init()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    print("rank {} of {}, {} of its host".format(hvd.rank(), hvd.size(), hvd.local_rank()), flush=True)

    # Horovod: use DistributedSampler to partition the data.
    train_dataset = Digits(3000, 1)
    train_sampler = torch.utils.data.distributed.DistributedSampler(
        train_dataset, num_replicas=hvd.size(), rank=hvd.rank())
    train_loader = torch.utils.data.DataLoader(train_dataset, batch_size=args.batch_size, sampler=train_sampler)
    test_dataset = Digits(400, 2)
    test_sampler = torch.utils.data.distributed.DistributedSampler(
        test_dataset, num_replicas=hvd.size(), rank=hvd.rank())
    test_loader = torch.utils.data.DataLoader(test_dataset, batch_size=args.test_batch_size, sampler=test_sampler)

    model = Net()
    # Horovod: scale learning rate by the number of workers.
    optimizer = optim.SGD(model.parameters(), lr=args.lr * hvd.size(), momentum=args.momentum)

    def broadcast():
        # Horovod: broadcast parameters & optimizer state.
        hvd.broadcast_parameters(model.state_dict(), root_rank=0)
        hvd.broadcast_optimizer_state(optimizer, root_rank=0)

    if not args.broadcast_last:
        broadcast()
    # Horovod: (optional) compression algorithm.
    compression = hvd.Compression.fp16 if args.fp16_allreduce else hvd.Compression.none
    # Horovod: wrap optimizer with DistributedOptimizer.
    optimizer = hvd.DistributedOptimizer(optimizer,
                                         named_parameters=model.named_parameters(),
                                         compression=compression,
                                         op=hvd.Average,
                                         gradient_predivide_factor=args.gradient_predivide_factor)
    if args.broadcast_last:
        broadcast()

    for epoch in range(1, args.epochs + 1):
        train(epoch)
        test()


if __name__ == "__main__":
    main(parser.parse_args())
