"""PEFT's LoRA on a small Llama: the base is frozen, adapters train."""

# needs: peft, transformers
# expect: clean
# steps: 40

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM


def main():
    config = LlamaConfig(
        vocab_size=400, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=64,
    )
    lora = LoraConfig(r=4, lora_alpha=8, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    net = get_peft_model(LlamaForCausalLM(config), lora).cuda()
    net.print_trainable_parameters()
    opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-3)

    for step in range(40):
        tokens = torch.randint(0, 400, (4, 48), device="cuda")
        loss = net(input_ids=tokens, labels=tokens).loss
        loss.backward()
        opt.step()
        opt.zero_grad()
        if step % 10 == 9:
            print(f"step {step + 1}: loss {loss.item():.4f}")


main()
