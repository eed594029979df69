"""How the logs in made/hf were made: what hf_{load,hub,use,data,config}_programs.py share.

`files` are written into an empty folder, `run` is a shell script that runs in it in network and
mount namespaces of its own (no way out, huggingface.co is the loopback address) with the bin folder
of the venv named by `venv` first in PATH; standard output and standard error together are the log.
`/home/user/models` and `/home/user/data` hold what MODELS writes, `$hub` holds HUB as hub.py and a
certificate for huggingface.co; `$overlay/NAME` is a folder filled by `pip install --no-deps --target`
with the packages that the entry names beside its venv. Nothing here is executed in CI.
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
BREAK_FLASH_ATTN = """cp -r $overlay/fa fa
printf '#include <Python.h>\\nextern "C" void _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(void);\\nextern "C" PyObject *PyInit_flash_attn_2_cuda(void) { _ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(); return 0; }\\n' > fa.cpp
g++ -shared -fPIC -Wl,-z,now $(python3-config --includes) fa.cpp -o fa/flash_attn_2_cuda.cpython-311-x86_64-linux-gnu.so
"""

COPY = "cp -r /home/user/models/Qwen2.5-0.5B-Instruct ckpt\n"
