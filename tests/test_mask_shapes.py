"""Sixty-odd shapes of tokens that people have in the environment of a training run.

The values are made up here, when the test runs: no scanner takes this file for a leak. Each shape
has a look-alike that has to stay, since a masked word can be the very cause that one looks for.
"""

from __future__ import annotations

import random
import string

import pytest

from verl_doctor.logs.mask import mask

ALNUM = string.ascii_letters + string.digits
HEX = "0123456789abcdef"
UPPER = string.ascii_uppercase + string.digits
URL = ALNUM + "-_"


def made(name: str, *parts: str | tuple[str, int]) -> str:
    """A token: texts as they are, and so many characters of an alphabet, with a digit, a lower and
    an upper letter among the first where it has them."""
    dice = random.Random(name)
    token = ""
    for part in parts:
        if isinstance(part, str):
            token += part
            continue
        letters, count = part
        must = [dice.choice([c for c in letters if test(c)] or letters)
                for test in (str.isupper, str.isdigit, str.islower)]  # fmt: skip
        token += "".join(must + [dice.choice(letters) for _ in range(count)])[:count]
    return token


# name: what stays in front, the rest of the token, a look-alike
SHAPES: dict[str, tuple[str, tuple[str | tuple[str, int], ...], str]] = {
    "Hugging Face": ("hf_", ((ALNUM, 34),), "hf_home hf_transfer_enabled=1"),
    "Hugging Face organisation": ("api_org_", ((ALNUM, 34),), "api_org_name"),
    "GitHub personal": ("ghp_", ((ALNUM, 36),), "ghp_"),
    "GitHub OAuth": ("gho_", ((ALNUM, 36),), "gho_status_of_the_run"),
    "GitHub user": ("ghu_", ((ALNUM, 36),), "ghu_x"),
    "GitHub server": ("ghs_", ((ALNUM, 36),), "ghs_ready"),
    "GitHub refresh": ("ghr_", ((ALNUM, 36),), "ghr_1"),
    "GitHub fine-grained": ("github_pat_", ((ALNUM, 22), "_", (ALNUM, 59)), "github_path_of_repo"),
    "GitLab personal": ("glpat-", ((URL, 20),), "glpat-x"),
    "GitLab runner": ("glrt-", ((URL, 20),), "glrt-"),
    "GitLab deploy": ("gldt-", ((URL, 20),), "gldt-y"),
    "GitLab CI build": ("glcbt-", ((URL, 20),), "glcbt-z"),
    "GitLab trigger": ("glptt-", ((HEX, 40),), "glptt-"),
    "GitLab feed": ("glft-", ((URL, 20),), "glft-a"),
    "OpenAI": ("sk-", ((ALNUM, 48),), "sk-learn-gradient-boosting-classifier"),
    "OpenAI project": ("sk-proj-", ((URL, 64),), "sk-proj-a"),
    "OpenAI service": ("sk-svcacct-", ((URL, 64),), "sk-svcacct-"),
    "OpenAI admin": ("sk-admin-", ((URL, 64),), "disk-admin-of-this-machine"),
    "Anthropic": ("sk-ant-", ("api03-", (URL, 80)), "sk-ant-"),
    "OpenRouter": ("sk-or-", ("v1-", (HEX, 64)), "task-or-v1-of-this-run-and-more"),
    "Langfuse": ("sk-lf-", ((HEX, 36),), "sk-lf-x"),
    "DeepSeek, DashScope, Moonshot": ("sk-", ((HEX, 32),), "risk-0123456789abcdef0123456789abcdef"),
    "Stripe": ("sk_live_", ((ALNUM, 24),), "sk_live_"),
    "Stripe restricted": ("rk_live_", ((ALNUM, 24),), "rk_live_x"),
    "AWS": ("AKIA", ((UPPER, 16),), "AKIA_IS_A_NAME"),
    "AWS session": ("ASIA", ((UPPER, 16),), "ASIA_PACIFIC_SOUTHEAST"),
    "Alibaba Cloud": ("LTAI", ("5t", (ALNUM, 18)), "LTAIR"),
    "Tencent Cloud": ("AKID", ((ALNUM, 32),), "AKIDs"),
    "Baidu Cloud": ("bce-v3/ALTAK-", ((ALNUM, 21), "/", (HEX, 40)), "bce-v3/ALTAK-x"),
    "ModelScope": (
        "ms-",
        ((HEX, 8), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 4), "-", (HEX, 12)),
        "ms-swift and 12ms-0b4c8f32",
    ),
    "Google": ("AIza", ((URL, 35),), "AIzabcdef"),
    "Google OAuth": ("ya29.", ((URL, 60),), "ya29.5"),
    "Google client": ("GOCSPX-", ((URL, 28),), "GOCSPX-"),
    "Google refresh": ("1//0", ((URL, 60),), "s3://1//0"),
    "Slack bot": ("xoxb-", ("123456789012-", (ALNUM, 24)), "xoxb-"),
    "Slack user": ("xoxp-", ("123456789012-", (ALNUM, 24)), "xoxp-x"),
    "Slack app": ("xapp-", ("1-A0B1C2-", (ALNUM, 40)), "xapp-1"),
    "Telegram": ("123456789:AA", ((URL, 33),), "123456789:AAA"),
    "npm": ("npm_", ((ALNUM, 36),), "npm_config_registry=https://registry.example"),
    "PyPI": ("pypi-", ("AgEIcHlwaS5vcmc", (URL, 60)), "pypi-server-of-the-cluster"),
    "Docker": ("dckr_pat_", ((URL, 27),), "dckr_pat_"),
    "Docker organisation": ("dckr_oat_", ((URL, 27),), "dckr_oat_x"),
    "W&B": ("wandb_v1_", ((ALNUM, 60),), "wandb_version"),
    "NVIDIA": ("nvapi-", ((URL, 64),), "nvapi-v2"),
    "Groq": ("gsk_", ((ALNUM, 52),), "gsk_loss_coefficient_of_the_critic"),
    "Replicate": ("r8_", ((ALNUM, 37),), "r8_quantised_weights_of_the_actor"),
    "xAI": ("xai-", ((ALNUM, 80),), "xai-explainability-of-this-model"),
    "Tavily": ("tvly-", ((ALNUM, 32),), "tvly-dev"),
    "Fireworks": ("fw_", ((ALNUM, 24),), "fw_forward_microbatches_per_rank"),
    "Together": ("tgp_v1_", ((URL, 43),), "tgp_v1_"),
    "Perplexity": ("pplx-", ((ALNUM, 48),), "pplx-eval-of-the-checkpoint"),
    "Jina": ("jina_", ((ALNUM, 50),), "jina_embeddings_of_the_documents"),
    "E2B": ("e2b_", ((HEX, 40),), "e2b_sandbox_template_for_tools"),
    "RunPod": ("rpa_", ((UPPER, 42),), "rpa_worker_for_the_rollout_step"),
    "Modal": ("ak-", ((ALNUM, 22),), "ak-0123456789abcdef012345 and weak-reference"),
    "Kaggle": ("KGAT_", ((HEX, 32),), "KGAT_"),
    "LangSmith": ("lsv2_pt_", ((HEX, 32), "_", (HEX, 10)), "lsv2_pt_x"),
    "Databricks": ("dapi", ((HEX, 32),), "dapi0123"),
    "SendGrid": ("SG.", ((URL, 22), ".", (URL, 43)), "SG.v1.2"),
    "Vault": ("hvs.", ((URL, 90),), "hvs.init"),
    "DigitalOcean": ("dop_v1_", ((HEX, 64),), "dop_v1_x"),
    "Shopify": ("shpat_", ((HEX, 32),), "shpat_count"),
    "Postman": ("PMAK-", ((HEX, 24), "-", (HEX, 34)), "PMAK-1"),
    "Linear": ("lin_api_", ((ALNUM, 40),), "lin_api_of_the_layer_norm_weights"),
    "Figma": ("figd_", ((URL, 40),), "figd_x"),
    "Grafana": ("glsa_", ((ALNUM, 32), "_", (HEX, 8)), "glsa_"),
    "Pulumi": ("pul-", ((HEX, 40),), "pul-request"),
    "Tailscale": ("tskey-auth-", ((ALNUM, 12), "-", (ALNUM, 32)), "tskey-auth-x"),
    "New Relic": ("NRAK-", ((UPPER, 27),), "NRAK-1"),
    "Atlassian": ("ATATT3", ((URL, 180), "=", (HEX, 8)), "ATATT3x"),
    "age": ("AGE-SECRET-KEY-1", ((UPPER, 58),), "AGE-SECRET-KEY-1"),
    "JWT": ("eyJ", ((URL, 33), ".eyJ", (URL, 60), ".", (URL, 43)), "eyJ.x.y"),
}  # fmt: skip

PLACES = (
    "401 for {} at step 3",
    "'{}'",
    '{{"key": "{}"}}',
    "--set x={}, y=2",
    "({})",
    "\x1b[31m{}\x1b[0m",
    "https://host/x?y={}&z=1",
)


def test_there_are_sixty() -> None:
    assert len(SHAPES) >= 60


@pytest.mark.parametrize("name", SHAPES)
def test_a_token_goes_wherever_it_stands(name: str) -> None:
    start, rest, _ = SHAPES[name]
    token = made(name, start, *rest)
    secret = token.removeprefix(start)
    for place in PLACES:
        text = place.format(token)
        masked = mask(text)
        assert secret[:12] not in masked, masked
        assert secret[-6:] not in masked, masked
        assert mask(masked) == masked
        assert "***" in masked


@pytest.mark.parametrize("name", SHAPES)
def test_its_look_alike_stays(name: str) -> None:
    alike = SHAPES[name][2]
    for place in PLACES[:1] + PLACES[3:6]:
        text = place.format(alike)
        assert mask(text) == text
