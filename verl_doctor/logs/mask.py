"""Secrets and home folders taken out of text before it is kept or shown to others.

A secret is known by its own shape (`hf_…`, a JWT), by the name in front of it (`api_key=…`) or by
its place (a URL's credentials). What identifies the kind of secret stays, so that a person can
still tell which key was in use. Words that only look alike have to stay as they are: git hashes,
`token_level_rewards`, `pad_token='<pad>'`, `reward_fn_key=data_source`. Every pattern runs in time
linear in the text; a log line can be megabytes long.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from .. import lazy

MARK = "***"
"""What stands in place of a secret. No pattern matches it: masking twice changes nothing."""

_Replace = str | Callable[[re.Match[str]], str]

# --- by shape: group 1 stays, the rest is the secret ----------------------------------------

_ANYWHERE = (
    r"(hf_|api_org_)(?:[A-Za-z0-9]{30,}|(?=[a-z0-9]{0,15}[A-Z])[A-Za-z0-9]{16,})"
    r"(?:_[A-Za-z0-9]{30,})*",  # a second token, glued to the first
    r"(gh[pousr]_)[A-Za-z0-9]{20,}(?:_[A-Za-z0-9]{30,})*",
    r"(github_pat_)\w{20,}",
    r"(gl(?:pat|rt|dt|cbt|ptt|ft|soat|agent)-)[\w-]{16,}",
)
"""Plain enough to be found glued to the text that another rank wrote into the same line."""
_SHAPES = (
    r"(sk-(?:proj|svcacct|admin|ant|or|lf)-)[\w-]{16,}",
    r"(sk-)[A-Za-z0-9]{16,}[\w-]*",
    r"([sr]k_(?:live|test)_)[A-Za-z0-9]{10,}",
    r"(AKIA|ASIA|AIDA|AROA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    r"(LTAI)(?=[A-Za-z]{0,20}\d)[A-Za-z0-9]{12,26}(?![A-Za-z0-9])",  # Alibaba Cloud
    r"(AKID)(?=[A-Za-z]{0,32}\d)[A-Za-z0-9]{32}(?![A-Za-z0-9])",  # Tencent Cloud
    r"(AIza)[\w-]{30,}",
    r"(ya29\.)[\w-]{20,}",
    r"(GOCSPX-)[\w-]{20,}",
    r"(xox[abeoprs]-|xapp-)[A-Za-z0-9-]{10,}",
    r"(npm_)[A-Za-z0-9]{30,}",
    r"(pypi-)AgE[\w-]{20,}",
    r"(dckr_(?:pat|oat)_)[\w-]{20,}",
    r"(wandb_v\d_)\w{20,}",
    r"(nvapi-)[\w-]{20,}",
    r"(gsk_|r8_|xai-|tvly-|fw_)(?=[A-Za-z]{0,60}\d)[A-Za-z0-9]{20,}",
    r"(lsv2_(?:pt|sk)_)[0-9a-f]{16,}\w*",
    r"(dapi)[0-9a-f]{32}(?:-\d+)?(?![A-Za-z0-9])",
    r"(SG\.)[\w-]{16,}\.[\w-]{16,}",
    r"(AGE-SECRET-KEY-1)[A-Z0-9]{20,}",
    r"(hv[sbr]\.)[\w-]{20,}",  # HashiCorp Vault
    r"(do[oprt]_v1_)[0-9a-f]{40,}",  # DigitalOcean
    r"(shp(?:at|ca|pa|ss)_)[0-9a-fA-F]{32}",  # Shopify
    r"(sq0(?:atp|csp)-)[\w-]{22,}",  # Square
    r"(PMAK-)[0-9a-f]{24}-[0-9a-f]{34}",  # Postman
    r"(lin_api_|figd_|ntn_|rpa_|e2b_|tgp_v\d_|jina_|KGAT_|rnd_)(?=[A-Za-z_-]{0,60}\d)[\w-]{20,}",
    r"(pplx-)[A-Za-z0-9]{32,}",
    r"(glsa_)[A-Za-z0-9]{32}_[0-9a-fA-F]{8}",  # Grafana
    r"(pul-)[0-9a-f]{40}(?![0-9A-Za-z])",  # Pulumi
    r"(tskey-(?:auth|api|client)-)[\w-]{16,}",  # Tailscale
    r"(NRAK-)[A-Z0-9]{27}",  # New Relic
    r"(ATATT3)[\w=-]{40,}",  # Atlassian
    r"(bce-v3/ALTAK-)[\w/-]{20,}",  # Baidu Cloud
    r"(ms-)[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",  # ModelScope
    r"((?:bot)?\d{8,10}:AA)[\w-]{32,}",  # Telegram
    r"(a[ks]-)(?=[A-Za-z]{0,22}\d)(?=[a-z0-9]{0,22}[A-Z])[A-Za-z0-9]{22}(?![\w-])",  # Modal
    r"(1//0)[\w-]{35,}",  # a refresh token of Google
    r"(?<![_-])(eyJ)[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?",  # a JWT
)
_BEFORE = r"(?:(?<![A-Za-z0-9])|(?<=[\d\[;]m))"
"""What stands in front of a token: no letter or digit, or the end of a colour code."""
_PRIVATE_KEY = (
    r"(-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----).*?"
    r"(-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|\Z)"
)

# --- by name --------------------------------------------------------------------------------

_NAMES = (
    r"api[_-]?(?:key|token|secret)|(?:access|private|encryption|signing|account|auth)[_-]?key"
    r"|secret(?:[_-]?access)?(?:[_-]?key)?|(?<!/)passw(?:or)?d|passphrase|(?<![a-z])pwd"
    r"|(?:auth|access|refresh|bearer|hf|hub|hugging_?face(?:_hub)?|wandb|github|gh|gitlab|slack"
    r"|secret|security|aws_session|jwt|login|csrf|personal_access|deploy|registry)[_-]?token"
)
_LOOSE_NAMES = r"(?<![a-z])token|(?-i:(?<=[A-Z0-9]_)KEY)"
"""Names that mostly carry no secret: only a value that looks random is taken for one."""
_SEPARATOR = r"(?:\\*[\"'])?\]?\s{0,3}(?::=|=>|[:=](?!=))\s{0,3}"
_VALUE = (
    r"(?:[bruf]?(?P<quote>\\*[\"'])(?P<quoted>(?:(?!(?P=quote))[^\n])+)"
    r"|(?P<bare>[^\s,;&\"'\[{(][^\s,;&\"']*))"
)
_ASSIGNED = rf"(?P<name>{_NAMES}|(?P<loose>{_LOOSE_NAMES}))(?P<separator>{_SEPARATOR}){_VALUE}"
_OPTION = (
    rf"(?<![\w-])(?P<name>--?(?:[a-z0-9]+[_-])*?(?:{_NAMES}|(?P<loose>token)))"
    rf"(?P<separator>\s{{1,3}}){_VALUE}"
)

_HEX_KEY = (
    r"((?<![A-Za-z0-9])(?:wandb|wb|w)[\w.]{0,20}key[\"']?\s?[=:]\s?[\"']?)"
    r"[0-9a-f]{32,64}(?![0-9A-Za-z])"
)
"""W&B's keys are plain hex: only their name tells them from a hash."""

_NO_SECRET = lazy.compile(
    r"(?i)(?:none|null|nil|true|false|str|string|int|bool|bytes|empty|required|missing|unset|yes|no"
    r"|optional\b.*|union\[.*|secretstr\b.*|field\(.*|-.*"
    r"|<[^<>]*>|\$\{?\w.*|\{\w*\}|\*{3,}.*|x{3,}|\.{3}|…"
    r"|(?:os|self|args|cfg|config|settings|kwargs|env)\b[.\[].*|getpass\b.*|\w+\(.*"
    rf"|(?:{_NAMES}|token|key))"
)
_RANDOM = lazy.compile(r"(?=[^\d]*\d)(?=[^A-Za-z]*[A-Za-z])[\w.+/=:~-]{16,}")
_IDENTIFIER = lazy.compile(r"[a-z]+(?:[_./-][a-z]+)*[_-]?\d{0,6}")


def _assigned(match: re.Match[str]) -> str:
    value = match["quoted"] or match["bare"]
    ending = ""
    if match["bare"]:
        # the bracket that closes a call or a dictionary is no part of the value
        core = value.rstrip(")]}>")
        if value[:1] != "<" and not re.search(r"[(\[{]", core):
            value, ending = core, value[len(core) :]
    name, spaced = match["name"], match["separator"]
    path = name.lower().endswith("pwd") and value[:1] in "/~"
    if not value or path or _NO_SECRET.fullmatch(value):
        return match[0]
    if match["loose"] and (not _RANDOM.fullmatch(value) or _IDENTIFIER.fullmatch(value)):
        return match[0]
    start = match.start("quoted") if match["quoted"] else match.start("bare")
    opening = match.string[match.end("separator") : start]
    return f"{name}{spaced}{opening}{MARK}{ending}"


# --- by place -------------------------------------------------------------------------------

_AUTHORIZATION = (
    r"\b((?:proxy-)?authorization(?:\\*[\"'])?\s{0,3}[:=]\s{0,3}(?:\\*[\"'])?"
    r"(?:(?:bearer|basic|token|digest|apikey)\s+)?(?!\*|[a-z]+\s+\*))[^\s\"',\\]+"
)
_COOKIE = r"\b((?:set-)?cookie(?:\\*[\"'])?\s{0,3}:\s{0,3}(?:\\*[\"'])?)(?=[\w.-]+=)[^\n\"']+"
_BEARER = r"\b(bearer\s+)(?:(?=[^\s\d]{0,200}\d)[\w.~+/=-]{12,}|[\w.~+/=-]{24,})"
_URL_LOGIN = r"(://)(?!git@|\*\*\*@)[^\s/?#\"'<>]+@(?=[\w\[])"
_URL_QUERY = (
    r"([?&](?:sig|signature|policy|key-pair-id|key|token|access_token|auth"
    r"|x-(?:amz|goog)-(?:signature|credential|security-token)|awsaccesskeyid|googleaccessid"
    r"|ossaccesskeyid)=)(?!\*)[^&\s\"'<>#]+"
)
_HOOK = (
    r"((?:hooks\.slack\.com/(?:services|workflows)|discord(?:app)?\.com/api/webhooks"
    r"|(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook)/)[\w/-]+"
)
_WANDB_LOGIN = (
    r"((?:wandb|swanlab)(?:\.|\s+)login\b[^\n*]{0,60}?[\s\"'=])(?=[a-z]{0,80}\d)[a-z0-9_]{20,}"
)

# --- home folders ---------------------------------------------------------------------------

_PERSON = r"(?!Shared\b)\w[\w.-]*(?=[/\s\"'`:;,)\]}>|]|$)"
_HOME = rf"(?:(?<=file://)|(?<![\w./~-]))/(?:home|Users)/{_PERSON}"
_HOME_WINDOWS = r"\b[A-Z]:(?P<bar>\\{1,2}|/)Users(?P=bar)(?!Public\b)[^\\/\s\"':;]+"
_HOME_MOUNTED = (
    r"(?<![\w./~-])(/(?:mnt|nfs|gpfs|lustre|data|fs|fsx|efs|cephfs|beegfs|shared|storage|scratch"
    r"|work|export|vol)\d{0,4}(?:/[\w-]+)?/home/)\w[\w.-]*(?=/)"
)

_RULES: tuple[tuple[re.Pattern[str], _Replace], ...] = (
    (lazy.compile(_PRIVATE_KEY, re.S), rf"\1{MARK}\2"),
    (lazy.compile(_AUTHORIZATION, re.I), rf"\1{MARK}"),
    (lazy.compile(_COOKIE, re.I), rf"\1{MARK}"),
    (lazy.compile(_BEARER, re.I), rf"\1{MARK}"),
    (lazy.compile(_URL_LOGIN), rf"\1{MARK}@"),
    (lazy.compile(_HOOK), rf"\1{MARK}"),
    (lazy.compile(_URL_QUERY, re.I), rf"\1{MARK}"),
    (lazy.compile(_WANDB_LOGIN, re.I), rf"\1{MARK}"),
    *((lazy.compile(shape), rf"\1{MARK}") for shape in _ANYWHERE),
    *((lazy.compile(_BEFORE + shape), rf"\1{MARK}") for shape in _SHAPES),
    (lazy.compile(_HEX_KEY, re.I), rf"\1{MARK}"),
    (lazy.compile(_ASSIGNED, re.I), _assigned),
    (lazy.compile(_OPTION, re.I), _assigned),
    (lazy.compile(_HOME_WINDOWS), "~"),
    (lazy.compile(_HOME), "~"),
    (lazy.compile(_HOME_MOUNTED), rf"\1{MARK}"),
)


def mask(text: str) -> str:
    """Text without its secrets: tokens, keys, passwords and credentials become `***`, and
    `/home/alice/x` becomes `~/x`.

    Takes any text, one line or many (a private key is masked across lines), and returns it with
    all else unchanged; `mask(mask(text)) == mask(text)`. Raises nothing. It knows shapes and names:
    a secret without either, such as a bare password in prose, stays.
    """
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text
