"""A timm model with timm's own average of the weights, augmentation and optimizer."""

# needs: timm
# expect: clean
# steps: 30

import timm
import timm.data
import timm.loss
import timm.optim
import timm.utils
import torch


def main():
    net = timm.create_model("mobilenetv3_small_050", num_classes=10).cuda()
    ema = timm.utils.ModelEmaV3(net, decay=0.999)
    opt = timm.optim.create_optimizer_v2(net, opt="adamw", lr=1e-3, weight_decay=0.05)
    mixup = timm.data.Mixup(mixup_alpha=0.2, num_classes=10, label_smoothing=0.1)
    criterion = timm.loss.SoftTargetCrossEntropy()
    losses = timm.utils.AverageMeter()

    for step in range(30):
        images = torch.randn(4, 3, 64, 64, device="cuda")
        images, labels = mixup(images, torch.randint(0, 10, (4,), device="cuda"))
        loss = criterion(net(images), labels)
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update(net, step=step)
        losses.update(loss.item(), images.shape[0])
        if step % 10 == 9:
            print(f"step {step + 1}: loss {losses.avg:.4f}")

    with torch.no_grad():
        print(ema.module.eval()(images).shape)


main()
