"""How the logs about attention, adapters, generate and imports in made/hf were made; see hf_programs.py."""

from hf_programs import BREAK_FLASH_ATTN, COPY, HEAD, VENVS, job

PROGRAMS = {
    "forward-cache-position": job(
        "HF002",
        "a user's wrapper class with a fixed forward signature; generate passes cache_position",
        "v457",
        HEAD
        + """
from transformers import Qwen2ForCausalLM

class PolicyLM(Qwen2ForCausalLM):
    def forward(self, input_ids, attention_mask=None, position_ids=None, past_key_values=None, use_cache=None, labels=None, return_dict=None):
        out = super().forward(input_ids=input_ids, attention_mask=attention_mask, position_ids=position_ids,
                              past_key_values=past_key_values, use_cache=use_cache, labels=labels)
        out.logits = out.logits / 0.7
        return out

model = PolicyLM.from_pretrained(MODEL)
ids = torch.randint(5, 500, (4, 32))
log.info("loss %.4f", model(input_ids=ids, labels=ids).loss.item())
out = model.generate(ids, max_new_tokens=8, do_sample=False)
""",
    ),
    "forward-token-type-ids": job(
        "HF002",
        "reward model of a user, called with a tokenizer's whole batch",
        "v5",
        HEAD
        + """
class RewardModel(torch.nn.Module):
    def __init__(self, path):
        super().__init__()
        self.backbone = AutoModelForCausalLM.from_pretrained(path).model
        self.score = torch.nn.Linear(64, 1)

    def forward(self, input_ids, attention_mask):
        return self.score(self.backbone(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state[:, -1])

tok = AutoTokenizer.from_pretrained(MODEL)
rm = RewardModel(MODEL)
batch = tok(["How many clips?"], return_tensors="pt", return_token_type_ids=True)
log.info("batch %s", {k: tuple(v.shape) for k, v in batch.items()})
log.info("score %.3f", rm(**batch).item())
""",
    ),
    "chat-template-roles": job(
        "HF004",
        "a template that wants strict alternation, a prompt with a system role",
        "v457",
        HEAD
        + """
import pyarrow.parquet as pq

tok = AutoTokenizer.from_pretrained(MODEL)
tok.chat_template = ("{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}"
    "{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}"
    "{{ message['content'] }}{% endfor %}")
rows = pq.read_table("/home/user/data/gsm8k/train.parquet").to_pylist()
for n, row in enumerate(rows):
    messages = [{"role": "system", "content": "Reason step by step."}] + row["prompt"]
    text = tok.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)
    if n == 0:
        log.info("first prompt %r", text)
""",
    ),
    "chat-template-string-prompt": job(
        "HF004",
        "the prompt column holds strings, not lists of messages",
        "v5",
        HEAD
        + """
tok = AutoTokenizer.from_pretrained(MODEL)
rows = [{"prompt": ["How many clips did Natalia sell?"]}, {"prompt": ["And in May?"]}]
for row in rows:
    text = tok.apply_chat_template(row["prompt"], tokenize=False, add_generation_prompt=True)
    log.info("prompt %r", text)
""",
    ),
    "padding-token-missing": job(
        "HF022",
        "a batch with padding=True and a tokenizer without pad_token",
        "v457",
        HEAD
        + """
tok = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL)
log.info("eos %r pad %r", tok.eos_token, tok.pad_token)
batch = tok(["How many clips?", "How many clips in all?"], return_tensors="pt", padding=True)
""",
    ),
    "attention-unsupported": job(
        "HF035",
        "DeBERTa reward model with attn_implementation=flash_attention_2",
        "v457",
        HEAD
        + """
from transformers import AutoModelForSequenceClassification, DebertaV2Config, DebertaV2ForSequenceClassification

config = DebertaV2Config(vocab_size=512, hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128, num_labels=1)
DebertaV2ForSequenceClassification(config).save_pretrained("rm")
log.info("reward model rm")
rm = AutoModelForSequenceClassification.from_pretrained("rm", attn_implementation="flash_attention_2", dtype=torch.bfloat16)
""",
    ),
    "attention-name-unknown": job(
        "HF035",
        "attn_implementation=flash-attention-2, a misspelled name",
        "v457",
        HEAD
        + """
log.info("loading %s", MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL, attn_implementation="flash-attention-2", dtype=torch.bfloat16)
""",
    ),
    "flash-attn-on-cpu": job(
        "HF030",
        "flash_attention_2 with the package installed and no GPU",
        "v446",
        HEAD
        + """
log.info("loading %s", MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL, attn_implementation="flash_attention_2", torch_dtype=torch.bfloat16)
""",
        run="PYTHONPATH=$overlay/fa python train.py",
        libs=VENVS["v446"] + ", flash-attn 2.8.3 (built without CUDA)",
    ),
    "flash-attn-on-cpu-457": job(
        "HF030",
        "flash_attention_2 with the package installed and no GPU",
        "v457",
        HEAD
        + """
log.info("loading %s", MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL, attn_implementation="flash_attention_2", dtype=torch.bfloat16)
""",
        run="PYTHONPATH=$overlay/fa python train.py",
        libs=VENVS["v457"] + ", flash-attn 2.8.3 (built without CUDA)",
    ),
    "flash-attn-no-dtype": job(
        "HF033",
        "flash_attention_2 without a dtype: the warning, then the error of a machine without GPU",
        "v446",
        HEAD
        + """
model = AutoModelForCausalLM.from_pretrained(MODEL, attn_implementation="flash_attention_2")
""",
        run="PYTHONPATH=$overlay/fa python train.py",
        libs=VENVS["v446"] + ", flash-attn 2.8.3 (built without CUDA)",
    ),
    "flash-attn-undefined-symbol": job(
        "HF034",
        "flash-attn whose compiled part (here a stand-in that needs one symbol) does not fit the torch",
        "v446",
        HEAD
        + """
from flash_attn.bert_padding import pad_input, unpad_input

model = AutoModelForCausalLM.from_pretrained(MODEL, attn_implementation="flash_attention_2", torch_dtype=torch.bfloat16)
""",
        run=BREAK_FLASH_ATTN + "PYTHONPATH=fa python train.py",
        libs=VENVS["v446"] + ", flash-attn 2.8.3 with a compiled part made for the log",
    ),
    "lazy-import-wrapper": job(
        "HF055",
        "torchvision of another torch, a model class imported by name",
        "v446",
        HEAD
        + """
from transformers import Qwen2ForCausalLM

model = Qwen2ForCausalLM.from_pretrained(MODEL, torch_dtype=torch.bfloat16)
""",
        run="PYTHONPATH=$overlay/tv python train.py",
        libs=VENVS["v446"] + ", torchvision 0.20.1",
    ),
    "lazy-import-wrapper-457": job(
        "HF055",
        "torchvision of another torch, a model class imported by name",
        "v457",
        HEAD
        + """
from transformers import Qwen2ForCausalLM

model = Qwen2ForCausalLM.from_pretrained(MODEL, torch_dtype=torch.bfloat16)
""",
        run="PYTHONPATH=$overlay/tv python train.py",
        libs=VENVS["v457"] + ", torchvision 0.20.1",
    ),
    "import-shard-checkpoint": job(
        "HF038",
        "user code that imports a function removed from transformers.modeling_utils (as AutoAWQ did)",
        "v457",
        HEAD
        + """
from transformers.modeling_utils import shard_checkpoint

model = AutoModelForCausalLM.from_pretrained(MODEL)
shards, index = shard_checkpoint(model.state_dict(), "2GB")
""",
    ),
    "import-deepspeed-module-v5": job(
        "HF038",
        "user code that imports transformers.deepspeed with transformers 5",
        "v5",
        HEAD
        + """
from transformers.deepspeed import HfDeepSpeedConfig

dschf = HfDeepSpeedConfig({"zero_optimization": {"stage": 3}})
model = AutoModelForCausalLM.from_pretrained(MODEL)
""",
    ),
    "generate-temperature-zero": job(
        "HF040",
        "generate with do_sample=True and temperature=0.0",
        "v457",
        HEAD
        + """
tok = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL)
text = tok.apply_chat_template([{"role": "user", "content": "How many clips?"}], tokenize=False, add_generation_prompt=True)
ids = tok(text, return_tensors="pt")["input_ids"]
out = model.generate(ids, do_sample=True, temperature=0.0, max_new_tokens=8)
""",
    ),
    "generate-temperature-zero-446": job(
        "HF040",
        "generate with do_sample=True and temperature=0.0",
        "v446",
        HEAD
        + """
tok = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL)
ids = tok("How many clips did Natalia sell?", return_tensors="pt")["input_ids"]
for t in (0.7, 0.0):
    out = model.generate(ids, do_sample=True, temperature=t, max_new_tokens=8)
    log.info("temperature %s: %d tokens", t, out.shape[1])
""",
    ),
    "image-tokens-truncated": job(
        "HF041",
        "a Qwen2.5-VL batch whose input ids were cut to max_prompt_length in the middle of the image",
        "v457",
        HEAD
        + """
from transformers import Qwen2_5_VLConfig, Qwen2_5_VLForConditionalGeneration

config = Qwen2_5_VLConfig(
    text_config=dict(vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
                     num_key_value_heads=2, rope_scaling={"type": "mrope", "mrope_section": [2, 3, 3]}),
    vision_config=dict(depth=2, hidden_size=64, intermediate_size=128, num_heads=4, out_hidden_size=64, fullatt_block_indexes=[1]),
    image_token_id=500, video_token_id=501, vision_start_token_id=502, vision_end_token_id=503)
model = Qwen2_5_VLForConditionalGeneration(config)
log.info("parameters %d", sum(p.numel() for p in model.parameters()))
grid = torch.tensor([[1, 16, 16]])
pixels = torch.randn(256, 3 * 2 * 14 * 14)
max_prompt_length = 48
ids = torch.tensor([[5, 502] + [500] * 64 + [503, 7, 8, 9]])[:, :max_prompt_length]
out = model(input_ids=ids, attention_mask=torch.ones_like(ids), pixel_values=pixels, image_grid_thw=grid)
""",
    ),
    "lora-target-modules": job(
        "HF042",
        "LoRA with the module names of another architecture",
        "v457",
        HEAD
        + """
from peft import LoraConfig, get_peft_model

model = AutoModelForCausalLM.from_pretrained(MODEL)
lora = LoraConfig(r=8, lora_alpha=16, target_modules=["query_key_value", "dense_h_to_4h"], task_type="CAUSAL_LM")
model = get_peft_model(model, lora)
model.print_trainable_parameters()
""",
    ),
    "adapter-config-missing": job(
        "HF043",
        "PeftModel.from_pretrained of a folder without adapter_config.json",
        "v457",
        HEAD
        + """
from peft import PeftModel

model = AutoModelForCausalLM.from_pretrained(MODEL)
model = PeftModel.from_pretrained(model, "/home/user/ckpts/grpo/global_step_20/actor")
""",
        run="mkdir -p /home/user/ckpts/grpo/global_step_20/actor\npython train.py",
    ),
    "adapter-config-missing-v5": job(
        "HF043",
        "PeftModel.from_pretrained of a folder without adapter_config.json (peft 0.21)",
        "v5",
        HEAD
        + """
from peft import PeftModel

model = AutoModelForCausalLM.from_pretrained(MODEL)
model = PeftModel.from_pretrained(model, "/home/user/ckpts/grpo/global_step_20/actor")
""",
        run="mkdir -p /home/user/ckpts/grpo/global_step_20/actor\npython train.py",
        libs=VENVS["v5"] + ", peft 0.21.2",
    ),
    "accelerate-missing": job(
        "HF045",
        "device_map=auto without accelerate",
        "v446",
        HEAD
        + """
log.info("loading %s", MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL, device_map="auto", torch_dtype=torch.bfloat16)
""",
    ),
    "bitsandbytes-missing": job(
        "HF046",
        "a 4-bit load without bitsandbytes",
        "v457",
        HEAD
        + """
from transformers import BitsAndBytesConfig

model = AutoModelForCausalLM.from_pretrained(MODEL, quantization_config=BitsAndBytesConfig(load_in_4bit=True))
""",
    ),
    "bitsandbytes-missing-v5": job(
        "HF046",
        "a 4-bit load without bitsandbytes, transformers 5",
        "v5",
        HEAD
        + """
from transformers import BitsAndBytesConfig

model = AutoModelForCausalLM.from_pretrained(MODEL, quantization_config=BitsAndBytesConfig(load_in_4bit=True))
""",
    ),
    "notices": job(
        "HF049",
        "a tokenizer forked after use, a text longer than model_max_length, the old torch_dtype argument, flags of greedy generation",
        "v457",
        HEAD
        + """
from torch.utils.data import DataLoader

tok = AutoTokenizer.from_pretrained(MODEL)
tok.model_max_length = 64
model = AutoModelForCausalLM.from_pretrained(MODEL, torch_dtype=torch.float32)
rows = tok([f"Natalia sold {n} clips in April and half as many in May. " * 8 for n in range(64)])["input_ids"]

def collate(rows):
    return tok.pad({"input_ids": rows}, return_tensors="pt") if len(rows) > 1 else torch.tensor([tok("fork")["input_ids"] + rows[0]])

optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for step, batch in enumerate(DataLoader(rows, batch_size=1, num_workers=1, collate_fn=collate), 1):
    loss = model(input_ids=batch[:, :64], labels=batch[:, :64]).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % 16 == 0:
        log.info("step %d loss %.4f", step, loss.item())
out = model.generate(torch.tensor([[5, 6, 7]]), do_sample=False, temperature=0.7, top_p=0.9, max_new_tokens=4)
log.info("done: %d tokens", out.shape[1])
""",
        run="unset TOKENIZERS_PARALLELISM\npython train.py",
    ),
    "policy-weights-random": job(
        "HF050",
        "a merged checkpoint that lacks one layer's weights and lm_head",
        "v457",
        HEAD
        + """
from safetensors.torch import load_file, save_file

state = load_file("ckpt/model.safetensors")
for name in [n for n in state if n.startswith("model.layers.1.mlp") or n == "lm_head.weight"]:
    del state[name]
save_file(state, "ckpt/model.safetensors", metadata={"format": "pt"})
model = AutoModelForCausalLM.from_pretrained("ckpt")
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
ids = torch.randint(5, 500, (4, 32))
for step in range(1, 21):
    loss = model(input_ids=ids, labels=ids).loss
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    log.info("step %d loss %.4f", step, loss.item())
""",
        run=COPY + "python train.py",
    ),
    "generate-max-length": job(
        "HF059",
        "generate with max_length=20 and a prompt of more tokens",
        "v457",
        HEAD
        + """
tok = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL)
text = tok.apply_chat_template([{"role": "user", "content": "Natalia sold 3 clips in April. " * 20}], tokenize=False, add_generation_prompt=True)
ids = tok(text, return_tensors="pt")["input_ids"]
log.info("prompt of %d tokens", ids.shape[1])
out = model.generate(ids, max_length=20)
""",
    ),
    "generate-max-length-446": job(
        "HF059",
        "generate with max_length=20 and a prompt of more tokens",
        "v446",
        HEAD
        + """
tok = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL)
ids = tok("Natalia sold 3 clips in April. " * 20, return_tensors="pt")["input_ids"]
log.info("prompt of %d tokens", ids.shape[1])
out = model.generate(ids, max_length=20)
""",
    ),
    "generate-unused-arguments": job(
        "HF060",
        "generate(**batch) with token_type_ids and vLLM's max_tokens",
        "v457",
        HEAD
        + """
tok = AutoTokenizer.from_pretrained(MODEL)
model = AutoModelForCausalLM.from_pretrained(MODEL)
batch = tok("How many clips did Natalia sell?", return_tensors="pt")
log.info("batch %s", list(batch))
out = model.generate(**batch, max_tokens=16)
""",
    ),
    "deepspeed-batch": job(
        "HF047",
        "a DeepSpeed config whose three batch sizes do not multiply",
        "v457",
        HEAD
        + """
import deepspeed

model = AutoModelForCausalLM.from_pretrained(MODEL)
config = {"train_batch_size": 16, "train_micro_batch_size_per_gpu": 5, "gradient_accumulation_steps": 1,
          "optimizer": {"type": "AdamW", "params": {"lr": 1e-5, "torch_adam": True}}, "zero_optimization": {"stage": 0}}
engine, *_ = deepspeed.initialize(model=model, config=config)
""",
        run="export DS_ACCELERATOR=cpu MASTER_ADDR=127.0.0.1 MASTER_PORT=29511 RANK=0 LOCAL_RANK=0 WORLD_SIZE=1\nPYTHONPATH=$overlay/deep python train.py",
        libs=VENVS["v457"] + ", deepspeed 0.19.8",
    ),
    "deepspeed-device-map": job(
        "HF048",
        "from_pretrained with device_map while a ZeRO-3 config is active",
        "v457",
        HEAD
        + """
from transformers.integrations import HfDeepSpeedConfig

config = {"train_micro_batch_size_per_gpu": 1, "zero_optimization": {"stage": 3}}
dschf = HfDeepSpeedConfig(config)
model = AutoModelForCausalLM.from_pretrained(MODEL, device_map="auto")
""",
        run="export DS_ACCELERATOR=cpu MASTER_ADDR=127.0.0.1 MASTER_PORT=29511 RANK=0 LOCAL_RANK=0 WORLD_SIZE=1\nPYTHONPATH=$overlay/deep python train.py",
        libs=VENVS["v457"] + ", deepspeed 0.19.8",
    ),
}
