"""How the logs of Hugging Face models and tokenizers in made/hf were made: one entry a log.

`files` are written into an empty folder, `run` is a shell script that runs in it in network and
mount namespaces of its own (no way out, huggingface.co is the loopback address) with the bin folder
of the venv named by `venv` first in PATH; standard output and standard error together are the log.
`/home/user/models` and `/home/user/data` hold what MODELS writes, `$hub` holds HUB as hub.py and a
certificate for huggingface.co. Nothing here is executed in CI.
"""

VENVS = {
    "v5": "transformers 5.9.0, datasets 5.2.0, torch 2.13.0+cpu, python 3.11",
    "v457": "transformers 4.57.1, datasets 3.6.0, peft 0.17.1, torch 2.13.0+cpu, python 3.11",
    "v446": "transformers 4.46.3, datasets 2.21.0, torch 2.13.0+cpu, python 3.11",
}


def job(
    rule: str, how: str, venv: str, train: str = "", run: str = "python train.py", libs: str = ""
) -> dict[str, object]:
    """One entry: the rule it shows, one sentence, the program and the shell script."""
    return {
        "rule": rule,
        "how": how,
        "libraries": libs or VENVS[venv],
        "venv": venv,
        "files": {"train.py": train.lstrip()} if train else {},
        "run": run,
    }


# Written once with v457: a model of some thousand parameters, its tokenizer, and data for verl.
MODELS = """
import json, os
import pyarrow as pa, pyarrow.parquet as pq
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import (PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM, Qwen2_5_VLConfig,
    Qwen3Config, Qwen3ForCausalLM)
rows = [f"Natalia sold {n} clips in April and half as many in May. How many in all?" for n in range(200)]
tok = Tokenizer(models.BPE())
tok.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tok.decoder = decoders.ByteLevel()
special = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
tok.train_from_iterator(rows, trainers.BpeTrainer(vocab_size=500, special_tokens=special,
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
fast = PreTrainedTokenizerFast(tokenizer_object=tok, eos_token="<|im_end|>", model_max_length=4096)
fast.chat_template = ("{% for m in messages %}{{ '<|im_start|>' + m.role + '\\n' + m.content + '<|im_end|>\\n' }}"
    "{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\\n{% endif %}")
config = Qwen2Config(vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=4096, eos_token_id=2,
    tie_word_embeddings=False)
d = "/home/user/models/Qwen2.5-0.5B-Instruct"
Qwen2ForCausalLM(config).save_pretrained(d)
fast.save_pretrained(d)
Qwen3ForCausalLM(Qwen3Config(vocab_size=512, hidden_size=64, intermediate_size=128, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, head_dim=16)).save_pretrained("/home/user/models/Qwen3-0.6B")
Qwen2_5_VLConfig().save_pretrained("/home/user/models/Qwen2.5-VL-tiny")
os.makedirs("/home/user/data/gsm8k", exist_ok=True)
for split, n in (("train", 200), ("test", 40)):
    pq.write_table(pa.Table.from_pylist([{
        "data_source": "openai/gsm8k", "prompt": [{"role": "user", "content": r}], "ability": "math",
        "reward_model": {"style": "rule", "ground_truth": str(i)},
        "extra_info": {"split": split, "index": i}} for i, r in enumerate(rows[:n])]),
        f"/home/user/data/gsm8k/{split}.parquet")
"""

# A stand-in for the Hub: python hub.py MODE, answers as the Hub does, on 443 with its certificate.
HUB = """
import http.server, json, ssl, sys
mode = sys.argv[1]
COMMIT = "a8b602d9dafd3a75d382e62757d83d89fca3be54"
class Hub(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def log_message(self, *a): pass
    def answer(self, code, headers, body=b"", length=None):
        self.send_response(code)
        for k, v in headers.items(): self.send_header(k, v)
        self.send_header("Content-Length", str(len(body) if length is None else length))
        self.send_header("x-request-id", "Root=1-692e1c4b-5d1f0b8a6ad3c4b20c7a31d2")
        self.end_headers()
        if self.command != "HEAD": self.wfile.write(body)
    def do_GET(self):
        text = lambda s: (json.dumps({"error": s}).encode())
        repo = "/".join(self.path.replace("/api/models", "").replace("/api/datasets", "").split("/")[1:3])
        if mode == "gated":
            m = (f"Access to model {repo} is restricted. You must have access to it and be authenticated"
                 " to access it. Please log in.")
            self.answer(401, {"X-Error-Code": "GatedRepo", "X-Error-Message": m}, text(m))
        elif mode == "gated403":
            m = (f"Access to model {repo} is restricted and you are not in the authorized list. Visit"
                 f" https://huggingface.co/{repo} to ask for access.")
            self.answer(403, {"X-Error-Code": "GatedRepo", "X-Error-Message": m}, text(m))
        elif mode == "missing":
            self.answer(404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"},
                        text("Repository not found"))
        elif mode == "private":
            m = "Invalid username or password."
            self.answer(401, {"X-Error-Message": m, "www-authenticate": 'Bearer realm="Authentication required", charset="UTF-8"'}, text(m))
        elif mode == "limit":
            m = (b"We had to rate limit your IP (203.0.113.9). To continue using our service, create a HF"
                 b" account or login to your existing account, and make sure you pass a HF_TOKEN if you're using the API.")
            self.answer(429, {"RateLimit": '"api";r=0;t=187', "RateLimit-Policy": '"fixed window";"api";q=500;w=300'}, m)
        elif mode in ("short", "big"):
            size = {"short": 4976698, "big": 48_000_000}[mode]
            if self.path.startswith("/api/"):
                self.answer(200, {"Content-Type": "application/json"}, json.dumps({"id": repo, "sha": COMMIT,
                    "siblings": [{"rfilename": "model.safetensors"}]}).encode())
                return
            self.answer(200, {"ETag": '"5f7c"', "X-Linked-Size": str(size), "X-Linked-ETag": '"5f7c"',
                "X-Repo-Commit": COMMIT}, b"x" * (size if mode == "big" else 1310720), length=size if self.command == "HEAD" else None)
    do_HEAD = do_GET
server = http.server.ThreadingHTTPServer(("127.0.0.2", 443), Hub)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[0].replace("hub.py", "cert.pem"), sys.argv[0].replace("hub.py", "key.pem"))
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
"""


def hub(mode: str, run: str = "python train.py") -> str:
    """A shell script that has the stand-in for the Hub answer in MODE."""
    return (
        f"python $hub/hub.py {mode} > /dev/null 2>&1 &\nsleep 2\n"
        f"export SSL_CERT_FILE=$hub/cert.pem REQUESTS_CA_BUNDLE=$hub/cert.pem\n{run}\nkill %1"
    )


HEAD = """
import logging, sys
import torch, transformers
from transformers import AutoConfig, AutoModelForCausalLM, AutoTokenizer

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
log = logging.getLogger("train")
log.info("python %s, torch %s, transformers %s", sys.version.split()[0], torch.__version__, transformers.__version__)
MODEL = "/home/user/models/Qwen2.5-0.5B-Instruct"
"""

# flash-attn's Python part and a compiled part that asks torch for a symbol which it does not have.
BREAK_FLASH_ATTN = """cp -r /tmp/hff/ovfa fa
printf '#include <Python.h>\\nextern "C" void _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(void);\\nextern "C" PyObject *PyInit_flash_attn_2_cuda(void) { _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(); return 0; }\\n' > fa.cpp
g++ -shared -fPIC -Wl,-z,now -I/root/.pyenv/versions/3.11.7/include/python3.11 fa.cpp -o fa/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so
"""

COPY = "cp -r /home/user/models/Qwen2.5-0.5B-Instruct ckpt\n"

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
    "architecture-too-new": job(
        "HF006",
        "a Qwen3 checkpoint loaded with transformers 4.46",
        "v446",
        HEAD
        + """
path = "/home/user/models/Qwen3-0.6B"
config = AutoConfig.from_pretrained(path)
log.info("layers %d", config.num_hidden_layers)
model = AutoModelForCausalLM.from_pretrained(path, torch_dtype=torch.bfloat16)
""",
    ),
    "wrong-auto-class-vl": job(
        "HF007",
        "a Qwen2.5-VL folder given to AutoModelForCausalLM",
        "v457",
        HEAD
        + """
path = "/home/user/models/Qwen2.5-VL-tiny"
log.info("loading %s", path)
model = AutoModelForCausalLM.from_pretrained(path, torch_dtype=torch.bfloat16)
""",
    ),
    "remote-code-needs-package": job(
        "HF009",
        "remote code that imports a package which is not installed",
        "v457",
        HEAD
        + """
log.info("loading ckpt with its own code")
model = AutoModelForCausalLM.from_pretrained("ckpt", trust_remote_code=True)
""",
        run=COPY
        + """printf 'import torch\\nimport causal_conv1d\\nfrom einops_exts import rearrange_many\\nfrom transformers import Qwen2ForCausalLM\\n\\nclass MyLM(Qwen2ForCausalLM):\\n    pass\\n' > ckpt/modeling_mylm.py
python - <<'E'
import json
c = json.load(open("ckpt/config.json"))
c["auto_map"] = {"AutoModelForCausalLM": "modeling_mylm.MyLM"}
json.dump(c, open("ckpt/config.json", "w"))
E
python train.py""",
    ),
    "shard-missing": job(
        "HF011",
        "a copied checkpoint without its second shard",
        "v457",
        HEAD
        + """
log.info("loading ckpt")
model = AutoModelForCausalLM.from_pretrained("/home/user/drivers/ckpt", torch_dtype=torch.bfloat16)
log.info("parameters %d", sum(p.numel() for p in model.parameters()))
""",
        run="""python -c "
from transformers import AutoModelForCausalLM as M
M.from_pretrained('/home/user/models/Qwen2.5-0.5B-Instruct').save_pretrained('/home/user/drivers/ckpt', max_shard_size='200KB')"
ls /home/user/drivers/ckpt
rm /home/user/drivers/ckpt/model-00002-of-*.safetensors
python train.py""",
    ),
    "safetensors-cut-off": job(
        "HF012",
        "model.safetensors cut off in the middle of the copy",
        "v457",
        HEAD
        + """
log.info("loading ckpt")
model = AutoModelForCausalLM.from_pretrained("ckpt", torch_dtype=torch.bfloat16)
""",
        run=COPY + "truncate -s 200000 ckpt/model.safetensors\nls -l ckpt\npython train.py",
    ),
    "safetensors-lfs-pointer": job(
        "HF012",
        "model.safetensors is a Git LFS pointer",
        "v5",
        HEAD
        + """
log.info("loading ckpt")
model = AutoModelForCausalLM.from_pretrained("ckpt", dtype=torch.bfloat16)
""",
        run=COPY
        + """printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:8e9f1c0e0a8b8ff3c2b4b6a1b7f8e2ad9d33e1\\nsize 988097824\\n' > ckpt/model.safetensors
ls -l ckpt
python train.py""",
    ),
    "safetensors-no-metadata": job(
        "HF013",
        "weights written with safetensors.torch.save_file without metadata",
        "v446",
        HEAD
        + """
from safetensors.torch import load_file, save_file

state = load_file("ckpt/model.safetensors")
save_file({k: v.to(torch.bfloat16) for k, v in state.items()}, "ckpt/model.safetensors")
log.info("converted %d tensors to bf16", len(state))
model = AutoModelForCausalLM.from_pretrained("ckpt", torch_dtype=torch.bfloat16)
""",
        run=COPY + "python train.py",
    ),
    "safetensors-foreign-format": job(
        "HF013",
        "weights whose metadata name another tool and no format",
        "v457",
        HEAD
        + """
from safetensors.torch import load_file, save_file

state = load_file("ckpt/model.safetensors")
save_file({k: v.to(torch.bfloat16) for k, v in state.items()}, "ckpt/model.safetensors", metadata={"made_by": "merge.py"})
log.info("converted %d tensors to bf16", len(state))
model = AutoModelForCausalLM.from_pretrained("ckpt", torch_dtype=torch.bfloat16)
""",
        run=COPY + "python train.py",
    ),
    "bin-lfs-pointer": job(
        "HF014",
        "pytorch_model.bin is a Git LFS pointer",
        "v446",
        HEAD
        + """
log.info("loading ckpt")
model = AutoModelForCausalLM.from_pretrained("ckpt", torch_dtype=torch.bfloat16)
""",
        run=COPY
        + """rm ckpt/model.safetensors
printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:8e9f1c0e0a8b8ff3c2b4b6a1b7f8e2ad9d33e1\\nsize 988097824\\n' > ckpt/pytorch_model.bin
ls -l ckpt
python train.py""",
    ),
    "bin-lfs-pointer-457": job(
        "HF014",
        "pytorch_model.bin is a Git LFS pointer",
        "v457",
        HEAD
        + """
log.info("loading ckpt")
model = AutoModelForCausalLM.from_pretrained("ckpt", torch_dtype=torch.bfloat16)
""",
        run=COPY
        + """rm ckpt/model.safetensors
printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:8e9f1c0e0a8b8ff3c2b4b6a1b7f8e2ad9d33e1\\nsize 988097824\\n' > ckpt/pytorch_model.bin
ls -l ckpt
python train.py""",
    ),
    "config-json-cut-off": job(
        "HF015",
        "config.json cut off after 200 bytes",
        "v457",
        HEAD
        + """
log.info("loading ckpt")
tok = AutoTokenizer.from_pretrained("ckpt")
model = AutoModelForCausalLM.from_pretrained("ckpt", torch_dtype=torch.bfloat16)
""",
        run=COPY + "truncate -s 200 ckpt/config.json\npython train.py",
    ),
    "tokenizer-files-missing": job(
        "HF020",
        "a checkpoint folder with config.json and weights but no tokenizer files",
        "v457",
        HEAD
        + """
log.info("loading ckpt")
model = AutoModelForCausalLM.from_pretrained("ckpt", torch_dtype=torch.bfloat16)
log.info("parameters %d", sum(p.numel() for p in model.parameters()))
tok = AutoTokenizer.from_pretrained("ckpt")
""",
        run=COPY + "rm ckpt/*token* ckpt/chat_template*\nls ckpt\npython train.py",
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
    "model-path-missing": job(
        "HF023",
        "a model folder that does not exist on this machine",
        "v457",
        HEAD
        + """
path = "/mnt/shared/models/Qwen2.5-7B-Instruct"
log.info("loading %s", path)
tok = AutoTokenizer.from_pretrained(path)
model = AutoModelForCausalLM.from_pretrained(path, torch_dtype=torch.bfloat16)
""",
    ),
    "model-path-missing-v5": job(
        "HF023",
        "a model folder that does not exist on this machine",
        "v5",
        HEAD
        + """
path = "/mnt/shared/models/Qwen2.5-7B-Instruct"
log.info("loading %s", path)
model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.bfloat16)
""",
    ),
    "hub-gated-401": job(
        "HF024",
        "a gated model without a token (the Hub's 401 with X-Error-Code: GatedRepo)",
        "v457",
        HEAD
        + """
name = "meta-llama/Llama-3.1-8B-Instruct"
log.info("loading %s", name)
tok = AutoTokenizer.from_pretrained(name)
""",
        run=hub("gated"),
    ),
    "hub-gated-403-v5": job(
        "HF024",
        "a gated model with a token that was not granted access (403)",
        "v5",
        HEAD
        + """
name = "meta-llama/Llama-3.1-8B-Instruct"
log.info("loading %s", name)
tok = AutoTokenizer.from_pretrained(name)
""",
        run=hub("gated403", "HF_TOKEN=hf_xxx python train.py"),
    ),
    "hub-repository-missing": job(
        "HF025",
        "a misspelled model name (the Hub's 404 with X-Error-Code: RepoNotFound)",
        "v457",
        HEAD
        + """
name = "Qwen/Qwen2.5-7B-Instuct"
log.info("loading %s", name)
model = AutoModelForCausalLM.from_pretrained(name, torch_dtype=torch.bfloat16)
""",
        run=hub("missing"),
    ),
    "hub-repository-private-v5": job(
        "HF025",
        "snapshot_download of a private model without a token (401, no error code)",
        "v5",
        HEAD
        + """
from huggingface_hub import snapshot_download

path = snapshot_download("myorg/qwen-math-private", allow_patterns=["*.json", "*.safetensors"])
model = AutoModelForCausalLM.from_pretrained(path)
""",
        run=hub("private"),
    ),
    "hub-rate-limit": job(
        "HF027",
        "the Hub answers 429 to every request of a job that lists a repository",
        "v457",
        HEAD
        + """
from huggingface_hub import HfApi

info = HfApi().model_info("Qwen/Qwen2.5-7B-Instruct")
log.info("files %d", len(info.siblings))
""",
        run=hub("limit"),
    ),
    "hub-rate-limit-load": job(
        "HF027",
        "from_pretrained while the Hub answers 429",
        "v457",
        HEAD
        + """
tok = AutoTokenizer.from_pretrained("Qwen/Qwen2.5-7B-Instruct")
model = AutoModelForCausalLM.from_pretrained("Qwen/Qwen2.5-7B-Instruct")
""",
        run=hub("limit"),
    ),
    "hub-rate-limit-v5": job(
        "HF027",
        "snapshot_download while the Hub answers 429",
        "v5",
        HEAD
        + """
from huggingface_hub import snapshot_download

path = snapshot_download("Qwen/Qwen2.5-7B-Instruct")
""",
        run=hub("limit", "timeout 100 python train.py"),
    ),
    "hub-network-refused": job(
        "HF028",
        "model_info while nothing listens at the Hub's address",
        "v457",
        HEAD
        + """
from huggingface_hub import HfApi

info = HfApi().model_info("Qwen/Qwen2.5-7B-Instruct")
log.info("files %d", len(info.siblings))
""",
    ),
    "hub-proxy-refused": job(
        "HF028",
        "model_info behind a proxy that is down",
        "v457",
        HEAD
        + """
from huggingface_hub import HfApi

info = HfApi().model_info("Qwen/Qwen2.5-7B-Instruct")
log.info("files %d", len(info.siblings))
""",
        run="export https_proxy=http://127.0.0.1:7890\npython train.py",
    ),
    "hub-network-refused-v5": job(
        "HF028",
        "model_info while nothing listens at the Hub's address (httpx)",
        "v5",
        HEAD
        + """
from huggingface_hub import HfApi

info = HfApi().model_info("Qwen/Qwen2.5-7B-Instruct")
log.info("files %d", len(info.siblings))
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
        run="PYTHONPATH=/tmp/hff/ovfa python train.py",
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
        run="PYTHONPATH=/tmp/hff/ovfa python train.py",
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
        run="PYTHONPATH=/tmp/hff/ovfa python train.py",
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
        run="PYTHONPATH=/tmp/hff/ovtv python train.py",
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
        run="PYTHONPATH=/tmp/hff/ovtv python train.py",
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
    "download-inconsistent": job(
        "HF051",
        "the Hub (or a proxy) sends 1310720 bytes of a file of 4976698",
        "v457",
        HEAD
        + """
from huggingface_hub import snapshot_download

path = snapshot_download("myorg/qwen-math")
model = AutoModelForCausalLM.from_pretrained(path)
""",
        run=hub("short"),
    ),
    "download-disk-space": job(
        "HF052",
        "a file of 48 MB onto a file system of 16 MB",
        "v457",
        HEAD
        + """
from huggingface_hub import snapshot_download

path = snapshot_download("myorg/qwen-math")
model = AutoModelForCausalLM.from_pretrained(path)
""",
        run="mkdir hf && mount -t tmpfs -o size=16m tmpfs hf\n" + hub("big") + "\numount hf",
    ),
    "tokenizers-version": job(
        "HF054",
        "a tokenizers that transformers 4.57 does not accept",
        "v457",
        HEAD,
        run="PYTHONPATH=/tmp/hff/ovtok python train.py",
        libs="transformers 4.57.1, tokenizers 0.23.1, python 3.11",
    ),
    "tokenizer-json-too-new": job(
        "HF056",
        "a tokenizer.json written by tokenizers 0.22 read with 0.19",
        "v446",
        HEAD
        + """
log.info("loading %s", MODEL)
tok = AutoTokenizer.from_pretrained(MODEL)
""",
        run="PYTHONPATH=/tmp/hff/ov442 python train.py",
        libs="transformers 4.42.4, tokenizers 0.19.1, python 3.11",
    ),
    "rope-scaling-llama3": job(
        "HF057",
        "a config of Llama 3.1 read with transformers 4.42",
        "v446",
        HEAD
        + """
config = AutoConfig.from_pretrained("llama31")
model = AutoModelForCausalLM.from_config(config)
""",
        run="""mkdir llama31
cat > llama31/config.json <<'E'
{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 64, "intermediate_size": 128,
 "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 512,
 "max_position_embeddings": 131072, "rope_theta": 500000.0,
 "rope_scaling": {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                  "original_max_position_embeddings": 8192, "rope_type": "llama3"}}
E
PYTHONPATH=/tmp/hff/ov442 python train.py""",
        libs="transformers 4.42.4, torch 2.13.0+cpu, python 3.11",
    ),
    "rope-scaling-key-missing": job(
        "HF057",
        "rope_scaling of type yarn without its factor",
        "v457",
        HEAD
        + """
log.info("loading ckpt")
model = AutoModelForCausalLM.from_pretrained("ckpt")
""",
        run=COPY
        + """sed -i 's/"rope_scaling": null/"rope_scaling": {"rope_type": "yarn", "original_max_position_embeddings": 4096}/' ckpt/config.json
grep -A3 rope_scaling ckpt/config.json
python train.py""",
    ),
    "tokenizer-config-lfs": job(
        "HF058",
        "tokenizer_config.json is a Git LFS pointer",
        "v457",
        HEAD
        + """
log.info("loading ckpt")
tok = AutoTokenizer.from_pretrained("ckpt")
""",
        run=COPY
        + """printf 'version https://git-lfs.github.com/spec/v1\\noid sha256:8e9f1c0e0a8b8ff3c2b4b6a1b7f8e2ad9d33e1\\nsize 7305\\n' > ckpt/tokenizer_config.json
python train.py""",
    ),
    "tokenizer-json-cut-off": job(
        "HF058",
        "tokenizer.json cut off after 3000 bytes",
        "v457",
        HEAD
        + """
log.info("loading ckpt")
tok = AutoTokenizer.from_pretrained("ckpt")
""",
        run=COPY + "truncate -s 3000 ckpt/tokenizer.json\npython train.py",
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
    "model-code-missing": job(
        "HF061",
        "a checkpoint whose config names its own code, which was not copied",
        "v457",
        HEAD
        + """
log.info("loading ckpt")
model = AutoModelForCausalLM.from_pretrained("/home/user/drivers/ckpt", trust_remote_code=True)
""",
        run="""cp -r /home/user/models/Qwen2.5-0.5B-Instruct ../ckpt
python - <<'E'
import json
c = json.load(open("../ckpt/config.json"))
c["auto_map"] = {"AutoModelForCausalLM": "modeling_mylm.MyLM"}
json.dump(c, open("../ckpt/config.json", "w"))
E
python train.py""",
    ),
    "preprocessor-config-missing": job(
        "HF061",
        "a Qwen2.5-VL checkpoint without preprocessor_config.json",
        "v457",
        HEAD
        + """
from transformers import AutoImageProcessor

path = "/home/user/models/Qwen2.5-VL-tiny"
log.info("loading %s", path)
processor = AutoImageProcessor.from_pretrained(path)
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
        run="export DS_ACCELERATOR=cpu MASTER_ADDR=127.0.0.1 MASTER_PORT=29511 RANK=0 LOCAL_RANK=0 WORLD_SIZE=1\nPYTHONPATH=/tmp/hff/ovdeep python train.py",
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
        run="export DS_ACCELERATOR=cpu MASTER_ADDR=127.0.0.1 MASTER_PORT=29511 RANK=0 LOCAL_RANK=0 WORLD_SIZE=1\nPYTHONPATH=/tmp/hff/ovdeep python train.py",
        libs=VENVS["v457"] + ", deepspeed 0.19.8",
    ),
}
