"""How the logs about the Hub and of paths in made/hf were made; see hf_programs.py."""

from hf_programs import HEAD, hub, job

PROGRAMS = {
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
}
