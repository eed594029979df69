"""How the logs about loading models and tokenizers in made/hf were made; see hf_programs.py."""

from hf_programs import COPY, HEAD, job

PROGRAMS = {
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
    "tokenizers-version": job(
        "HF054",
        "a tokenizers that transformers 4.57 does not accept",
        "v457",
        HEAD,
        run="PYTHONPATH=$overlay/tok python train.py",
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
        run="PYTHONPATH=$overlay/442 python train.py",
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
PYTHONPATH=$overlay/442 python train.py""",
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
}
