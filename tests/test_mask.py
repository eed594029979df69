"""The masker: every shape of secret goes, everything that only looks like one stays."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from verl_doctor.logs.mask import mask

# Put together at run time, so that no scanner takes this file for a leak.
B36 = "Zx81kQwErTyUiOpAsDfGhJkLzXcVbNm42qWe"
HEX32 = "9f86d081884c7d659a2feaa0c55ad015"
HEX40 = "356a192b7913b04c54574d18c28d46e6395428ab"
HF = "hf_" + "QwErTyUiOpAsDfGhJkLzXcVbNmQwErTyUi"
PEM = (
    "-----BEGIN {}PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0B\nAQEFAASC\n-----END {}PRIVATE KEY-----"
)
JWT = "eyJ" + "hbGciOiJIUzI1NiJ9.eyJ" + "zdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P"

# (text, the part that must be gone, a look-alike that must stay as it is)
CORPUS: list[tuple[str, str, str]] = [
    (f"login with {HF} ok", HF[3:], "hf_hub_download_to_cache_dir(repo_id, filename)"),
    (f"HF_TOKEN={HF}", HF[3:], "HF_TOKEN=None"),
    ("api_org_" + B36, B36, "api_org_name=verl-project"),
    ("ghp_" + B36, B36, "ghp_count=3 ghp_ready"),
    ("gho_" + B36, B36, "gho_status"),
    ("github_pat_11ABCDEFG0" + B36 + "_" + B36, B36, "github_pattern_of_the_branch = main"),
    ("glpat-" + B36[:20], B36[:20], "glpat-x"),
    ("key sk-" + B36 + B36[:12], B36, "sk-learn-random-forest-v2 and task-0123456789abcdef0123"),
    ("sk-proj-" + B36 + "-_" + B36, B36, "sk-proj-demo"),
    ("sk-ant-api03-" + B36 + "-AA", B36, "disk-0123456789abcdef01234567"),
    ("sk-" + HEX32, HEX32, f"commit {HEX40}"),
    ("sk_live_" + B36[:24], B36[:24], "sk_live_demo"),
    ("AKIA" + "IOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE", "AKIALONG and AKIA_VERSION=3"),
    ("ASIA" + "IOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE", "timezone ASIA/SHANGHAI"),
    ("LTAI5t" + B36[:18], B36[:18], "LTAIR"),
    ("AIza" + "SyD-1234567890abcdefghijklmnopqrstu", "SyD-123", "AIza"),
    ("xoxb-" + "123456789012-abcdefGHIJ", "abcdefGHIJ", "xoxb-"),
    ("npm_" + B36, B36, "npm_config_cache=/tmp/npm"),
    ("pypi-AgE" + "IcHlwaS5vcmc" + B36, B36, "pypi-mirror.example.org"),
    ("dckr_pat_" + B36[:27], B36[:27], "dckr_pat_"),
    ("nvapi-" + B36 + B36, B36, "nvapi-version"),
    ("gsk_" + B36, B36, "gsk_loss_weight_for_the_critic"),
    ("dapi" + HEX32, HEX32, "dapi" + "server"),
    ("SG." + B36[:22] + "." + B36, B36[:22], "SG.v1.2"),
    ("Authorization: Bearer abc.def-123", "abc.def-123", "Authorization failed for this job"),
    ("'Authorization': 'Basic dXNlcjpwYXNz'", "dXNlcjpwYXNz", "BasicBlock: dXNlcjpwYXNz"),
    ("curl -H 'bearer mF_9.B5f-4.1JqM'", "mF_9.B5f-4.1JqM", "a Bearer authentication failure"),
    (f"jwt {JWT} end", JWT[20:], "eyJust a word.and another.one"),
    ("api_key=abc123", "abc123", "api_key=None"),
    ("api_key='two words'", "two words", 'api_key="EMPTY"'),
    ("{'OPENAI_API_KEY': 'qq-77'}", "qq-77", "os.environ['OPENAI_API_KEY'] = api_key"),
    (
        '{\\"api_key\\": \\"qq-77\\", \\"n\\": 1}',
        "qq-77",
        "def __init__(self, api_key: str = None)",
    ),
    ("X-Api-Key: qq-77", "qq-77", "reward_fn_key=data_source prompt_key=prompt"),
    ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG", "wJalrX", "primary_key=17 sort_key: step"),
    ("Client(password=hunter2)", "hunter2", "Client(password=None)"),
    ("password: 'p@ss w0rd!'", "p@ss", "/etc/passwd: No such file or directory"),
    ("DB_PWD=hunter2;x", "hunter2", "PWD=/workspace/verl OLDPWD=/workspace"),
    ("client_secret=s3cr3t&x=1", "s3cr3t", "secret_name=registry kubernetes.io/secret"),
    ("--api-key s3cr3t --port 80", "s3cr3t", "--api-key-file keys.txt --port 80"),
    ("--hf-token s3cr3t", "s3cr3t", "--max-token 512 --num-tokens 8"),
    ("access_token=abc", "abc", "access_tokens=3"),
    ("MODELSCOPE_TOKEN=0b4c8f32-11aa-4d2e", "0b4c8f32", "token=151643 eos_token='<|im_end|>'"),
    ("DASHSCOPE_KEY=q1w2e3r4t5y6u7i8o9", "q1w2e3", f"cache_key={HEX40}"),
    (f"WANDB_API_KEY={HEX40}", HEX40, f"git checkout {HEX40}"),
    (f"wandb login --relogin {HEX40}", HEX40, "wandb login failed: run offline instead"),
    (f"wandb.login(key='{HEX40}')", HEX40, f"wandb: Run {HEX40[:8]} synced"),
    ("https://bob:pw@host/x", "bob:pw", "https://github.com/verl-project/verl@main"),
    ("redis://:p@ss@10.0.0.2:6379/0", "p@ss", "tcp://10.0.0.2:29500"),
    (f"git+https://{B36}@github.com/a/b", B36, "git+ssh://git@github.com/a/b"),
    ("https://s3/x?X-Amz-Signature=ab12&y=1", "ab12", "https://host/x?step=12&rank=0"),
    ("https://hooks.slack.com/services/T0/B0/xyz", "xyz", "https://slack.com/help"),
    (
        "https://open.feishu.cn/open-apis/bot/v2/hook/0b4c-8f",
        "0b4c",
        "https://open.feishu.cn/document",
    ),
    (PEM.format("", ""), "MIIEvQ", "-----BEGIN CERTIFICATE-----\nMIIEvQ"),
    (PEM.format("RSA ", "RSA ").partition("AQEF")[0], "MIIEvQ", "-----BEGIN PUBLIC KEY-----\nMIIE"),
    ("Cookie: session=abc; id=7", "abc", "Cookie: none sent"),
    ("open /home/alice/verl/x.py", "alice", "https://example.com/home/alice/x"),
    ("PYTHONPATH=/opt/x:/home/alice/verl", "alice", "/workspace/home/page.py"),
    ("/Users/alice", "alice", "/usr/lib/python3 /root/verl"),
    (r"C:\Users\alice\verl", "alice", r"C:\Program Files\Python"),
    ("/mnt/home/alice/run.log", "alice", "/mnt/data/run.log"),
    ("file:///home/alice/x", "alice", "s3://bucket/home/alice"),
]
STAY = [
    "pid=12345 ip=10.0.0.2 (WorkerDict pid=41, ip=10.0.0.2)",
    "torch.Size([4, 2048, 151936]) dtype=torch.bfloat16",
    "token_level_rewards: tensor([0., 0.]) token_level_scores=0",
    "perf/throughput: 1234.5 tokens/s, max_token_len=16384, max_num_batched_tokens=8192",
    "actor_rollout_ref.actor.ppo_max_token_len_per_gpu=24000",
    "pad_token='<pad>' bos_token=<s> unk_token: None decoded_token=' world'",
    "token='<|reserved_special_token_250|>' image_token=<|image_pad|>",
    "token=reserved_special_token_250",
    "loss_agg_mode='token-mean' algorithm.kl_ctrl.type=fixed",
    "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "ActorID 3c2f1e0d9b8a79685746352401000000 NodeID 0b4c8f3211aa4d2e",
    "uuid 123e4567-e89b-12d3-a456-426614174000",
    "if password == expected: raise ValueError",
    "KeyError: 'token' in batch.non_tensor_batch",
    "password=os.environ['DB'] api_key=self.api_key secret=${oc.env:SECRET}",
    "(unexpected keyword argument 'use_auth_token')",
    "0x7f3c2e5b10c0 cudaErrorIllegalAddress",
]


@pytest.mark.parametrize(("text", "secret", "_"), CORPUS, ids=[str(i) for i in range(len(CORPUS))])
def test_a_secret_goes(text: str, secret: str, _: str) -> None:
    assert secret in text
    assert secret not in mask(text)
    assert "***" in mask(text) or "~" in mask(text)


@pytest.mark.parametrize("text", [*(stays for _, _, stays in CORPUS), *STAY])
def test_a_look_alike_stays(text: str) -> None:
    assert mask(text) == text


@pytest.mark.parametrize("text", [row[0] for row in CORPUS])
def test_masking_twice_changes_nothing(text: str) -> None:
    once = mask(text)
    assert mask(once) == once


def test_the_kind_of_secret_and_the_rest_stay() -> None:
    assert mask(f"401 for {HF} at step 3") == "401 for hf_*** at step 3"
    assert (
        mask("Client(host='a', password='x y', port=1)")
        == "Client(host='a', password='***', port=1)"
    )
    assert mask("f(api_key=abc)") == "f(api_key=***)"
    assert mask("{'k': {'password': 'x'}, 'n': 1}") == "{'k': {'password': '***'}, 'n': 1}"
    assert mask("https://bob:pw@host/x?token=1&a=b") == "https://***@host/x?token=***&a=b"
    assert mask("/home/alice: 3 /home/bob/x.py") == "~: 3 ~/x.py"
    assert mask("/mnt/home/alice/x") == "/mnt/home/***/x"
    assert mask(f"{PEM.format('', '')}\nnext line").endswith("-----END PRIVATE KEY-----\nnext line")


def test_text_without_secrets_comes_back_whole() -> None:
    """The genuine logs hold no secret: nothing but home folders may change."""
    folder = Path(__file__).parents[1] / "fixtures_logs" / "genuine"
    for log in sorted(folder.glob("*.log"))[:200]:
        for line in log.read_text(encoding="utf-8", errors="replace").splitlines()[:400]:
            masked = mask(line[:4000])
            assert masked.count("***") == line[:4000].count("***"), f"{log.name}: {masked[:300]}"


@settings(deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_taken_and_masked_once(text: str) -> None:
    once = mask(text)
    assert mask(once) == once


PARTS = st.sampled_from(
    ["password", "=", ": ", "'", '"', "\\", "/home/", "alice", "/", "://", "@", "Bearer ", "eyJ",
     "token", "api_key", "--", " ", "\n", "***", ".", "a1b2c3d4e5f6a7b8c9", ")", "(", "&sig=", HF,
     "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "Cookie: ", "wandb login ", "~"]
)  # fmt: skip


@settings(deadline=None)
@given(st.lists(PARTS, max_size=14).map("".join))
def test_pieces_of_secrets_in_any_order_are_masked_once(text: str) -> None:
    once = mask(text)
    assert HF[3:] not in once
    assert mask(once) == once


@pytest.mark.parametrize(
    "piece",
    ["a", "a-", "eyJ-", "password=", "/home/", "api_key\\", "--a_", "://", "SG.", "'", "sk-"],
)
def test_a_huge_line_takes_linear_time(piece: str) -> None:
    def seconds(size: int) -> float:
        text = (piece * size)[:size]
        start = time.process_time()
        mask(text)
        return time.process_time() - start

    seconds(1000)
    small, large = seconds(25_000), seconds(200_000)
    assert large < 40 * small + 0.2
